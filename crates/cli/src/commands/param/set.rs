//! `feros param set`: sets parameters.

use std::process::ExitCode;

use feros::{ParameterType, ParameterValue};

use super::remote::{NodeArgs, Remote};
use crate::error::CliError;
use crate::output;

/// Set parameters
#[derive(clap::Args)]
#[command(
    after_help = "Values are YAML, as in parameter files: 5 is an integer, 1.0 a double, [1, 2] a list, \"'5'\" a text.\n\n\
                  Examples:\n  feros param set /camera rate 15.0\n  feros param set /camera width 640 height 480 --atomic"
)]
pub(crate) struct Args {
    #[command(flatten)]
    node: NodeArgs,
    /// Names and values in turn
    #[arg(required = true, num_args = 2.., value_names = ["NAME", "VALUE"], allow_negative_numbers = true)]
    parameters: Vec<String>,
    /// All of them or, if one cannot be set, none
    #[arg(long)]
    atomic: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let (pairs, rest) = args.parameters.as_chunks::<2>();
    if let [name] = rest {
        return Err(CliError::usage(format!(
            "parameter {name} has no value: give names and values in turn"
        )));
    }
    let remote = Remote::open(&args.node)?;
    let parameters: Vec<(String, ParameterValue)> = pairs
        .iter()
        .map(|[name, text]| Ok((name.clone(), value(&remote, name, text)?)))
        .collect::<Result<_, CliError>>()?;
    if args.atomic {
        let outcome = remote.ask(|client, left| client.set_atomically(parameters, left))?;
        outcome.map_err(|reason| {
            CliError::failed(with_reason("Setting parameters atomically failed", &reason))
        })?;
        output::print_lines(["Set parameters atomically successful"])?;
        return Ok(ExitCode::SUCCESS);
    }
    let several = pairs.len() > 1;
    let outcomes = remote.ask(|client, left| client.set(parameters, left))?;
    if outcomes.len() != pairs.len() {
        return Err(CliError::failed(format!(
            "node {} gave {} answers for {} parameters",
            remote.name(),
            outcomes.len(),
            pairs.len()
        )));
    }
    let mut failures = Vec::new();
    for ([name, _], outcome) in pairs.iter().zip(outcomes) {
        let named = |text: &str| if several { format!("{name}: {text}") } else { text.to_owned() };
        match outcome {
            Ok(()) => output::print_lines([named("Set parameter successful")])?,
            Err(reason) => failures.push(named(&with_reason("Setting parameter failed", &reason))),
        }
    }
    if failures.is_empty() {
        Ok(ExitCode::SUCCESS)
    } else {
        Err(CliError::failed(failures.join("\n")))
    }
}

pub(super) fn with_reason(text: &str, reason: &str) -> String {
    if reason.is_empty() { text.to_owned() } else { format!("{text}: {reason}") }
}

/// What a text on the command line means; as with `ros2`, what is not a value of another type is a
/// text.
fn value(remote: &Remote, name: &str, text: &str) -> Result<ParameterValue, CliError> {
    let read = ParameterValue::from_yaml(text).unwrap_or_else(|_| text.into());
    let is_empty_list = text.trim() == "[]";
    match declared_type(remote, name, &read)? {
        None if is_empty_list => Err(remote.not_declared(&[name.to_owned()])),
        None => Ok(read),
        Some(declared) => {
            let value = read.as_declared(declared);
            if is_empty_list && value.parameter_type() != declared {
                return Err(CliError::failed(format!(
                    "parameter {name} is not a list, but of type {declared}"
                )));
            }
            Ok(value)
        }
    }
}

/// The type that a parameter is declared with, for values that may mean another one: the notation
/// does not say of which type an empty list is, and writes bytes as integers.
pub(super) fn declared_type(
    remote: &Remote,
    name: &str,
    value: &ParameterValue,
) -> Result<Option<ParameterType>, CliError> {
    let is_unclear =
        matches!(value.parameter_type(), ParameterType::StringArray | ParameterType::IntegerArray);
    if !is_unclear {
        return Ok(None);
    }
    Ok(remote.ask(|client, left| client.types([name], left))?.first().copied())
}

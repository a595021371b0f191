//! `feros param set`: sets parameters.

use std::process::ExitCode;

use feros::{ParameterType, ParameterValue};

use super::python::type_name;
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
        let set = parameters.clone();
        let outcome = remote.ask(|client, left| client.set_atomically(set, left))?;
        outcome.map_err(|reason| {
            let pairs = pairs.iter().zip(&parameters);
            let hints = pairs.map(|([name, text], (_, value))| hint(&remote, name, text, value));
            let hints: String = hints.collect();
            let text = with_reason("Setting parameters atomically failed", &reason);
            CliError::failed(text + &hints)
        })?;
        output::print_lines(["Set parameters atomically successful"])?;
        return Ok(ExitCode::SUCCESS);
    }
    let several = pairs.len() > 1;
    let set = parameters.clone();
    let outcomes = remote.ask(|client, left| client.set(set, left))?;
    if outcomes.len() != pairs.len() {
        return Err(CliError::failed(format!(
            "node {} gave {} answers for {} parameters",
            remote.name(),
            outcomes.len(),
            pairs.len()
        )));
    }
    let mut failures = Vec::new();
    for (([name, text], (_, value)), outcome) in pairs.iter().zip(&parameters).zip(outcomes) {
        let named = |text: &str| if several { format!("{name}: {text}") } else { text.to_owned() };
        match outcome {
            Ok(()) => output::print_lines([named("Set parameter successful")])?,
            Err(reason) => {
                let failed = with_reason("Setting parameter failed", &reason);
                failures.push(named(&failed) + &hint(&remote, name, text, value));
            }
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

/// How a value has to be written that the node refused, where it is of another type than the
/// parameter; empty where that is not it.
fn hint(remote: &Remote, name: &str, text: &str, value: &ParameterValue) -> String {
    let declared = remote.ask(|client, left| client.types([name], left));
    let Some(declared) = declared.ok().and_then(|types| types.first().copied()) else {
        return String::new();
    };
    let given = value.parameter_type();
    if declared == given || declared == ParameterType::NotSet {
        return String::new();
    }
    let written = match declared {
        ParameterType::String => format!("\"'{text}'\" is the text"),
        ParameterType::Bool => "true and false are booleans".to_owned(),
        ParameterType::Integer => "a number without a point is an integer".to_owned(),
        ParameterType::Double => "a number with a point, such as 1.0, is a double".to_owned(),
        _ => "a list is written as [1, 2]".to_owned(),
    };
    let (given, declared) = (type_name(given), type_name(declared));
    format!("; {text} is of type {given}, and {name} of type {declared}: {written}")
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

//! `feros param set`: sets parameters.

use std::collections::BTreeMap;

use feros::{ParameterType, ParameterValue};

use super::python::type_name;
use super::remote::{NodeArgs, Remote};
use crate::error::CliError;
use crate::output;

/// Set parameters
#[derive(clap::Args)]
#[command(
    after_help = "Values are YAML, as in parameter files: 5 is an integer, 1.0 a double, [1, 2] a list, \"'5'\" a string.\n\n\
                  Examples:\n  feros param set /camera rate 15.0\n  feros param set /camera width 640 height 480 --atomic"
)]
pub(crate) struct Args {
    #[command(flatten)]
    node: NodeArgs,
    /// Names and values of parameters, in alternation
    #[arg(required = true, num_args = 2.., value_names = ["NAME", "VALUE"], allow_negative_numbers = true)]
    parameters: Vec<String>,
    /// Set either all parameters or, if one cannot be set, no parameter
    #[arg(long)]
    atomic: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let (pairs, rest) = args.parameters.as_chunks::<2>();
    if let [name] = rest {
        return Err(CliError::usage(format!(
            "parameter {name} has no value: give a value after each name"
        )));
    }
    let remote = Remote::open(&args.node)?;
    let parameters = values(&remote, pairs)?;
    if args.atomic {
        let set = parameters.clone();
        let outcome = remote.ask(|client, left| client.set_atomically(set, left))?;
        outcome.map_err(|reason| {
            let given = pairs.iter().zip(&parameters);
            let hints = hints(&remote, given.map(|([name, text], (_, value))| (name, text, value)));
            let text = with_reason("Setting parameters atomically failed", &reason);
            CliError::failed(text + &hints.concat())
        })?;
        return output::print_lines(["Set parameters atomically successful"]);
    }
    let several = pairs.len() > 1;
    let set = parameters.clone();
    let outcomes = remote.ask(|client, left| client.set(set, left))?;
    if outcomes.len() != pairs.len() {
        return Err(CliError::failed(format!(
            "node {} sent {} results for {} parameters",
            remote.name(),
            outcomes.len(),
            pairs.len()
        )));
    }
    let named = |name: &str, text: String| if several { format!("{name}: {text}") } else { text };
    let (mut refused, mut reasons) = (Vec::new(), Vec::new());
    for (([name, text], (_, value)), outcome) in pairs.iter().zip(&parameters).zip(outcomes) {
        match outcome {
            Ok(()) => output::print_lines([named(name, "Set parameter successful".to_owned())])?,
            Err(reason) => {
                refused.push((name, text, value));
                reasons.push(named(name, with_reason("Setting parameter failed", &reason)));
            }
        }
    }
    if refused.is_empty() {
        return Ok(());
    }
    let hints = hints(&remote, refused);
    let failures: Vec<String> =
        reasons.into_iter().zip(hints).map(|(reason, hint)| reason + &hint).collect();
    Err(CliError::failed(failures.join("\n")))
}

pub(super) fn with_reason(text: &str, reason: &str) -> String {
    if reason.is_empty() { text.to_owned() } else { format!("{text}: {reason}") }
}

/// For each value that the node refused: the notation for the parameter's type, if the value's type
/// differs; otherwise empty.
fn hints<'a>(
    remote: &Remote,
    refused: impl IntoIterator<Item = (&'a String, &'a String, &'a ParameterValue)>,
) -> Vec<String> {
    let refused: Vec<_> = refused.into_iter().collect();
    let names: Vec<String> = refused.iter().map(|(name, ..)| (*name).clone()).collect();
    // Without an answer, the node's reason must suffice.
    let declared = remote.types(&names).unwrap_or_default();
    let hint = |(name, text, value): (&String, &String, &ParameterValue)| {
        declared.get(name).map(|declared| hint(name, text, value, *declared)).unwrap_or_default()
    };
    refused.into_iter().map(hint).collect()
}

fn hint(name: &str, text: &str, value: &ParameterValue, declared: ParameterType) -> String {
    let given = value.parameter_type();
    if declared == given || declared == ParameterType::NotSet {
        return String::new();
    }
    let written = match declared {
        ParameterType::String => format!("\"'{text}'\" is the string"),
        ParameterType::Bool => "true and false are booleans".to_owned(),
        ParameterType::Integer => "a number without a decimal point is an integer".to_owned(),
        ParameterType::Double => {
            "a number with a decimal point, such as 1.0, is a double".to_owned()
        }
        _ => "a list is written as [1, 2]".to_owned(),
    };
    let (given, declared) = (type_name(given), type_name(declared));
    format!("; {text} is of type {given}, and {name} of type {declared}: {written}")
}

/// The values of words on the command line; as with `ros2` (`rclpy/rclpy/parameter.py`,
/// `get_parameter_value`), a word that is not a value of another type is a string.
fn values(
    remote: &Remote,
    pairs: &[[String; 2]],
) -> Result<Vec<(String, ParameterValue)>, CliError> {
    let read = |[name, text]: &[String; 2]| {
        let value = ParameterValue::from_yaml(text).unwrap_or_else(|_| text.as_str().into());
        (name.clone(), value)
    };
    let read: Vec<_> = pairs.iter().map(read).collect();
    let declared = declared_types(remote, read.iter().map(|(name, value)| (name, value)))?;
    let meant = |([name, text], (_, read)): (&[String; 2], (String, ParameterValue))| {
        let value = value(remote, name, text, read, declared.get(name).copied())?;
        Ok((name.clone(), value))
    };
    pairs.iter().zip(read).map(meant).collect()
}

fn value(
    remote: &Remote,
    name: &String,
    text: &str,
    read: ParameterValue,
    declared: Option<ParameterType>,
) -> Result<ParameterValue, CliError> {
    let is_empty_list = text.trim() == "[]";
    let Some(declared) = declared else {
        if is_empty_list {
            return Err(remote.not_declared(std::slice::from_ref(name)));
        }
        return Ok(read);
    };
    let value = read.as_declared(declared);
    if is_empty_list && value.parameter_type() != declared {
        return Err(CliError::failed(format!(
            "parameter {name} is not a list, but of type {declared}"
        )));
    }
    Ok(value)
}

/// The declared types of parameters whose given values are ambiguous: the notation does not show
/// the type of an empty list, and writes bytes as integers.
pub(super) fn declared_types<'a>(
    remote: &Remote,
    values: impl IntoIterator<Item = (&'a String, &'a ParameterValue)>,
) -> Result<BTreeMap<String, ParameterType>, CliError> {
    let is_unclear = |value: &ParameterValue| {
        matches!(value.parameter_type(), ParameterType::StringArray | ParameterType::IntegerArray)
    };
    let unclear = values.into_iter().filter(|(_, value)| is_unclear(value));
    let names: Vec<String> = unclear.map(|(name, _)| name.clone()).collect();
    remote.types(&names)
}

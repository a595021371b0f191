//! `feros param load`: sets the parameters of a parameter file.

use std::collections::BTreeMap;
use std::path::PathBuf;

use feros::ParameterValue;
use feros::engine::NodeName;
use feros::parameter::{ParameterOverrides, file};

use super::remote::{NodeArgs, Remote};
use super::set::{declared_types, with_reason};
use crate::error::CliError;
use crate::{notices, output};

/// Set the parameters of a node from a parameter file
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros param load /camera camera.yaml")]
pub(crate) struct Args {
    #[command(flatten)]
    node: NodeArgs,
    /// The parameter file
    file: PathBuf,
    /// Leave out settings of the file for more than one node, such as /**
    #[arg(long)]
    no_use_wildcard: bool,
    /// Accepted for command lines written for `ros2`: wildcards are used
    #[arg(long, hide = true, conflicts_with = "no_use_wildcard")]
    use_wildcard: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let overrides = file::read(&args.file).map_err(CliError::failed)?;
    let remote = Remote::open(&args.node)?;
    let values = values_for(overrides, remote.name(), !args.no_use_wildcard);
    if values.is_empty() {
        return Err(CliError::failed(format!(
            "parameter file {} has no parameters for node {}",
            args.file.display(),
            remote.name()
        )));
    }
    let values = as_declared(&remote, values)?;
    let outcomes = remote.ask(|client, left| client.set(values.clone(), left))?;
    let mut failed = outcomes.len() != values.len();
    let refused = values.keys().zip(&outcomes).filter(|(_, outcome)| outcome.is_err());
    let refused: Vec<String> = refused.map(|(name, _)| name.clone()).collect();
    // A dump also contains read-only parameters, and loading a dump must not fail because of them.
    let held = remote.ask_about(&refused, |client, names, left| client.get(names, left))?;
    let held: BTreeMap<&String, ParameterValue> =
        refused.iter().zip(held).filter_map(|(name, value)| Some((name, value?))).collect();
    for ((name, value), outcome) in values.iter().zip(outcomes) {
        match outcome {
            Ok(()) => output::print_lines([format!("Set parameter {name} successful")])?,
            Err(_) if held.get(name) == Some(value) => {
                output::print_lines([format!("Parameter {name} has this value already")])?;
            }
            Err(reason) => {
                failed = true;
                notices::warn(with_reason(&format!("Set parameter {name} failed"), &reason));
            }
        }
    }
    if failed { Err(CliError::Ended(1)) } else { Ok(()) }
}

/// Converts the values to the types that the node has declared.
fn as_declared(
    remote: &Remote,
    values: BTreeMap<String, ParameterValue>,
) -> Result<BTreeMap<String, ParameterValue>, CliError> {
    let declared = declared_types(remote, &values)?;
    let as_declared = |(name, value): (String, ParameterValue)| match declared.get(&name) {
        Some(declared) => (name, value.as_declared(*declared)),
        None => (name, value),
    };
    Ok(values.into_iter().map(as_declared).collect())
}

fn values_for(
    overrides: ParameterOverrides,
    node: &str,
    with_wildcards: bool,
) -> BTreeMap<String, ParameterValue> {
    let (namespace, name) = node.rsplit_once('/').unwrap_or(("", node));
    let node = NodeName::announced(if namespace.is_empty() { "/" } else { namespace }, name);
    let mut wanted = ParameterOverrides::default();
    for (nodes, values) in
        overrides.iter().filter(|(nodes, _)| with_wildcards || nodes.is_literal())
    {
        for (name, value) in values {
            wanted.set(nodes.clone(), name, value.clone());
        }
    }
    wanted.for_node(&node)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn wildcards_may_be_left_out() {
        let overrides = || {
            file::parse("/**: {ros__parameters: {a: 1, b: 1}}\n/ns/n: {ros__parameters: {b: 2}}")
                .unwrap()
        };
        let of = |node, wildcards| {
            let values = values_for(overrides(), node, wildcards);
            values
                .into_iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(of("/ns/n", true), "a=1 b=2");
        assert_eq!(of("/ns/n", false), "b=2");
        assert_eq!(of("/n", true), "a=1 b=1");
        assert_eq!(of("/n", false), "");
    }
}

//! `feros param list`: the parameters of nodes.

use std::collections::BTreeMap;
use std::time::Duration;

use feros_engine::EndpointKind;
use feros_engine::name::is_hidden;
use regex::Regex;
use serde_json::json;

use super::python;
use super::remote::Remote;
use crate::asking::all_at_once;
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::value_parsers::parse_seconds;
use crate::{notices, output};

/// List the parameters of a node, or of all nodes
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros param list\n  feros param list /camera --param-type --param-prefixes lens\n  feros param list --filter '.*rate'"
)]
pub(crate) struct Args {
    /// Name of the node; by default, all nodes
    node: Option<String>,
    /// Include hidden nodes, whose names begin with an underscore
    #[arg(long)]
    include_hidden_nodes: bool,
    /// List only parameters with these prefixes
    #[arg(long, value_name = "PREFIX", num_args = 1..)]
    param_prefixes: Vec<String>,
    /// List only parameters whose names match this expression from their beginning, such as
    /// '.*rate'
    #[arg(long, value_name = "REGEX", value_parser = from_beginning)]
    filter: Option<Regex>,
    /// Print the types as well
    #[arg(long)]
    param_type: bool,
    /// Wait at most this long for each node
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = parse_seconds)]
    timeout: Duration,
    /// Print a JSON object: for each node an object from names to types
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

/// Matches as Python's `re.match` does, which `ros2` uses.
fn from_beginning(pattern: &str) -> Result<Regex, String> {
    Regex::new(&format!("^(?:{pattern})")).map_err(|error| error.to_string())
}

/// Names of parameters, with their types if these are wanted.
type Found = Vec<(String, Option<&'static str>)>;

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let mut found: BTreeMap<String, Found> = BTreeMap::new();
    let connection = Connection::open()?;
    if let Some(node) = &args.node {
        let remote = Remote::with(connection, node, args.timeout)?;
        found.insert(remote.name().to_owned(), list(&remote, args)?);
        return print(args, &found);
    }
    let mut silent = Vec::new();
    let nodes = nodes(&connection, args)?;
    let answers = all_at_once(&nodes, |node| ask(&connection, node, args));
    for (node, answer) in nodes.into_iter().zip(answers) {
        match answer {
            Ok(Some(parameters)) => drop(found.insert(node, parameters)),
            // The node has left meanwhile.
            Ok(None) => {}
            Err(CliError::Interrupted) => return Err(CliError::Interrupted),
            Err(error) => silent.push(format!("{node}: {error}")),
        }
    }
    print(args, &found)?;
    silent.iter().for_each(notices::warn);
    Ok(())
}

/// Asks one of many nodes for its parameters. Returns `None` if that node has left.
fn ask(connection: &Connection, node: &str, args: &Args) -> Result<Option<Found>, CliError> {
    let remote = Remote::with(connection.clone(), node, args.timeout)?;
    match list(&remote, args) {
        Err(error) if !matches!(error, CliError::Interrupted) && !remote.is_there() => {
            tracing::debug!("{node} left: {error}");
            Ok(None)
        }
        answer => answer.map(Some),
    }
}

/// Returns the names of the nodes that offer services for their parameters.
fn nodes(connection: &Connection, args: &Args) -> Result<Vec<String>, CliError> {
    let graph = connection.discover_nodes(&args.discovery)?;
    let mut names: Vec<String> = graph
        .nodes
        .iter()
        .map(|node| node.name.fully_qualified())
        .filter(|name| args.include_hidden_nodes || !is_hidden(name))
        .filter(|name| graph.count(EndpointKind::Service, &format!("{name}/list_parameters")) > 0)
        .collect();
    names.sort();
    names.dedup();
    Ok(names)
}

fn list(remote: &Remote, args: &Args) -> Result<Found, CliError> {
    let mut names = remote.ask(|client, left| client.list(&args.param_prefixes, 0, left))?.names;
    names.retain(|name| args.filter.as_ref().is_none_or(|filter| filter.is_match(name)));
    names.sort();
    if !args.param_type && !args.json {
        return Ok(names.into_iter().map(|name| (name, None)).collect());
    }
    let types = remote.ask(|client, left| client.describe(&names, left))?;
    if types.len() != names.len() {
        return Err(remote.not_declared(&names));
    }
    let types =
        types.into_iter().map(|descriptor| Some(python::type_name(descriptor.parameter_type)));
    Ok(names.into_iter().zip(types).collect())
}

fn print(args: &Args, found: &BTreeMap<String, Found>) -> Result<(), CliError> {
    if args.json {
        let parameters = |found: &Found| {
            found
                .iter()
                .map(|(name, ty)| (name.clone(), json!(ty)))
                .collect::<serde_json::Map<_, _>>()
        };
        let nodes: serde_json::Map<_, _> =
            found.iter().map(|(node, found)| (node.clone(), parameters(found).into())).collect();
        return output::print_json(&nodes);
    }
    let mut lines = Vec::new();
    for (node, parameters) in found {
        if args.node.is_none() {
            lines.push(format!("{node}:"));
        }
        lines.extend(parameters.iter().map(|(name, ty)| match ty {
            Some(ty) => format!("  {name} (type: {ty})"),
            None => format!("  {name}"),
        }));
    }
    output::print_lines(lines)
}

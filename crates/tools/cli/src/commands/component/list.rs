//! `feros component list`: containers, and the components in them.

use feros::{CallError, WaitError};
use feros_component::remote::{ComponentState, ContainerClient, Loaded, RemoteError, containers};
use serde::Serialize;

use super::client::{CALL_TIMEOUT, DISCOVERY_TIMEOUT, find_container};
use crate::asking::all_at_once;
use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::{notices, output};

/// List the running containers, and their components
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  feros component list\n  feros component list /ComponentManager --json"
)]
pub(crate) struct Args {
    /// List only the components of this container
    #[arg(value_name = "CONTAINER")]
    container_node_name: Option<String>,
    /// List only the names of the containers
    #[arg(long)]
    containers_only: bool,
    /// Print a JSON array of containers with their components
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
}

#[derive(Serialize)]
struct Container {
    name: String,
    components: Vec<Component>,
}

#[derive(Serialize)]
struct Component {
    unique_id: u64,
    full_node_name: String,
    /// Only Feros's containers report a state.
    state: Option<String>,
    detail: Option<String>,
}

impl Component {
    fn new(loaded: Loaded, states: &[ComponentState]) -> Self {
        let state = states.iter().find(|state| state.unique_id == loaded.unique_id);
        Self {
            unique_id: loaded.unique_id,
            full_node_name: loaded.full_node_name,
            state: state.map(|state| state.state.clone()),
            detail: state.map(|state| state.detail.clone()).filter(|detail| !detail.is_empty()),
        }
    }

    /// The line of `ros2 component list`, followed by the state if the component does not run.
    fn line(&self) -> String {
        let line = format!("{}  {}", self.unique_id, self.full_node_name);
        match (self.state.as_deref(), &self.detail) {
            (None | Some("running"), _) => line,
            (Some(state), None) => format!("{line}  {state}"),
            (Some(state), Some(detail)) => format!("{line}  {state}: {detail}"),
        }
    }
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let connection = Connection::open()?;
    let clients = match &args.container_node_name {
        Some(name) => vec![find_container(&connection, name, &args.discovery)?],
        None => {
            let graph = connection.discover(&args.discovery)?;
            let clients = containers(&graph)
                .into_iter()
                .map(|name| ContainerClient::new(&connection.node, &name));
            clients.collect::<Result<_, _>>()?
        }
    };
    let answers = all_at_once(&clients, |client| match args.containers_only {
        true => Ok(Vec::new()),
        false => components(client),
    });
    let mut found = Vec::new();
    for (client, answer) in clients.iter().zip(answers) {
        let name = client.container().to_owned();
        // A container that does not answer is reported, and shown without components.
        let components = match answer {
            Ok(components) => components,
            Err(
                RemoteError::NoContainer(WaitError::Shutdown { .. })
                | RemoteError::Call { source: CallError::Shutdown { .. }, .. },
            ) => return Err(CliError::Interrupted),
            Err(error) => {
                notices::warn(format!("{name} does not list its components: {error}"));
                Vec::new()
            }
        };
        found.push(Container { name, components });
    }
    if args.json {
        return output::print_json(&found);
    }
    let one = args.container_node_name.is_some();
    let mut lines = Vec::new();
    for container in &found {
        if !one {
            lines.push(container.name.clone());
        }
        let indentation = if one { "" } else { "  " };
        lines.extend(
            container
                .components
                .iter()
                .map(|component| format!("{indentation}{}", component.line())),
        );
    }
    output::print_lines(&lines)
}

/// The components of one container.
fn components(client: &ContainerClient) -> Result<Vec<Component>, RemoteError> {
    client.wait(DISCOVERY_TIMEOUT)?;
    let loaded = client.list(CALL_TIMEOUT)?;
    let states = client.states(DISCOVERY_TIMEOUT).ok().flatten().unwrap_or_default();
    Ok(loaded.into_iter().map(|loaded| Component::new(loaded, &states)).collect())
}

//! A client of a running Feros or stock container. It loads, unloads and lists components.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use feros::engine::{EndpointKind, GraphSnapshot};
use feros::msgs::composition_interfaces::srv::{
    ListNodes, ListNodes_Request, LoadNode, LoadNode_Request, UnloadNode, UnloadNode_Request,
};
use feros::msgs::std_srvs::srv::{Trigger, Trigger_Request};
use feros::{CallError, Client, CreateError, Node, WaitError};

/// The services of a container: the suffixes that follow the container's name.
pub const SERVICES: [&str; 3] =
    ["/_container/load_node", "/_container/unload_node", "/_container/list_nodes"];

/// The suffix of the service with the states of components, which only containers of Feros have.
pub const STATES_SERVICE: &str = "/_container/component_states";

/// A client of the services of one container.
pub struct ContainerClient {
    container: String,
    load: Client<LoadNode>,
    unload: Client<UnloadNode>,
    list: Client<ListNodes>,
    states: Client<Trigger>,
}

/// A component that a container has loaded.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Loaded {
    /// The component's number in the container, counted from 1 and never reused.
    pub unique_id: u64,
    /// The name of the node, including its namespace.
    pub full_node_name: String,
}

/// The state of a component in a container of Feros.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComponentState {
    /// The component's number.
    pub unique_id: u64,
    /// `running`, `failed` or `restarting`.
    pub state: String,
    /// A description of the last event, for people; empty if there was no event.
    pub detail: String,
}

/// Why a container did not do what the client asked for.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The container does not exist.
    #[error(transparent)]
    NoContainer(#[from] WaitError),
    /// The container did not answer.
    #[error("container {container}: {source}")]
    Call {
        /// The container.
        container: String,
        /// The error of the call.
        source: CallError,
    },
    /// The container refused the request.
    #[error("{reason}")]
    Refused {
        /// The container's own message.
        reason: String,
    },
}

/// The containers of a graph: nodes that serve all three services of `composition_interfaces`.
pub fn containers(graph: &GraphSnapshot) -> BTreeSet<String> {
    let types = ["LoadNode", "UnloadNode", "ListNodes"]
        .map(|name| format!("composition_interfaces/srv/{name}"));
    let of = |(suffix, wanted): (&str, &String)| -> BTreeSet<String> {
        let services =
            graph.endpoints.iter().filter(|endpoint| endpoint.kind == EndpointKind::Service);
        let services = services.filter(|endpoint| endpoint.type_name == *wanted);
        services.filter_map(|e| e.name.strip_suffix(suffix).map(str::to_owned)).collect()
    };
    let mut found = SERVICES.iter().copied().zip(&types).map(of);
    let first = found.next().unwrap_or_default();
    found.fold(first, |common, next| common.intersection(&next).cloned().collect())
}

impl ContainerClient {
    /// Makes a client of the container of this name, such as `/ComponentManager`. The container may
    /// start later.
    ///
    /// # Errors
    /// When the name is not allowed, or the engine refuses.
    pub fn new(node: &Node, container: &str) -> Result<Self, CreateError> {
        let container =
            if container.starts_with('/') { container.to_owned() } else { format!("/{container}") };
        let [load, unload, list] = SERVICES.map(|suffix| format!("{container}{suffix}"));
        Ok(Self {
            load: node.create_client(&load)?,
            unload: node.create_client(&unload)?,
            list: node.create_client(&list)?,
            states: node.create_client(&format!("{container}{STATES_SERVICE}"))?,
            container,
        })
    }

    /// The name of the container's node.
    pub fn container(&self) -> &str {
        &self.container
    }

    /// Waits until the container serves all three services.
    ///
    /// # Errors
    /// When the timeout passes or the context is shut down before that.
    pub fn wait(&self, timeout: Duration) -> Result<(), WaitError> {
        let until = Instant::now() + timeout;
        let left = || until.saturating_duration_since(Instant::now());
        self.load.wait_for_service(left())?;
        self.unload.wait_for_service(left())?;
        self.list.wait_for_service(left())
    }

    /// Loads a component; returns its number and the name of its node.
    ///
    /// # Errors
    /// When the container refuses, with its reason, or does not answer in time.
    pub fn load(
        &self,
        request: &LoadNode_Request,
        timeout: Duration,
    ) -> Result<Loaded, RemoteError> {
        let response = self.load.call_and_wait(request, timeout).map_err(|e| self.failed(e))?;
        if response.success {
            Ok(Loaded { unique_id: response.unique_id, full_node_name: response.full_node_name })
        } else {
            Err(RemoteError::Refused { reason: response.error_message })
        }
    }

    /// Unloads a component.
    ///
    /// # Errors
    /// The same as for [`ContainerClient::load`].
    pub fn unload(&self, unique_id: u64, timeout: Duration) -> Result<(), RemoteError> {
        let request = UnloadNode_Request { unique_id };
        let response = self.unload.call_and_wait(&request, timeout).map_err(|e| self.failed(e))?;
        if response.success {
            Ok(())
        } else {
            Err(RemoteError::Refused { reason: response.error_message })
        }
    }

    /// The components of the container, sorted by number.
    ///
    /// # Errors
    /// The same as for [`ContainerClient::load`].
    pub fn list(&self, timeout: Duration) -> Result<Vec<Loaded>, RemoteError> {
        let response = self.list.call_and_wait(&ListNodes_Request::default(), timeout);
        let response = response.map_err(|e| self.failed(e))?;
        let pairs = response.unique_ids.into_iter().zip(response.full_node_names);
        let mut all: Vec<_> =
            pairs.map(|(unique_id, full_node_name)| Loaded { unique_id, full_node_name }).collect();
        all.sort();
        Ok(all)
    }

    /// The states of the components; `None` if the container is not a container of Feros.
    ///
    /// # Errors
    /// The same as for [`ContainerClient::load`].
    pub fn states(&self, timeout: Duration) -> Result<Option<Vec<ComponentState>>, RemoteError> {
        if !self.states.service_is_ready() {
            return Ok(None);
        }
        let response = self.states.call_and_wait(&Trigger_Request::default(), timeout);
        Ok(Some(read_states(&response.map_err(|e| self.failed(e))?.message)))
    }

    fn failed(&self, source: CallError) -> RemoteError {
        RemoteError::Call { container: self.container.clone(), source }
    }
}

/// The response of [`STATES_SERVICE`]: a line `number state detail` for each component.
pub fn write_states(states: &[ComponentState]) -> String {
    let line = |s: &ComponentState| {
        let text = format!("{} {} {}", s.unique_id, s.state, s.detail.replace(['\n', '\r'], " "));
        format!("{}\n", text.trim_end())
    };
    states.iter().map(line).collect()
}

fn read_states(text: &str) -> Vec<ComponentState> {
    let line = |line: &str| {
        let mut parts = line.splitn(3, ' ');
        let unique_id = parts.next()?.parse().ok()?;
        let state = parts.next()?.to_owned();
        Some(ComponentState {
            unique_id,
            state,
            detail: parts.next().unwrap_or_default().to_owned(),
        })
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_survive_being_written() {
        let state = |unique_id, state: &str, detail: &str| ComponentState {
            unique_id,
            state: state.into(),
            detail: detail.into(),
        };
        let states = [state(1, "running", ""), state(7, "failed", "it panicked: no camera")];
        assert_eq!(read_states(&write_states(&states)), states);
        assert_eq!(read_states("x y\n\n9\n3 running\n"), [state(3, "running", "")]);
        assert_eq!(write_states(&[state(1, "failed", "two\nlines")]), "1 failed two lines\n");
    }
}

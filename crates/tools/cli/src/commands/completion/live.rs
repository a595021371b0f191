//! The values that completion offers: names of the running system, known types, and installed
//! packages.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use feros_component::index::Index;
use feros_component::remote;
use feros_engine::GraphSnapshot;
use feros_engine::graph::NamesAndTypes;
use feros_engine::name::is_hidden;
use feros_interface::Namespace;

use super::super::param::parameter_names;
use super::Candidate;
use super::words::{interface_folders, words};
use crate::connection::Connection;
use crate::packages::installed_packages;
use crate::types::{InterfaceArgs, Types};

/// The longest time that a completion waits for the graph, and for a node's parameters.
const PATIENCE: Duration = Duration::from_millis(700);
/// A graph that has not changed for this long counts as complete.
const QUIET: Duration = Duration::from_millis(120);

fn plain(value: impl Into<String>) -> Candidate {
    Candidate { value: value.into(), help: None }
}

/// The running system; `None` if it cannot be read, which must not disturb a prompt.
fn graph() -> Option<(Connection, Arc<GraphSnapshot>)> {
    let connection = Connection::open().ok()?;
    let graph = connection.discover_within(QUIET, PATIENCE).ok()?;
    Some((connection, graph))
}

pub(super) fn topics() -> Vec<Candidate> {
    in_graph(GraphSnapshot::topics)
}

pub(super) fn services() -> Vec<Candidate> {
    in_graph(GraphSnapshot::services)
}

pub(super) fn actions() -> Vec<Candidate> {
    in_graph(GraphSnapshot::actions)
}

fn in_graph(all: fn(&GraphSnapshot) -> NamesAndTypes) -> Vec<Candidate> {
    let Some((_connection, graph)) = graph() else { return Vec::new() };
    let shown = all(&graph).into_iter().filter(|(name, _)| !is_hidden(name));
    let candidate = |(name, types): (String, BTreeSet<String>)| Candidate {
        value: name,
        help: Some(types.into_iter().collect::<Vec<_>>().join(", ")),
    };
    shown.map(candidate).collect()
}

pub(super) fn nodes() -> Vec<Candidate> {
    let Some((_connection, graph)) = graph() else { return Vec::new() };
    node_names(&graph).into_iter().map(plain).collect()
}

fn node_names(graph: &GraphSnapshot) -> Vec<String> {
    let names = graph.nodes.iter().map(|node| node.name.fully_qualified());
    let mut names: Vec<String> = names.filter(|name| !is_hidden(name)).collect();
    names.dedup();
    names
}

pub(super) fn containers() -> Vec<Candidate> {
    let Some((_connection, graph)) = graph() else { return Vec::new() };
    remote::containers(&graph).into_iter().map(plain).collect()
}

/// The parameters of the node that the line names.
pub(super) fn parameters() -> Vec<Candidate> {
    let Some((connection, graph)) = graph() else { return Vec::new() };
    let known = node_names(&graph);
    let mut named = words().into_iter().map(|word| format!("/{}", word.trim_start_matches('/')));
    let Some(node) = named.find(|word| known.contains(word)) else { return Vec::new() };
    parameter_names(connection, &node, PATIENCE).into_iter().map(plain).collect()
}

/// The type of the topic that the line names, if it exists; otherwise all types.
pub(super) fn message_types() -> Vec<Candidate> {
    of_the_system(|graph, word| graph.topics().remove(word), Namespace::Msg)
}

/// The type of the service that the line names, if it exists; otherwise all types.
pub(super) fn service_types() -> Vec<Candidate> {
    of_the_system(|graph, word| graph.services().remove(word), Namespace::Srv)
}

pub(super) fn action_types() -> Vec<Candidate> {
    types_of(Namespace::Action)
}

fn of_the_system(
    types_in: impl Fn(&GraphSnapshot, &str) -> Option<BTreeSet<String>>,
    namespace: Namespace,
) -> Vec<Candidate> {
    if let Some((_connection, graph)) = graph() {
        let found = words().iter().find_map(|word| types_in(&graph, word));
        if let Some(types) = found {
            return types.into_iter().map(plain).collect();
        }
    }
    types_of(namespace)
}

fn known_types() -> Option<Types> {
    Types::load(&InterfaceArgs::of_folders(interface_folders(&words()))).ok()
}

fn types_of(namespace: Namespace) -> Vec<Candidate> {
    let Some(types) = known_types() else { return Vec::new() };
    let of_kind = types.set().interfaces().filter(|found| found.namespace() == namespace);
    of_kind.map(|interface| plain(interface.name().to_string())).collect()
}

pub(super) fn types() -> Vec<Candidate> {
    let Some(types) = known_types() else { return Vec::new() };
    types.set().interfaces().map(|interface| plain(interface.name().to_string())).collect()
}

pub(super) fn interface_packages() -> Vec<Candidate> {
    let Some(types) = known_types() else { return Vec::new() };
    types.set().packages().into_iter().map(plain).collect()
}

pub(super) fn packages() -> Vec<Candidate> {
    installed_packages().packages().into_iter().map(plain).collect()
}

/// The packages, with those whose executables this command contains.
pub(super) fn packages_to_run() -> Vec<Candidate> {
    let mut packages = installed_packages().packages();
    packages.extend(feros_robot_nodes::EXECUTABLES.iter().map(|(name, _)| (*name).to_owned()));
    packages.sort();
    packages.dedup();
    packages.into_iter().map(plain).collect()
}

/// The executables of the package that the line names.
pub(super) fn executables() -> Vec<Candidate> {
    let packages = installed_packages();
    let named = words().into_iter().find(|word| !packages.executables(word).is_empty());
    named.map_or_else(Vec::new, |package| {
        packages.executables(&package).into_iter().map(plain).collect()
    })
}

/// The packages; after a package, its launch files.
pub(super) fn launch_words() -> Vec<Candidate> {
    let packages = installed_packages();
    let known = packages.packages();
    match words().into_iter().find(|word| known.contains(word)) {
        Some(package) => packages.launch_files(&package).into_iter().map(plain).collect(),
        None => known.into_iter().map(plain).collect(),
    }
}

pub(super) fn component_packages() -> Vec<Candidate> {
    Index::from_env().packages().into_iter().map(plain).collect()
}

/// The components of the package that the line names.
pub(super) fn components() -> Vec<Candidate> {
    let index = Index::from_env();
    let known = index.packages();
    let Some(package) = words().into_iter().find(|word| known.contains(word)) else {
        return Vec::new();
    };
    let components = index.components(&package).unwrap_or_default();
    components.into_iter().map(|component| plain(component.plugin)).collect()
}

//! Services without events: servers and clients publish events only if introspection is turned on,
//! so a command that prints events would otherwise wait forever without a word.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use feros_bag::TopicSelection;
use feros_engine::graph::EndpointInfo;
use feros_engine::name::is_hidden;
use feros_engine::{EndpointKind, Gid, GraphSnapshot};

use crate::connection::Connection;
use crate::error::CliError;
use crate::notices;

/// The wait for events: a service is announced a moment before the publishers of its events.
const PATIENCE: Duration = Duration::from_secs(1);

/// The end of the name of a topic with the events of a service.
const EVENTS: &str = "/_service_event";

/// The packages with the types of services that every node has.
const OF_EVERY_NODE: [&str; 2] = ["rcl_interfaces/", "type_description_interfaces/"];

/// The limit on services in warnings, since the names are from the network.
const MOST_TOLD: usize = 1000;

/// The number of names that a warning contains.
const MOST_NAMES: usize = 10;

/// Warns once of each wanted service that exists and has no events.
pub(crate) struct SilentServices {
    is_wanted: Box<dyn Fn(&EndpointInfo) -> bool>,
    /// A gid of this process, whose own services do not count.
    own: Gid,
    /// The generation of the graph at the last look.
    generation: Option<u64>,
    silent_since: BTreeMap<String, Instant>,
    told: BTreeSet<String>,
}

impl SilentServices {
    /// Watches these services, given by their full names.
    pub(crate) fn among(connection: &Connection, services: &[String]) -> Self {
        let services = services.to_vec();
        Self::watch(connection, move |endpoint| services.contains(&endpoint.name))
    }

    /// Watches all selected services, except hidden services and the services that every node has,
    /// such as the services for parameters.
    pub(crate) fn selected(connection: &Connection, selection: &TopicSelection) -> Self {
        let selection = selection.clone();
        Self::watch(connection, move |endpoint| {
            !is_hidden(&endpoint.name)
                && !OF_EVERY_NODE.iter().any(|package| endpoint.type_name.starts_with(package))
                && selection.has(&events_of(&endpoint.name), "_Event")
        })
    }

    fn watch(connection: &Connection, is_wanted: impl Fn(&EndpointInfo) -> bool + 'static) -> Self {
        Self {
            is_wanted: Box::new(is_wanted),
            own: connection.context.session().gid(),
            generation: None,
            silent_since: BTreeMap::new(),
            told: BTreeSet::new(),
        }
    }

    /// Checks the graph, and warns.
    pub(crate) fn look(&mut self, graph: &GraphSnapshot) {
        if self.generation == Some(graph.generation) && self.silent_since.is_empty() {
            return;
        }
        self.generation = Some(graph.generation);
        let silent = self.silent(graph);
        self.silent_since.retain(|name, _| silent.contains(name.as_str()));
        for name in silent {
            self.silent_since.entry(name.to_owned()).or_insert_with(Instant::now);
        }
        let is_certain = |(_, since): &(&String, &Instant)| since.elapsed() >= PATIENCE;
        let certain = self.silent_since.iter().filter(is_certain);
        let certain: Vec<String> = certain.map(|(name, _)| name.clone()).collect();
        if !certain.is_empty() {
            notices::warn(told(&certain));
            self.silent_since.retain(|name, _| !certain.contains(name));
            self.told.extend(certain);
        }
    }

    /// The wanted services without events that have not been told.
    fn silent<'a>(&self, graph: &'a GraphSnapshot) -> BTreeSet<&'a str> {
        if self.told.len() >= MOST_TOLD {
            return BTreeSet::new();
        }
        let publishers = graph.endpoints.iter().filter(|e| e.kind == EndpointKind::Publisher);
        let with_events: BTreeSet<&str> =
            publishers.filter_map(|publisher| publisher.name.strip_suffix(EVENTS)).collect();
        let is_silent = |endpoint: &&EndpointInfo| {
            matches!(endpoint.kind, EndpointKind::Service | EndpointKind::Client)
                && !with_events.contains(endpoint.name.as_str())
                && !self.told.contains(&endpoint.name)
                && !endpoint.gid.is_of_session_of(&self.own)
                && (self.is_wanted)(endpoint)
        };
        let silent = graph.endpoints.iter().filter(is_silent);
        silent.map(|endpoint| endpoint.name.as_str()).collect()
    }
}

/// Warns if a service exists and has no events, after a moment in which they may appear.
///
/// # Errors
/// When the user interrupts.
pub(crate) fn warn_of_silent(connection: &Connection, name: &str) -> Result<(), CliError> {
    if is_silent(&connection.context.graph(), name)
        && !connection.wait_until(PATIENCE, |graph| !is_silent(graph, name))?
    {
        notices::warn(told(&[name.to_owned()]));
    }
    Ok(())
}

/// The warning for services without events, at least one.
fn told(services: &[String]) -> String {
    let cure = "has to enable them with configure_introspection (in C++, Python or Rust)";
    if let [name] = services {
        return format!(
            "service {name} publishes no events, so its calls cannot be shown: its server or a \
             client {cure}"
        );
    }
    let mut names = services.iter().take(MOST_NAMES).cloned().collect::<Vec<_>>().join(", ");
    if services.len() > MOST_NAMES {
        names.push_str(&format!(" and {} more", services.len() - MOST_NAMES));
    }
    format!(
        "{} services publish no events, so their calls cannot be shown: for each of them, its \
         server or a client {cure}: {names}",
        services.len()
    )
}

/// The topic of a service's events.
pub(crate) fn events_of(service: &str) -> String {
    format!("{service}{EVENTS}")
}

/// Whether a service has servers or clients, but no publisher of its events.
fn is_silent(graph: &GraphSnapshot, name: &str) -> bool {
    let is_there = [EndpointKind::Service, EndpointKind::Client]
        .into_iter()
        .any(|kind| graph.count(kind, name) > 0);
    is_there && graph.count(EndpointKind::Publisher, &events_of(name)) == 0
}

#[cfg(test)]
mod tests {
    use super::told;

    #[test]
    fn many_services_are_one_warning() {
        let names: Vec<String> = (0..12).map(|number| format!("/s{number}")).collect();
        assert!(told(&names[..1]).starts_with("service /s0 publishes no events"));
        let text = told(&names[..2]);
        assert!(text.starts_with("2 services publish no events") && text.ends_with("/s0, /s1"));
        let text = told(&names);
        assert!(text.contains("configure_introspection") && !text.contains("/s10"), "{text}");
        assert!(text.ends_with("/s9 and 2 more"), "{text}");
    }
}

//! The shared state of all connections: the catalogue of topics and services, the subscriptions,
//! and the topics that the server listens to for all clients together.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use feros::msgs::rcl_interfaces::msg::ParameterEvent;
use feros::msgs::rosgraph_msgs::msg::Clock;
use feros::{Node, Subscription, TypeIdentity};
use feros_engine::name::is_hidden;
use feros_engine::{Gid, GraphSnapshot};
use feros_message::Schema;
use feros_sync::{Mutex, Ordering};
use tokio::sync::Semaphore;

use crate::protocol::{Channel, ServerOp, Service};
use crate::server::calls::Calls;
use crate::server::catalogue::{Catalogue, Changes, TypeKey};
use crate::server::clients::{Client, Clients, Level};
use crate::server::clock::{self, SimulatedTime};
use crate::server::connection_graph::ConnectionGraph;
use crate::server::feeds::{Feeds, Listener};
use crate::server::options::ViewOptions;
use crate::server::parameters::{self, Parameters};
use crate::server::reading::only_reads;

/// The limit on files that are read at the same time.
const FILES_AT_A_TIME: usize = 3;
/// The number of threads for files and for the doctor.
pub(crate) const BLOCKING_THREADS: usize = FILES_AT_A_TIME + 1;

/// The shared state of all connections.
///
/// Locks are taken in the order of the fields, and no lock is held during a callback.
pub(crate) struct Hub {
    pub(crate) node: Node,
    pub(crate) options: ViewOptions,
    pub(crate) clients: Arc<Clients>,
    pub(crate) calls: Calls,
    pub(crate) parameters: Parameters,
    /// Lets the doctor make one examination at a time.
    pub(crate) doctor_turns: Arc<Semaphore>,
    /// Limits the files that are read at the same time.
    pub(crate) file_turns: Arc<Semaphore>,
    session_id: String,
    time: SimulatedTime,
    catalogue: Mutex<Catalogue>,
    connection_graph: Mutex<ConnectionGraph>,
    feeds: Mutex<Feeds>,
    listening: Mutex<Listening>,
}

/// The subscriptions that exist once for all clients, while any client needs them.
#[derive(Default)]
struct Listening {
    has_clock: bool,
    clock: Option<Subscription<Clock>>,
    parameter_events: Option<Subscription<ParameterEvent>>,
}

impl Hub {
    pub(crate) fn new(node: &Node, options: ViewOptions, session_id: String) -> Self {
        let time = SimulatedTime::default();
        let looks_for_types = options.describe.is_some();
        Self {
            node: node.clone(),
            clients: Arc::default(),
            calls: Calls::new(node.clone()),
            parameters: Parameters::new(node.clone()),
            doctor_turns: Arc::new(Semaphore::new(1)),
            file_turns: Arc::new(Semaphore::new(FILES_AT_A_TIME)),
            session_id,
            catalogue: Mutex::new(Catalogue::new(options.interfaces.clone(), looks_for_types)),
            connection_graph: Mutex::default(),
            feeds: Mutex::new(Feeds::new(node.clone(), time.clone(), options.max_connections)),
            listening: Mutex::default(),
            time,
            options,
        }
    }

    pub(crate) fn own(&self) -> Gid {
        self.node.context().session().gid()
    }

    pub(crate) fn graph(&self) -> Arc<GraphSnapshot> {
        self.node.context().graph()
    }

    /// Sends a new client the initial lists.
    pub(crate) fn greet(&self, client: &Client) {
        self.listen_as_needed(&self.graph());
        self.tell_server_info(client);
        // The lock is held until the client has the whole list, so that changes follow the list.
        let catalogue = self.catalogue.lock();
        let everything = Changes {
            channels: catalogue.channels(),
            services: catalogue.services(),
            ..Changes::default()
        };
        self.tell_changes(client, &everything);
        client.is_greeted.store(true, Ordering::Relaxed);
        for (topic, types) in catalogue.ambiguous() {
            client.warn(&format!("types:{topic}"), &ambiguity(&topic, &types));
        }
    }

    fn tell_server_info(&self, client: &Client) {
        let mut capabilities =
            vec!["parameters", "parametersSubscribe", "connectionGraph", "assets", "services"];
        if self.options.allow_changes {
            capabilities.push("clientPublish");
        }
        if self.listening.lock().has_clock {
            capabilities.push("time");
        }
        let metadata = BTreeMap::from([
            ("ROS_DISTRO".to_owned(), "kilted".to_owned()),
            ("feros".to_owned(), env!("CARGO_PKG_VERSION").to_owned()),
        ]);
        client.tell(&ServerOp::ServerInfo {
            name: "feros view",
            capabilities: &capabilities,
            supported_encodings: &["cdr"],
            metadata: &metadata,
            session_id: &self.session_id,
        });
    }

    /// Whether clients may call a service: without `--allow-changes`, only services that change
    /// nothing.
    pub(crate) fn offers(&self, service: &Service) -> bool {
        self.options.allow_changes || only_reads(&service.service_type)
    }

    fn tell_changes(&self, client: &Client, changes: &Changes) {
        let shows = |name: &str| client.is_page || !is_hidden(name);
        let removed = changes.removed_channels.iter().filter(|channel| shows(&channel.topic));
        let removed: Vec<u32> = removed.map(|channel| channel.id).collect();
        if !removed.is_empty() {
            client.tell(&ServerOp::Unadvertise { channel_ids: &removed });
        }
        let channels = changes.channels.iter().filter(|channel| shows(&channel.topic));
        let channels: Vec<Channel> = channels.map(|channel| (**channel).clone()).collect();
        if !channels.is_empty() {
            client.tell(&ServerOp::Advertise { channels: &channels });
            tell_unknown(client, &channels);
        }
        let offers = |service: &Service| shows(&service.name) && self.offers(service);
        let removed = changes.removed_services.iter().filter(|service| offers(service));
        let removed: Vec<u32> = removed.map(|service| service.id).collect();
        if !removed.is_empty() {
            client.tell(&ServerOp::UnadvertiseServices { service_ids: &removed });
        }
        let services = changes.services.iter().filter(|service| offers(service));
        let services: Vec<Service> = services.map(|service| (**service).clone()).collect();
        if !services.is_empty() {
            client.tell(&ServerOp::AdvertiseServices { services: &services });
        }
    }

    /// Updates the shared state after a change of the graph; returns the types to look up.
    pub(crate) fn follow(&self, graph: &GraphSnapshot) -> Vec<(String, TypeKey)> {
        let mut catalogue = self.catalogue.lock();
        let former: Vec<_> = catalogue.ambiguous();
        let mut changes = catalogue.update(graph, self.own(), Instant::now());
        let lookups = std::mem::take(&mut changes.lookups);
        let clients = self.clients.greeted();
        for client in &clients {
            self.tell_changes(client, &changes);
        }
        for (topic, types) in catalogue.ambiguous() {
            if !former.iter().any(|(known, before)| *known == topic && *before == types) {
                let (message, id) = (ambiguity(&topic, &types), format!("types:{topic}"));
                clients.iter().for_each(|client| client.warn(&id, &message));
            }
        }
        drop(catalogue);
        self.follow_connections(graph);
        let mut feeds = self.feeds.lock();
        changes.removed_channels.iter().for_each(|channel| feeds.remove_channel(channel.id));
        let failures = feeds.adapt(graph);
        drop(feeds);
        for failure in failures {
            let text = failure.to_string();
            clients.iter().for_each(|client| client.status(Level::Error, &text));
        }
        self.calls.forget(&changes.removed_services.iter().map(|service| service.id).collect());
        self.parameters.follow(graph);
        self.listen_as_needed(graph);
        lookups
    }

    /// Stores the result of a type's lookup.
    pub(crate) fn found_type(&self, key: TypeKey, schema: Option<Schema>) {
        self.catalogue.lock().found(key, schema, Instant::now());
    }

    fn follow_connections(&self, graph: &GraphSnapshot) {
        let now = ConnectionGraph::of(graph, self.own());
        let mut former = self.connection_graph.lock();
        if let Some(update) = now.since(&former) {
            // The clients are listed under the lock, so that a client that has just received the
            // former graph is among them.
            let clients = self.clients.greeted();
            for client in clients.iter().filter(|client| client.wants.lock().connection_graph) {
                client.tell(&ServerOp::ConnectionGraphUpdate(&update));
            }
            *former = now;
        }
    }

    /// Sends a client the whole connection graph; changes follow from now on.
    pub(crate) fn begin_connection_graph(&self, client: &Client) {
        let graph = self.connection_graph.lock();
        client.wants.lock().connection_graph = true;
        let all = graph.since(&ConnectionGraph::default()).unwrap_or_default();
        client.tell(&ServerOp::ConnectionGraphUpdate(&all));
    }

    /// Subscribes a client, which has `others` other subscriptions, to a channel; the error is a
    /// message for users.
    pub(crate) fn subscribe(
        &self,
        channel: u32,
        client: &Arc<Client>,
        subscription: u32,
        max_rate_hz: Option<f64>,
        others: usize,
    ) -> Result<(), String> {
        let graph = self.graph();
        let catalogue = self.catalogue.lock();
        let found = catalogue.channel(channel);
        let Some((found, hash)) = found else {
            return Err(format!("there is no channel {channel}: its topic may have disappeared"));
        };
        let identity = TypeIdentity { name: found.schema_name.clone(), hash };
        let listener = Listener { client: client.clone(), subscription };
        client.outbox.open(subscription, max_rate_hz, Instant::now());
        let mut feeds = self.feeds.lock();
        let added = feeds.add(channel, &found.topic, identity, listener, others, &graph);
        added.map_err(|error| {
            client.outbox.close_subscription(subscription);
            format!("{} cannot be subscribed to: {error}", found.topic)
        })
    }

    pub(crate) fn unsubscribe(&self, channel: u32, client: &Client, subscription: u32) {
        self.feeds.lock().remove(channel, client.id, subscription);
        client.outbox.close_subscription(subscription);
    }

    pub(crate) fn service(&self, id: u32) -> Option<Arc<Service>> {
        self.catalogue.lock().service(id)
    }

    /// Forgets a client that has left.
    pub(crate) fn leave(&self, client: &Client) {
        self.clients.leave(client);
        self.listen_as_needed(&self.graph());
        if self.clients.count() == 0 {
            self.calls.forget_all();
            self.parameters.forget_all();
        }
    }

    /// Listens to /clock and /parameter_events while a client needs them.
    pub(crate) fn listen_as_needed(&self, graph: &GraphSnapshot) {
        let clients = self.clients.all();
        let wants_parameters =
            clients.iter().any(|client| !client.wants.lock().parameters.is_empty());
        let has_clock = clock::is_published(graph, self.own());
        let mut listening = self.listening.lock();
        let changed = listening.has_clock != has_clock;
        listening.has_clock = has_clock;
        let mut failures = Vec::new();
        if !has_clock || clients.is_empty() {
            listening.clock = None;
            self.time.forget();
        } else if listening.clock.is_none() {
            match clock::listen(&self.node, &self.time, &self.clients) {
                Ok(subscription) => listening.clock = Some(subscription),
                Err(error) => failures.push(error.to_string()),
            }
        }
        if !wants_parameters {
            listening.parameter_events = None;
        } else if listening.parameter_events.is_none() {
            match parameters::listen(&self.node, &self.clients) {
                Ok(subscription) => listening.parameter_events = Some(subscription),
                Err(error) => failures.push(error.to_string()),
            }
        }
        drop(listening);
        for client in clients.iter().filter(|client| client.is_greeted.load(Ordering::Relaxed)) {
            if changed {
                self.tell_server_info(client);
            }
            failures.iter().for_each(|failure| client.status(Level::Error, failure));
        }
    }
}

fn ambiguity(topic: &str, types: &[String]) -> String {
    format!(
        "{topic} is used with several types, {}: each type has its own channel, and one of the \
         types is a mistake; `feros topic info -v {topic}` shows which node uses which type",
        types.join(" and ")
    )
}

/// Reports the topics with an unknown type in one status, since there may be many.
fn tell_unknown(client: &Client, channels: &[Channel]) {
    let unknown: Vec<&Channel> =
        channels.iter().filter(|channel| channel.schema_encoding.is_empty()).collect();
    let Some(first) = unknown.first() else { return };
    let others = match unknown.len() - 1 {
        0 => String::new(),
        count => format!(" and of {count} other topics"),
    };
    let message = format!(
        "the type of {} ({}){others} is unknown, and no node provides its definition: name the \
         folder of the definition with --interfaces or FEROS_INTERFACES",
        first.topic, first.schema_name
    );
    client.warn(&format!("schema:{}", first.topic), &message);
}

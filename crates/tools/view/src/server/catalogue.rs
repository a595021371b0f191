//! The topics and services that the server announces to clients: one channel for each topic and
//! type, with the definition of the type.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_engine::{EndpointKind, Gid, GraphSnapshot, TypeHash};
use feros_interface::InterfaceSet;
use feros_message::Schema;

use crate::protocol::{Channel, Service, ServiceSchema};

/// The time after which the server looks again for a missing definition.
const RETRY: Duration = Duration::from_secs(30);
/// The limit on definitions that are kept.
const MAX_SCHEMAS: usize = 4096;

/// All topics and services that clients can use.
pub(crate) struct Catalogue {
    interfaces: Arc<InterfaceSet>,
    /// Whether the view asks other nodes for unknown types.
    looks_for_types: bool,
    /// The topics, by name and type.
    topics: BTreeMap<(String, String), Topic>,
    /// The services, by name and type.
    services: BTreeMap<(String, String), Option<Arc<Service>>>,
    schemas: HashMap<TypeKey, Known>,
    next_id: u32,
}

/// A type's name, and its hash if it is known.
pub(crate) type TypeKey = (String, Option<TypeHash>);

struct Topic {
    hash: Option<TypeHash>,
    /// `None` during the lookup of the topic's type.
    channel: Option<Arc<Channel>>,
}

enum Known {
    Schema(Schema),
    /// The lookup is running.
    Asked,
    /// No definition was found.
    Unknown(Instant),
}

/// The changes to report to clients.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    pub(crate) channels: Vec<Arc<Channel>>,
    pub(crate) removed_channels: Vec<Arc<Channel>>,
    pub(crate) services: Vec<Arc<Service>>,
    pub(crate) removed_services: Vec<Arc<Service>>,
    /// Types to look up, each with a topic of the type.
    pub(crate) lookups: Vec<(String, TypeKey)>,
}

impl Catalogue {
    pub(crate) fn new(interfaces: Arc<InterfaceSet>, looks_for_types: bool) -> Self {
        Self {
            interfaces,
            looks_for_types,
            topics: BTreeMap::new(),
            services: BTreeMap::new(),
            schemas: HashMap::new(),
            next_id: 1,
        }
    }

    /// Returns all channels.
    pub(crate) fn channels(&self) -> Vec<Arc<Channel>> {
        self.topics.values().filter_map(|topic| topic.channel.clone()).collect()
    }

    /// Returns all services.
    pub(crate) fn services(&self) -> Vec<Arc<Service>> {
        self.services.values().flatten().cloned().collect()
    }

    /// Returns a channel, and the hash of its type if the hash is known.
    pub(crate) fn channel(&self, id: u32) -> Option<(Arc<Channel>, Option<TypeHash>)> {
        let is_it = |topic: &&Topic| topic.channel.as_ref().is_some_and(|it| it.id == id);
        let topic = self.topics.values().find(is_it)?;
        Some((topic.channel.clone()?, topic.hash))
    }

    pub(crate) fn service(&self, id: u32) -> Option<Arc<Service>> {
        self.services.values().flatten().find(|service| service.id == id).cloned()
    }

    /// Returns the topics with several types, and their types.
    pub(crate) fn ambiguous(&self) -> Vec<(String, Vec<String>)> {
        let mut types: BTreeMap<&String, Vec<String>> = BTreeMap::new();
        for (topic, type_name) in self.topics.keys() {
            types.entry(topic).or_default().push(type_name.clone());
        }
        let several = types.into_iter().filter(|(_, types)| types.len() > 1);
        several.map(|(topic, types)| (topic.clone(), types)).collect()
    }

    /// Records the result of a lookup.
    pub(crate) fn found(&mut self, key: TypeKey, schema: Option<Schema>, now: Instant) {
        let known = match schema {
            Some(schema) if !schema.text.is_empty() || !schema.encoding.is_empty() => {
                Known::Schema(schema)
            }
            _ => Known::Unknown(now),
        };
        self.schemas.insert(key, known);
    }

    /// Updates the catalogue after a change of the graph. Endpoints of the server's own participant
    /// `own` are left out, since the server is not part of the observed system.
    pub(crate) fn update(&mut self, graph: &GraphSnapshot, own: Gid, now: Instant) -> Changes {
        let mut changes = Changes::default();
        self.update_topics(graph, own, now, &mut changes);
        self.update_services(graph, &mut changes);
        changes
    }

    fn update_topics(
        &mut self,
        graph: &GraphSnapshot,
        own: Gid,
        now: Instant,
        changes: &mut Changes,
    ) {
        let wanted = topics_of(graph, own);
        let gone: Vec<_> =
            self.topics.keys().filter(|key| !wanted.contains_key(*key)).cloned().collect();
        for key in gone {
            let topic = self.topics.remove(&key);
            changes.removed_channels.extend(topic.and_then(|topic| topic.channel));
        }
        for (key, hash) in wanted {
            let former = self.topics.get(&key);
            let has_schema = |channel: &Arc<Channel>| !channel.schema_encoding.is_empty();
            let is_settled = former.is_some_and(|topic| {
                topic.hash == hash && topic.channel.as_ref().is_some_and(has_schema)
            });
            if is_settled {
                continue;
            }
            let type_key = (key.1.clone(), hash);
            let found = self.schema(&type_key, now);
            if let Found::Ask = found {
                changes.lookups.push((key.0.clone(), type_key));
            }
            let former = self.topics.get(&key).and_then(|topic| topic.channel.clone());
            let channel = match found {
                Found::Ask | Found::Later => former,
                Found::Schema(schema) => Some(match former {
                    Some(former) if former.schema == schema.text => former,
                    former => {
                        changes.removed_channels.extend(former);
                        let channel = self.new_channel(&key, schema);
                        changes.channels.push(channel.clone());
                        channel
                    }
                }),
            };
            self.topics.insert(key, Topic { hash, channel });
        }
    }

    fn new_channel(
        &mut self,
        (topic, type_name): &(String, String),
        schema: Schema,
    ) -> Arc<Channel> {
        Arc::new(Channel {
            id: self.take_id(),
            topic: topic.clone(),
            encoding: "cdr",
            schema_name: type_name.clone(),
            schema: schema.text,
            schema_encoding: schema.encoding,
        })
    }

    fn schema(&mut self, key: &TypeKey, now: Instant) -> Found {
        match self.schemas.get(key) {
            Some(Known::Schema(schema)) => return Found::Schema(schema.clone()),
            Some(Known::Asked) => return Found::Later,
            Some(Known::Unknown(since)) if now.duration_since(*since) < RETRY => {
                return Found::Schema(Schema::unknown());
            }
            Some(Known::Unknown(_)) | None => {}
        }
        if self.schemas.len() >= MAX_SCHEMAS {
            self.schemas.retain(|_, known| matches!(known, Known::Asked));
        }
        let hash = key.1.map(|hash| feros_interface::TypeHash(hash.0));
        let (known, found) = match Schema::of_type(&self.interfaces, &key.0, hash) {
            Some(schema) => (Known::Schema(schema.clone()), Found::Schema(schema)),
            None if self.looks_for_types => (Known::Asked, Found::Ask),
            None => (Known::Unknown(now), Found::Schema(Schema::unknown())),
        };
        self.schemas.insert(key.clone(), known);
        found
    }

    fn update_services(&mut self, graph: &GraphSnapshot, changes: &mut Changes) {
        let is_server =
            |endpoint: &feros_engine::EndpointInfo| endpoint.kind == EndpointKind::Service;
        let wanted: BTreeSet<(String, String)> = graph
            .names_and_types(is_server)
            .into_iter()
            .flat_map(|(name, types)| types.into_iter().map(move |ty| (name.clone(), ty)))
            .collect();
        let gone: Vec<_> =
            self.services.keys().filter(|key| !wanted.contains(*key)).cloned().collect();
        for key in gone {
            changes.removed_services.extend(self.services.remove(&key).flatten());
        }
        for key in wanted {
            if self.services.contains_key(&key) {
                continue;
            }
            // A client gets its types from the server, so it could not call a service whose type
            // the server does not know.
            let service = self.new_service(&key).map(Arc::new);
            changes.services.extend(service.clone());
            self.services.insert(key, service);
        }
    }

    fn new_service(&mut self, (name, service_type): &(String, String)) -> Option<Service> {
        let schema = |part: &str| {
            let schema_name = format!("{service_type}_{part}");
            let schema = Schema::of_type(&self.interfaces, &schema_name, None)?;
            Some(ServiceSchema {
                encoding: "cdr",
                schema_name,
                schema_encoding: schema.encoding,
                schema: schema.text,
            })
        };
        let (request, response) = (schema("Request")?, schema("Response")?);
        Some(Service {
            id: self.take_id(),
            name: name.clone(),
            service_type: service_type.clone(),
            request,
            response,
        })
    }

    fn take_id(&mut self) -> u32 {
        let id = self.next_id;
        self.next_id = self.next_id.wrapping_add(1).max(1);
        id
    }
}

enum Found {
    Schema(Schema),
    Ask,
    Later,
}

/// Returns the topics with their types, each with the hash that all its publishers announce.
fn topics_of(graph: &GraphSnapshot, own: Gid) -> BTreeMap<(String, String), Option<TypeHash>> {
    let mut topics: BTreeMap<(String, String), BTreeSet<[u8; 32]>> = BTreeMap::new();
    for endpoint in graph.endpoints.iter().filter(|endpoint| endpoint.is_ros) {
        let is_own = endpoint.gid.is_of_session_of(&own);
        let is_publisher = match endpoint.kind {
            EndpointKind::Publisher => true,
            EndpointKind::Subscription if !is_own => false,
            _ => continue,
        };
        let hashes = topics.entry((endpoint.name.clone(), endpoint.type_name.clone())).or_default();
        if let Some(hash) = endpoint.type_hash.filter(|_| is_publisher) {
            hashes.insert(hash.0);
        }
    }
    let agreed = |hashes: BTreeSet<[u8; 32]>| {
        // If publishers have different hashes, only the type's name counts.
        let one = hashes.len() == 1;
        hashes.into_iter().next().filter(|_| one).map(TypeHash)
    };
    topics.into_iter().map(|(key, hashes)| (key, agreed(hashes))).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use feros_engine::{EndpointInfo, NodeName};

    use super::*;

    const OWN: Gid = Gid([9; 16]);

    fn endpoint(kind: EndpointKind, name: &str, type_name: &str) -> EndpointInfo {
        EndpointInfo::of_node(kind, name, type_name, NodeName::new("/", "n").unwrap())
    }

    fn graph(endpoints: Vec<EndpointInfo>) -> GraphSnapshot {
        GraphSnapshot { endpoints, ..GraphSnapshot::default() }
    }

    fn catalogue(looks_for_types: bool) -> Catalogue {
        Catalogue::new(Arc::new(feros_interface::shipped().clone()), looks_for_types)
    }

    #[test]
    fn topics_have_a_channel_for_each_type() {
        let mut catalogue = catalogue(false);
        let now = Instant::now();
        let mut watching = endpoint(EndpointKind::Subscription, "/own", "std_msgs/msg/Bool");
        watching.gid = OWN;
        let seen = graph(vec![
            endpoint(EndpointKind::Publisher, "/a", "std_msgs/msg/String"),
            endpoint(EndpointKind::Subscription, "/a", "std_msgs/msg/Bool"),
            endpoint(EndpointKind::Service, "/s", "std_srvs/srv/SetBool"),
            endpoint(EndpointKind::Service, "/unknown", "none/srv/None"),
            endpoint(EndpointKind::Client, "/c", "std_srvs/srv/SetBool"),
            watching,
        ]);
        let changes = catalogue.update(&seen, OWN, now);
        let names: Vec<_> = changes.channels.iter().map(|c| (&*c.topic, &*c.schema_name)).collect();
        assert_eq!(names, [("/a", "std_msgs/msg/Bool"), ("/a", "std_msgs/msg/String")]);
        assert_eq!(changes.channels[1].schema, "string data\n");
        assert_eq!(changes.services.len(), 1);
        assert_eq!(changes.services[0].request.schema, "bool data\n");
        assert_eq!(catalogue.ambiguous().len(), 1);
        let again = catalogue.update(&seen, OWN, now);
        assert!(again.channels.is_empty() && again.services.is_empty());
        let id = changes.channels[1].id;
        assert_eq!(catalogue.channel(id).unwrap().0.topic, "/a");
        let gone = catalogue.update(&graph(Vec::new()), OWN, now);
        assert_eq!((gone.removed_channels.len(), gone.removed_services.len()), (2, 1));
        assert!(catalogue.channel(id).is_none());
        let back = catalogue.update(&seen, OWN, now);
        assert!(back.channels.iter().all(|channel| channel.id > id), "ids are not used again");
    }

    #[test]
    fn unknown_types_are_looked_for_once_and_again_later() {
        let mut catalogue = catalogue(true);
        let now = Instant::now();
        let seen = graph(vec![endpoint(EndpointKind::Publisher, "/a", "mine/msg/Mine")]);
        let changes = catalogue.update(&seen, OWN, now);
        assert!(changes.channels.is_empty(), "not before the lookup of its type");
        let [(topic, key)] = &changes.lookups[..] else { panic!("one lookup") };
        assert_eq!(topic, "/a");
        assert!(catalogue.update(&seen, OWN, now).lookups.is_empty());
        catalogue.found(key.clone(), None, now);
        let changes = catalogue.update(&seen, OWN, now);
        assert_eq!((&*changes.channels[0].schema, &*changes.channels[0].schema_encoding), ("", ""));
        let later = now + RETRY;
        let again = catalogue.update(&seen, OWN, later);
        assert_eq!(again.lookups.len(), 1);
        assert_eq!(catalogue.channels().len(), 1, "it stays during the lookup");
        let schema = Schema { encoding: "ros2msg".into(), text: "int8 a\n".into() };
        catalogue.found(key.clone(), Some(schema), later);
        let changes = catalogue.update(&seen, OWN, later);
        assert_eq!(changes.removed_channels.len(), 1);
        assert_eq!(changes.channels[0].schema, "int8 a\n");
    }

    #[test]
    fn another_definition_of_a_known_name_is_not_shown_as_the_known_one() {
        let mut catalogue = catalogue(false);
        let mut publisher = endpoint(EndpointKind::Publisher, "/a", "std_msgs/msg/String");
        publisher.type_hash = Some(TypeHash([1; 32]));
        let changes = catalogue.update(&graph(vec![publisher]), OWN, Instant::now());
        assert_eq!(changes.channels[0].schema, "");
    }
}

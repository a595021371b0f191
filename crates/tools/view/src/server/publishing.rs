//! Topics that a client publishes.

use std::collections::HashMap;

use feros::{Durability, GenericPublisher, Node, PublisherOptions, QosProfile, TypeIdentity};
use feros_engine::{EndpointKind, GraphSnapshot, TypeHash};
use feros_interface::{InterfaceSet, TypeName};

use crate::protocol::ClientChannel;

/// The limit on topics that a client publishes.
const MAX_CHANNELS: usize = 64;
/// The limit on messages that wait while a publisher's thread sends earlier ones.
const QUEUE_DEPTH: usize = 8;

/// The reason why a client cannot publish.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PublishingError {
    #[error(
        "channel {id} ({topic}) has the encoding `{encoding}`, which is not supported: use `cdr`"
    )]
    Encoding { id: u32, topic: String, encoding: String },
    #[error("channel {id} has type `{name}`: write the type as package/msg/Name")]
    Type { id: u32, name: String },
    #[error(
        "a client can publish at most {MAX_CHANNELS} topics: unadvertise other topics before \
         {topic}"
    )]
    Many { topic: String },
    #[error("channel {id} is already advertised as {topic}: unadvertise it first")]
    Taken { id: u32, topic: String },
    #[error("this client has not advertised channel {id}: its message was not published")]
    Unknown { id: u32 },
    #[error(transparent)]
    Create(#[from] feros::CreateError),
    #[error(transparent)]
    Publish(#[from] feros::PublishError),
}

/// The publishers of one client, by the numbers that the client gave.
#[derive(Default)]
pub(crate) struct Publishing {
    by_channel: HashMap<u32, GenericPublisher>,
}

impl Publishing {
    pub(crate) fn advertise(
        &mut self,
        node: &Node,
        interfaces: &InterfaceSet,
        graph: &GraphSnapshot,
        channel: &ClientChannel,
    ) -> Result<(), PublishingError> {
        let ClientChannel { id, topic, encoding, schema_name } = channel;
        let id = *id;
        if let Some(known) = self.by_channel.get(&id) {
            return Err(PublishingError::Taken { id, topic: known.topic_name().to_owned() });
        }
        if self.by_channel.len() >= MAX_CHANNELS {
            return Err(PublishingError::Many { topic: start(topic) });
        }
        if encoding != "cdr" {
            let (topic, encoding) = (start(topic), start(encoding));
            return Err(PublishingError::Encoding { id, topic, encoding });
        }
        let unknown = || PublishingError::Type { id, name: start(schema_name) };
        let name = type_name(schema_name).ok_or_else(unknown)?;
        let hash = type_hash(graph, interfaces, topic, &name);
        let identity = TypeIdentity { name: name.to_string(), hash };
        let options = PublisherOptions::from(qos(graph, topic)).asynchronous(QUEUE_DEPTH);
        let publisher = node.create_generic_publisher(topic, &identity, options)?;
        self.by_channel.insert(id, publisher);
        Ok(())
    }

    pub(crate) fn unadvertise(&mut self, id: u32) -> Result<(), PublishingError> {
        match self.by_channel.remove(&id) {
            Some(_) => Ok(()),
            None => Err(PublishingError::Unknown { id }),
        }
    }

    pub(crate) fn publish(&self, id: u32, message: &[u8]) -> Result<(), PublishingError> {
        let publisher = self.by_channel.get(&id).ok_or(PublishingError::Unknown { id })?;
        Ok(publisher.publish_serialized(message)?)
    }
}

/// Reads a type's name: `package/msg/Name`, or `package/Name` as in ROS 1.
fn type_name(text: &str) -> Option<TypeName> {
    let full = match text.split('/').collect::<Vec<_>>()[..] {
        [package, name] => format!("{package}/msg/{name}"),
        _ => text.to_owned(),
    };
    full.parse().ok()
}

/// Returns the hash that other endpoints of the topic use, or the hash of the known type.
fn type_hash(
    graph: &GraphSnapshot,
    interfaces: &InterfaceSet,
    topic: &str,
    name: &TypeName,
) -> Option<TypeHash> {
    let type_name = name.to_string();
    let mut others = graph.endpoints.iter().filter(|endpoint| {
        matches!(endpoint.kind, EndpointKind::Publisher | EndpointKind::Subscription)
            && endpoint.name == topic
            && endpoint.type_name == type_name
    });
    let of_others = others.find_map(|endpoint| endpoint.type_hash);
    of_others.or_else(|| interfaces.type_hash(name).ok().map(|hash| TypeHash(hash.0)))
}

/// Returns a profile that matches every subscription: reliable, and transient local if a
/// subscription asks for that.
fn qos(graph: &GraphSnapshot, topic: &str) -> QosProfile {
    let mut subscriptions = graph.endpoints_of(EndpointKind::Subscription, topic);
    let qos = QosProfile::keep_last(10).reliable();
    if subscriptions.any(|other| other.qos.durability == Durability::TransientLocal) {
        qos.transient_local()
    } else {
        qos
    }
}

/// Returns the beginning of a client's text.
fn start(text: &str) -> String {
    text.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_may_have_the_form_of_ros_1() {
        let name = |text| type_name(text).map(|name| name.to_string());
        assert_eq!(name("std_msgs/String").as_deref(), Some("std_msgs/msg/String"));
        assert_eq!(name("std_msgs/msg/String").as_deref(), Some("std_msgs/msg/String"));
        assert_eq!((name("String"), name("a/b/c/d"), name("")), (None, None, None));
    }
}

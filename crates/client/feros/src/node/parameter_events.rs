//! Publishes changes of parameters on `/parameter_events`, as `rcl_interfaces/msg/ParameterEvent`.

use std::sync::Arc;

use feros_engine::{CreateEndpointError, NodeId, Publisher, PublisherOptions, QosProfile, Session};
use feros_executor::Time;
use feros_msgs::rcl_interfaces::msg::{Parameter as ParameterMessage, ParameterEvent};
use feros_parameter::{Change, ChangeKind, NamedValue};

use crate::messages::identity::TypeIdentity;
use crate::messages::serialize::serialize_into;
use crate::publish_error::PublishError;

pub(crate) const TOPIC: &str = "/parameter_events";

/// Makes the publisher of one node's events.
pub(super) fn publisher(
    session: &Arc<dyn Session>,
    node: NodeId,
    topic: &str,
) -> Result<Arc<dyn Publisher>, CreateEndpointError> {
    let identity = TypeIdentity::of::<ParameterEvent>();
    session.create_publisher(PublisherOptions {
        type_hash: identity.hash,
        qos: QosProfile::parameter_events(),
        ..PublisherOptions::new(node, topic, &identity.name)
    })
}

/// Converts a parameter into a message.
pub(crate) fn to_message((name, value): NamedValue) -> ParameterMessage {
    ParameterMessage { name, value: value.into() }
}

pub(super) fn publish(
    publisher: &dyn Publisher,
    node: &str,
    now: Time,
    change: &Change,
) -> Result<(), PublishError> {
    let of = |wanted: ChangeKind| {
        let parameters =
            change.parameters.iter().zip(&change.kinds).filter(|(_, kind)| **kind == wanted);
        parameters.map(|(parameter, _)| to_message(parameter.clone())).collect::<Vec<_>>()
    };
    let event = ParameterEvent {
        stamp: now.into(),
        node: node.to_owned(),
        new_parameters: of(ChangeKind::New),
        changed_parameters: of(ChangeKind::Changed),
        deleted_parameters: of(ChangeKind::Deleted),
    };
    serialize_into(&event, TOPIC, |size, fill| publisher.publish(size, fill).map(drop))
}

//! `/parameter_events`: what happened to parameters, as `rcl_interfaces/msg/ParameterEvent`.

use std::sync::Arc;

use feros_executor::Time;
use feros_msgs::builtin_interfaces::msg::Time as TimeMessage;
use feros_msgs::rcl_interfaces::msg::{Parameter as ParameterMessage, ParameterEvent};
use feros_rmw::{
    CreateEndpointError, NodeId, PublishMode, Publisher, PublisherOptions, QosProfile, Session,
};

use super::callbacks::NamedValue;
use super::changes::{Change, Kind};
use crate::identity::TypeIdentity;
use crate::serialize::serialize_into;

pub(super) const TOPIC: &str = "/parameter_events";

/// The publisher of one node's events.
pub(super) fn publisher(
    session: &Arc<dyn Session>,
    node: NodeId,
    topic: &str,
) -> Result<Arc<dyn Publisher>, CreateEndpointError> {
    let identity = TypeIdentity::of::<ParameterEvent>();
    session.create_publisher(PublisherOptions {
        node,
        topic,
        type_name: &identity.name,
        type_hash: identity.hash,
        qos: QosProfile::parameter_events(),
        announcement: "",
        mode: PublishMode::Synchronous,
        on_event: None,
    })
}

/// A parameter as a message.
pub(super) fn to_message((name, value): NamedValue) -> ParameterMessage {
    ParameterMessage { name, value: value.into() }
}

pub(super) fn publish(publisher: &dyn Publisher, node: &str, now: Time, change: &Change) {
    let of = |wanted: Kind| {
        let parameters =
            change.parameters.iter().zip(&change.kinds).filter(|(_, kind)| **kind == wanted);
        parameters.map(|(parameter, _)| to_message(parameter.clone())).collect::<Vec<_>>()
    };
    let since = now.saturating_since(Time::ZERO);
    let event = ParameterEvent {
        stamp: TimeMessage {
            sec: i32::try_from(since.as_secs()).unwrap_or(i32::MAX),
            nanosec: since.subsec_nanos(),
        },
        node: node.to_owned(),
        new_parameters: of(Kind::New),
        changed_parameters: of(Kind::Changed),
        deleted_parameters: of(Kind::Deleted),
    };
    if let Err(error) =
        serialize_into(&event, TOPIC, |size, fill| publisher.publish(size, fill).map(drop))
    {
        tracing::error!("{node}: a change of parameters was not published: {error}");
    }
}

//! Introspection of an action: a client or a server that turns it on publishes the events of the
//! action's three services, as in `rcl_action`.

use std::sync::Arc;

use feros_engine::QosProfile;
use feros_message::{Action, Service};
use feros_msgs::action_msgs::srv::CancelGoal;

use super::names::ActionNames;
use super::serialized::Serialized;
use crate::clock::Clock;
use crate::create_error::CreateError;
use crate::node::Node;
use crate::services::introspection::{SerializedEvents, ServiceEvents, ServiceIntrospectionState};

/// The events of one service; `None` if the type is known only at run time.
pub(super) type Events = Option<Arc<dyn SerializedEvents>>;

/// The events of the three services of one client or server.
#[derive(Clone, Default)]
pub struct ActionEvents {
    pub(super) goals: Events,
    pub(super) cancels: Events,
    pub(super) results: Events,
}

impl ActionEvents {
    /// Makes the events for a generated action type, with introspection turned off.
    pub(super) fn of<A: Action>() -> Self {
        Self {
            goals: Some(Arc::new(ServiceEvents::<A::SendGoal>::default())),
            cancels: Some(Arc::new(ServiceEvents::<CancelGoal>::default())),
            results: Some(Arc::new(ServiceEvents::<A::GetResult>::default())),
        }
    }

    /// Turns the events of all three services on or off.
    pub(super) fn configure(
        &self,
        node: &Node,
        action: &str,
        clock: &Clock,
        qos: QosProfile,
        state: ServiceIntrospectionState,
    ) -> Result<(), CreateError> {
        let names = ActionNames::of(action);
        let services = [
            (&self.goals, &names.send_goal),
            (&self.cancels, &names.cancel_goal),
            (&self.results, &names.get_result),
        ];
        services.into_iter().try_for_each(|(events, service)| match events {
            Some(events) => events.configure(node, service, clock, qos, state),
            None => Ok(()),
        })
    }
}

/// The facts about the types of an action that its clients and servers need.
pub trait ActionTypes {
    #[doc(hidden)]
    fn events() -> ActionEvents;

    /// Makes a node describe the action type and its services to other nodes. The endpoints of the
    /// two topics add the descriptions of their own types.
    #[doc(hidden)]
    fn note_types(node: &Node);
}

impl<A: Action> ActionTypes for A {
    fn events() -> ActionEvents {
        ActionEvents::of::<A>()
    }

    fn note_types(node: &Node) {
        let types = [
            A::TYPE_DESCRIPTION,
            <A::SendGoal as Service>::TYPE_DESCRIPTION,
            <CancelGoal as Service>::TYPE_DESCRIPTION,
            <A::GetResult as Service>::TYPE_DESCRIPTION,
        ];
        types.into_iter().for_each(|description| node.note_type(description));
    }
}

impl ActionTypes for Serialized {
    fn events() -> ActionEvents {
        ActionEvents::default()
    }

    fn note_types(_: &Node) {}
}

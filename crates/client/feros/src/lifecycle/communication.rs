//! The services through which other nodes manage a node, and the topic on which the node publishes
//! its transitions, as in `rcl_lifecycle`.

use feros_engine::QosProfile;
use feros_msgs::lifecycle_msgs::msg::{State as StateMessage, TransitionEvent};
use feros_msgs::lifecycle_msgs::srv::{
    ChangeState, ChangeState_Request, ChangeState_Response, GetAvailableStates,
    GetAvailableStates_Request, GetAvailableStates_Response, GetAvailableTransitions,
    GetAvailableTransitions_Request, GetAvailableTransitions_Response, GetState, GetState_Request,
    GetState_Response,
};

use crate::callbacks::group::CallbackGroupKind;
use crate::create_error::CreateError;
use crate::lifecycle::node::LifecycleNode;
use crate::lifecycle_states::state::State;
use crate::lifecycle_states::transition::{Transition, TransitionKey};
use crate::services::service::{Service, ServiceOptions};

/// Keeps the services for other nodes running until it is dropped.
struct Services {
    _change_state: Service<ChangeState>,
    _get_state: Service<GetState>,
    _get_available_states: Service<GetAvailableStates>,
    _get_available_transitions: Service<GetAvailableTransitions>,
    _get_transition_graph: Service<GetAvailableTransitions>,
}

/// Lets other nodes manage this node. With `local_requests_only`, requests from other hosts are
/// ignored.
pub(super) fn start(node: &LifecycleNode, local_requests_only: bool) -> Result<(), CreateError> {
    let options = || ServiceOptions {
        replies_on_demand: true,
        local_requests_only,
        ..ServiceOptions::default()
    };
    // Queries only read the state. Their services have a separate group, so that they may run
    // during the callback of a transition.
    let questions = node.create_callback_group(CallbackGroupKind::MutuallyExclusive);
    let question = || options().callback_group(&questions);
    let (changed, asked, available) = (node.downgrade(), node.downgrade(), node.downgrade());
    let services = Services {
        _change_state: node.create_service_with(
            "~/change_state",
            options(),
            move |request: ChangeState_Request| ChangeState_Response {
                success: changed.upgrade().is_some_and(|node| change_state(&node, &request)),
            },
        )?,
        _get_state: node.create_service_with(
            "~/get_state",
            question(),
            move |_: GetState_Request| {
                let state = asked.upgrade().map_or(State::Unknown, |node| node.current_state());
                GetState_Response { current_state: state.into() }
            },
        )?,
        _get_available_states: node.create_service_with(
            "~/get_available_states",
            question(),
            |_: GetAvailableStates_Request| GetAvailableStates_Response {
                available_states: State::ALL.into_iter().map(StateMessage::from).collect(),
            },
        )?,
        _get_available_transitions: node.create_service_with(
            "~/get_available_transitions",
            question(),
            move |_: GetAvailableTransitions_Request| {
                let node = available.upgrade();
                described(node.into_iter().flat_map(|node| node.available_transitions()))
            },
        )?,
        _get_transition_graph: node.create_service_with(
            "~/get_transition_graph",
            question(),
            |_: GetAvailableTransitions_Request| described(Transition::ALL),
        )?,
    };
    let events =
        node.create_publisher::<TransitionEvent>("~/transition_event", QosProfile::keep_last(10))?;
    node.communicate(events, Box::new(services));
    Ok(())
}

fn change_state(node: &LifecycleNode, request: &ChangeState_Request) -> bool {
    let changed = node.trigger_transition(TransitionKey::from(&request.transition));
    if let Err(error) = &changed {
        node.refuse(error);
    }
    changed.is_ok()
}

fn described(
    transitions: impl IntoIterator<Item = Transition>,
) -> GetAvailableTransitions_Response {
    GetAvailableTransitions_Response {
        available_transitions: transitions.into_iter().map(Into::into).collect(),
    }
}

//! The forms in which a client handles goals, feedback and results: as generated types, or as
//! serialized messages.

use std::sync::Arc;

use feros_message::{Action, DecodeError, GoalId, Service, from_bytes, goal_id_of, set_goal_id};

use super::call_end::{Call, CallEnd};
use super::feedback::FeedbackRouter;
use crate::action::events::ActionTypes;
use crate::action::serialized::Serialized;
use crate::create_error::CreateError;
use crate::messages::forms::SerializedMessage;
use crate::messages::identity::TypeIdentity;
use crate::node::Node;
use crate::services::client::CallError;
use crate::topics::subscription::{GenericSubscription, SubscriptionOptions};

/// The forms of an action that a client can handle: every generated [`Action`] type, and
/// [`Serialized`].
pub trait ActionForm: ActionTypes + Send + Sync + Sized + 'static {
    /// The type of goals.
    type Goal;

    /// The type of results.
    type Result;

    /// The type of feedback.
    type Feedback: Send + 'static;

    #[doc(hidden)]
    type Request;

    #[doc(hidden)]
    fn request(id: GoalId, goal: Self::Goal) -> Self::Request;

    #[doc(hidden)]
    fn send_goal(service: &CallEnd, request: &Self::Request) -> Result<Call, CallError>;

    #[doc(hidden)]
    fn open_result(response: SerializedMessage) -> Result<(i8, Self::Result), DecodeError>;

    #[doc(hidden)]
    fn subscribe(
        node: &Node,
        topic: &str,
        identity: &TypeIdentity,
        options: SubscriptionOptions,
        router: Arc<FeedbackRouter<Self::Feedback>>,
    ) -> Result<GenericSubscription, CreateError>;
}

impl<A: Action> ActionForm for A {
    type Goal = A::Goal;
    type Result = A::Result;
    type Feedback = A::Feedback;
    type Request = <A::SendGoal as Service>::Request;

    fn request(id: GoalId, goal: A::Goal) -> Self::Request {
        A::send_goal_request(id, goal)
    }

    fn send_goal(service: &CallEnd, request: &Self::Request) -> Result<Call, CallError> {
        service.call(request)
    }

    fn open_result(response: SerializedMessage) -> Result<(i8, A::Result), DecodeError> {
        Ok(A::open_get_result_response(response.decode()?))
    }

    fn subscribe(
        node: &Node,
        topic: &str,
        _: &TypeIdentity,
        options: SubscriptionOptions,
        router: Arc<FeedbackRouter<A::Feedback>>,
    ) -> Result<GenericSubscription, CreateError> {
        let deliver = move |message: A::FeedbackMessage| {
            let (goal, feedback) = A::open_feedback_message(message);
            router.deliver(&goal, feedback);
        };
        Ok(node
            .create_subscription::<A::FeedbackMessage, _>(topic, options, deliver)?
            .into_untyped())
    }
}

impl ActionForm for Serialized {
    type Goal = Vec<u8>;
    type Result = SerializedMessage;
    type Feedback = SerializedMessage;
    type Request = Vec<u8>;

    fn request(id: GoalId, mut goal: Vec<u8>) -> Vec<u8> {
        // If the message is too short for an id, sending it fails later.
        set_goal_id(&mut goal, id);
        goal
    }

    fn send_goal(service: &CallEnd, request: &Vec<u8>) -> Result<Call, CallError> {
        service.call_serialized(request)
    }

    fn open_result(response: SerializedMessage) -> Result<(i8, SerializedMessage), DecodeError> {
        Ok((from_bytes::<i8>(&response)?, response))
    }

    fn subscribe(
        node: &Node,
        topic: &str,
        identity: &TypeIdentity,
        options: SubscriptionOptions,
        router: Arc<FeedbackRouter<SerializedMessage>>,
    ) -> Result<GenericSubscription, CreateError> {
        let deliver = move |message: SerializedMessage, _| {
            // A message that is too short for an id belongs to no goal.
            if let Some(goal) = goal_id_of(&message) {
                router.deliver(&goal, message);
            }
        };
        node.create_generic_subscription(topic, identity, options, deliver)
    }
}

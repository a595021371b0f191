//! The forms in which a client handles goals, feedback and results: as generated types, or as
//! serialized messages.

use std::sync::Arc;

use feros_message::{Action, DecodeError, GoalId, from_bytes, goal_id_of, set_goal_id};

use super::feedback::FeedbackRouter;
use crate::client::{CallError, GenericClient, SerializedResponseFuture};
use crate::create_error::CreateError;
use crate::identity::TypeIdentity;
use crate::message_forms::SerializedMessage;
use crate::node::Node;
use crate::subscription::{GenericSubscription, SubscriptionOptions};

/// What a client handles: every generated [`Action`], and [`Serialized`].
pub trait ActionForm: Send + Sync + Sized + 'static {
    /// What is asked for.
    type Goal;

    /// What comes out at the end.
    type Result;

    /// What is reported on the way.
    type Feedback: Send + 'static;

    #[doc(hidden)]
    fn send_goal(
        client: &GenericClient,
        id: GoalId,
        goal: Self::Goal,
    ) -> Result<SerializedResponseFuture, CallError>;

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

    fn send_goal(
        client: &GenericClient,
        id: GoalId,
        goal: A::Goal,
    ) -> Result<SerializedResponseFuture, CallError> {
        client.call_until_servers_leave(&A::send_goal_request(id, goal))
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

/// Goals, feedback and results as the serialized messages that travel, each with its 4-byte header,
/// for types that are known only at run time: `A_SendGoal_Request`, whose goal id the client fills
/// in, `A_FeedbackMessage` and `A_GetResult_Response`.
#[derive(Debug, Clone, Copy)]
pub enum Serialized {}

impl ActionForm for Serialized {
    type Goal = Vec<u8>;
    type Result = SerializedMessage;
    type Feedback = SerializedMessage;

    fn send_goal(
        client: &GenericClient,
        id: GoalId,
        mut goal: Vec<u8>,
    ) -> Result<SerializedResponseFuture, CallError> {
        // What is too short for an id is refused where it is sent.
        set_goal_id(&mut goal, id);
        client.call_serialized_until_servers_leave(&goal)
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
            // What is too short for an id is of no goal.
            if let Some(goal) = goal_id_of(&message) {
                router.deliver(&goal, message);
            }
        };
        node.create_generic_subscription(topic, identity, options, deliver)
    }
}

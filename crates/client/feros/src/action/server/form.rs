//! The forms in which a server handles goals, feedback and results: as generated types, or as
//! serialized messages.

use std::fmt::Debug;

use feros_engine::{Payload, QosProfile};
use feros_executor::Time;
use feros_message::{Action, DecodeError, EncodeError, GoalId, from_bytes, set_goal_id, to_vec};
use feros_msgs::unique_identifier_msgs::msg::UUID;

use crate::action::events::ActionTypes;
use crate::action::serialized::Serialized;
use crate::action::state::GoalStatus;
use crate::action::to_message;
use crate::create_error::CreateError;
use crate::messages::forms::SerializedMessage;
use crate::messages::identity::TypeIdentity;
use crate::messages::serialize::header_fault;
use crate::node::Node;
use crate::publish_error::PublishError;
use crate::topics::publisher::{GenericPublisher, Publisher};

/// The forms of an action that a server can handle: every generated [`Action`] type, and
/// [`Serialized`].
pub trait ActionServerForm: ActionTypes + Send + Sync + Sized + 'static {
    /// The type of goals.
    type Goal: Debug + Send + Sync + 'static;

    /// The type of results.
    type Result;

    /// The type of feedback.
    type Feedback;

    #[doc(hidden)]
    type FeedbackPublisher: Send + Sync + 'static;

    #[doc(hidden)]
    fn open_goal(request: Payload) -> Result<(GoalId, Self::Goal), DecodeError>;

    /// Serializes the response with which a goal ends.
    #[doc(hidden)]
    fn close_result(status: GoalStatus, result: Self::Result) -> Result<Vec<u8>, Unserializable>;

    #[doc(hidden)]
    fn create_feedback_publisher(
        node: &Node,
        topic: &str,
        identity: &TypeIdentity,
        qos: QosProfile,
    ) -> Result<Self::FeedbackPublisher, CreateError>;

    #[doc(hidden)]
    fn publish_feedback(
        publisher: &Self::FeedbackPublisher,
        id: GoalId,
        feedback: Self::Feedback,
    ) -> Result<(), PublishError>;
}

/// The reason why a result cannot be serialized.
#[derive(Debug)]
pub enum Unserializable {
    /// The result violates its type, for example because it exceeds a bound.
    Encode(EncodeError),
    /// The result was given as bytes, and the bytes are not a serialized message.
    NotSerialized(&'static str),
}

/// Writes the status into a serialized result. The status is the first field after the header.
pub(super) fn set_status(result: &mut [u8], status: GoalStatus) {
    result[4] = status.number().cast_unsigned();
}

/// Serializes the response to a goal, which has the same type in all actions: whether the goal was
/// accepted, and when.
pub(super) fn goal_response(accepted_at: Option<Time>) -> Vec<u8> {
    let stamp = accepted_at.map(to_message).unwrap_or_default();
    let mut response = vec![0, 1, 0, 0, u8::from(accepted_at.is_some()), 0, 0, 0];
    response.extend(stamp.sec.to_le_bytes());
    response.extend(stamp.nanosec.to_le_bytes());
    response
}

impl<A: Action> ActionServerForm for A {
    type Goal = A::Goal;
    type Result = A::Result;
    type Feedback = A::Feedback;
    type FeedbackPublisher = Publisher<A::FeedbackMessage>;

    fn open_goal(request: Payload) -> Result<(GoalId, A::Goal), DecodeError> {
        Ok(A::open_send_goal_request(from_bytes(&request)?))
    }

    fn close_result(status: GoalStatus, result: A::Result) -> Result<Vec<u8>, Unserializable> {
        to_vec(&A::get_result_response(status.number(), result)).map_err(Unserializable::Encode)
    }

    fn create_feedback_publisher(
        node: &Node,
        topic: &str,
        _: &TypeIdentity,
        qos: QosProfile,
    ) -> Result<Self::FeedbackPublisher, CreateError> {
        node.create_publisher(topic, qos)
    }

    fn publish_feedback(
        publisher: &Self::FeedbackPublisher,
        id: GoalId,
        feedback: A::Feedback,
    ) -> Result<(), PublishError> {
        publisher.publish(A::feedback_message(id, feedback))
    }
}

impl ActionServerForm for Serialized {
    type Goal = SerializedMessage;
    type Result = Vec<u8>;
    type Feedback = Vec<u8>;
    type FeedbackPublisher = GenericPublisher;

    fn open_goal(request: Payload) -> Result<(GoalId, SerializedMessage), DecodeError> {
        let id: UUID = from_bytes(&request)?; // the request begins with the id
        Ok((id.uuid, SerializedMessage::new(request)))
    }

    fn close_result(status: GoalStatus, mut result: Vec<u8>) -> Result<Vec<u8>, Unserializable> {
        if let Some(reason) = header_fault(&result) {
            return Err(Unserializable::NotSerialized(reason));
        }
        set_status(&mut result, status);
        Ok(result)
    }

    fn create_feedback_publisher(
        node: &Node,
        topic: &str,
        identity: &TypeIdentity,
        qos: QosProfile,
    ) -> Result<GenericPublisher, CreateError> {
        node.create_generic_publisher(topic, identity, qos)
    }

    fn publish_feedback(
        publisher: &GenericPublisher,
        id: GoalId,
        mut feedback: Vec<u8>,
    ) -> Result<(), PublishError> {
        if !set_goal_id(&mut feedback, id) {
            let topic = publisher.topic_name().to_owned();
            let reason = "it is shorter than its header and the goal's id, 20 bytes";
            return Err(PublishError::NotSerialized { topic, reason });
        }
        publisher.publish_serialized(&feedback)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use feros_msgs::example_interfaces::action::{Fibonacci, Fibonacci_Result};

    #[test]
    fn bytes_written_by_hand_equal_those_of_generated_types() {
        let at = Time::from_nanos(3_000_000_007);
        let accepted = to_vec(&Fibonacci::send_goal_response(true, 3, 7)).unwrap();
        assert_eq!(goal_response(Some(at)), accepted);
        let rejected = to_vec(&Fibonacci::send_goal_response(false, 0, 0)).unwrap();
        assert_eq!(goal_response(None), rejected);

        let result = Fibonacci_Result { sequence: vec![1, 2] };
        let unsaid = to_vec(&Fibonacci::get_result_response(0, result.clone())).unwrap();
        let serialized = Serialized::close_result(GoalStatus::Aborted, unsaid).unwrap();
        let typed = <Fibonacci as ActionServerForm>::close_result(GoalStatus::Aborted, result);
        assert_eq!(serialized, typed.unwrap());
    }

    #[test]
    fn bytes_that_are_no_message_are_refused() {
        for bytes in [&[][..], &[0, 1, 0, 0], &[7, 7, 0, 0, 1]] {
            let refused = Serialized::close_result(GoalStatus::Succeeded, bytes.to_vec());
            assert!(matches!(refused, Err(Unserializable::NotSerialized(_))), "{refused:?}");
        }
        let short = Payload::new(vec![0, 1, 0, 0, 1, 2, 3]);
        assert!(Serialized::open_goal(short).is_err());
    }
}

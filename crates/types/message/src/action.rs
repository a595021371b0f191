//! The trait that generated actions implement. With its functions, generic code can build and read
//! the derived messages.

use feros_interface::TypeHash;

use crate::description::TypeDescription;
use crate::traits::{Message, Service};

/// The 16 bytes of `unique_identifier_msgs/UUID` that identify a goal.
pub type GoalId = [u8; 16];

/// The position of the goal id, which follows the header in a serialized message that begins with
/// the id.
const GOAL_ID: std::ops::Range<usize> = 4..20;

/// Reads the goal id from a serialized message that begins with it, such as a goal request, a
/// result request or a feedback. Returns `None` if the message is too short.
///
/// ```
/// let mut request = vec![0, 1, 0, 0];
/// request.extend([7; 16]);
/// assert_eq!(feros_message::goal_id_of(&request), Some([7; 16]));
/// assert_eq!(feros_message::goal_id_of(&request[..19]), None);
/// ```
pub fn goal_id_of(serialized: &[u8]) -> Option<GoalId> {
    serialized.get(GOAL_ID)?.try_into().ok()
}

/// Writes the goal id into a serialized message that begins with it. Returns `false` if the message
/// is too short.
pub fn set_goal_id(serialized: &mut [u8], goal_id: GoalId) -> bool {
    let Some(place) = serialized.get_mut(GOAL_ID) else { return false };
    place.copy_from_slice(&goal_id);
    true
}

/// An action type, generated from an `.action` file. No values of this type exist.
///
/// On the network, an action consists of two services and a topic. Their messages contain the goal,
/// the result and the feedback. The functions of this trait put these into messages and take them
/// out again, so that code that is generic over actions does not access generated fields.
pub trait Action: Send + Sync + 'static {
    /// The goal.
    type Goal: Message;

    /// The result.
    type Result: Message;

    /// The feedback.
    type Feedback: Message;

    /// The service that starts a goal.
    type SendGoal: Service;

    /// The service that returns the result when a goal has ended.
    type GetResult: Service;

    /// The message of the feedback topic.
    type FeedbackMessage: Message;

    /// The full name, for example `example_interfaces/action/Fibonacci`.
    const TYPE_NAME: &'static str;

    /// The hash with which two programs check that they use the same type.
    const TYPE_HASH: TypeHash;

    /// The description of all parts, with the types to which they refer.
    const TYPE_DESCRIPTION: &'static TypeDescription;

    /// Puts a goal into a request.
    fn send_goal_request(goal_id: GoalId, goal: Self::Goal)
    -> <Self::SendGoal as Service>::Request;

    /// Takes the goal and its id out of a request to start the goal.
    fn open_send_goal_request(
        request: <Self::SendGoal as Service>::Request,
    ) -> (GoalId, Self::Goal);

    /// Makes the response to a goal. `sec` and `nanosec` are the time of acceptance.
    fn send_goal_response(
        accepted: bool,
        sec: i32,
        nanosec: u32,
    ) -> <Self::SendGoal as Service>::Response;

    /// Takes the contents out of the response to a goal: whether the goal was accepted, and the
    /// seconds and nanoseconds of the time of acceptance.
    fn open_send_goal_response(
        response: &<Self::SendGoal as Service>::Response,
    ) -> (bool, i32, u32);

    /// Makes the request for the result of a goal.
    fn get_result_request(goal_id: GoalId) -> <Self::GetResult as Service>::Request;

    /// Takes the goal id out of a request for a result.
    fn open_get_result_request(request: &<Self::GetResult as Service>::Request) -> GoalId;

    /// Puts a result into a response. `status` is one of the constants of `action_msgs/GoalStatus`.
    fn get_result_response(
        status: i8,
        result: Self::Result,
    ) -> <Self::GetResult as Service>::Response;

    /// Takes the contents out of the response with a result: the status of the goal, and the
    /// result.
    fn open_get_result_response(
        response: <Self::GetResult as Service>::Response,
    ) -> (i8, Self::Result);

    /// Puts feedback into a message.
    fn feedback_message(goal_id: GoalId, feedback: Self::Feedback) -> Self::FeedbackMessage;

    /// Takes the goal id and the feedback out of a received message.
    fn open_feedback_message(message: Self::FeedbackMessage) -> (GoalId, Self::Feedback);
}

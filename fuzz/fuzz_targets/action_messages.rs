//! Reads any bytes as the messages of an action: the values that are read at fixed positions,
//! without the type, equal the values that are read with the type.

use feros_message::cdr::Reader;
use feros_message::{Action, Decode as _, GoalId, Message, from_bytes, goal_id_of, set_goal_id};
use feros_msgs::action_msgs::srv::CancelGoal_Request;
use feros_msgs::builtin_interfaces::msg::Time;
use feros_msgs::test_msgs::action::{
    Fibonacci, Fibonacci_FeedbackMessage, Fibonacci_GetResult_Request,
    Fibonacci_GetResult_Response, Fibonacci_SendGoal_Request, Fibonacci_SendGoal_Response,
    NestedMessage_FeedbackMessage, NestedMessage_SendGoal_Request,
};

const ID: GoalId = [0x5a; 16];

/// Runs one input: its first byte chooses the message type, the rest is a sample of that type.
pub(crate) fn run(data: &[u8]) {
    let Some((&which, sample)) = data.split_first() else { return };
    match which % 8 {
        0 => check_id(sample, |m: &Fibonacci_SendGoal_Request| m.goal_id.uuid),
        1 => check_id(sample, |m: &Fibonacci_GetResult_Request| m.goal_id.uuid),
        2 => check_id(sample, |m: &Fibonacci_FeedbackMessage| m.goal_id.uuid),
        3 => check_id(sample, |m: &NestedMessage_SendGoal_Request| m.goal_id.uuid),
        4 => check_id(sample, |m: &NestedMessage_FeedbackMessage| m.goal_id.uuid),
        5 => check_id(sample, |m: &CancelGoal_Request| m.goal_info.goal_id.uuid),
        6 => check_answer(sample),
        _ => check_status(sample),
    }
}

/// The id that is read at the fixed position is the id of the message, and writing another id there
/// changes nothing else.
fn check_id<M: Message>(sample: &[u8], id: fn(&M) -> GoalId) {
    let Ok(message) = from_bytes::<M>(sample) else { return };
    assert_eq!(goal_id_of(sample), Some(id(&message)));
    let mut changed = sample.to_vec();
    assert!(set_goal_id(&mut changed, ID));
    let again: M = from_bytes(&changed).expect("an id may be anything");
    assert_eq!(id(&again), ID);
    assert!(set_goal_id(&mut changed, id(&message)));
    assert_eq!(changed, sample);
}

/// The acceptance of a goal and its time have the same position in all actions.
fn check_answer(sample: &[u8]) {
    let Ok(message) = from_bytes::<Fibonacci_SendGoal_Response>(sample) else { return };
    let mut reader = Reader::new(sample).expect("it was read before");
    let accepted = bool::decode(&mut reader).expect("it was read before");
    let stamp = Time::decode(&mut reader).expect("it was read before");
    let opened = Fibonacci::open_send_goal_response(&message);
    assert_eq!((accepted, stamp.sec, stamp.nanosec), opened);
}

/// The status is the first byte of a result.
fn check_status(sample: &[u8]) {
    let Ok(message) = from_bytes::<Fibonacci_GetResult_Response>(sample) else { return };
    assert_eq!(from_bytes::<i8>(sample).ok(), Some(message.status));
}

//! Servers of actions whose type is known only at run time.

use std::sync::mpsc::sync_channel;

use feros::action::{ActionIdentity, FeedbackError, GoalResultError, Serialized, SetResultError};
use feros::message::{Action, from_bytes, to_vec};
use feros::msgs::example_interfaces::action::{
    Fibonacci, Fibonacci_Feedback, Fibonacci_Goal, Fibonacci_Result, Fibonacci_SendGoal_Request,
};
use feros::{
    ActionServerOptions, CancelResponse, GoalId, GoalResponse, GoalStatus, PublishError,
    ServerGoalHandle,
};

use super::{first_feedback, result};
use crate::support::{WATCHDOG, context, spinning_node, two_nodes};

/// Serializes a result in the form that a server without the type takes. The server fills in the
/// status.
fn serialized(result: Fibonacci_Result) -> Vec<u8> {
    to_vec(&Fibonacci::get_result_response(0, result)).unwrap()
}

fn order(goal: &[u8]) -> i32 {
    from_bytes::<Fibonacci_SendGoal_Request>(goal).unwrap().goal.order
}

#[test]
fn a_server_may_do_without_the_type() {
    let (serving, caller) = two_nodes("server", "caller");
    let (sender, accepted) = sync_channel(10);
    let callbacks = (
        |_: &GoalId, goal: &feros::SerializedMessage| match order(goal) {
            ..0 => GoalResponse::Reject,
            _ => GoalResponse::AcceptAndExecute,
        },
        |_: &ServerGoalHandle<Serialized>| CancelResponse::Accept,
        move |goal: ServerGoalHandle<Serialized>| sender.send(goal).unwrap(),
    );
    let identity = ActionIdentity::of::<Fibonacci>();
    let (empty, options) =
        (serialized(Fibonacci_Result::default()), ActionServerOptions::default());
    let server = serving
        .create_generic_action_server("fibonacci", &identity, empty, options, callbacks)
        .unwrap();
    let client = caller.create_action_client::<Fibonacci>("fibonacci").unwrap();
    let _spinning = [spinning_node(&serving), spinning_node(&caller)];
    client.wait_for_server(WATCHDOG).unwrap();
    assert!(client.send_goal_and_wait(Fibonacci_Goal { order: -1 }, WATCHDOG).is_err());

    let (sender, feedback) = sync_channel(100_000);
    // The test may have stopped listening when the last feedback arrives.
    let on_feedback = move |feedback: Fibonacci_Feedback| drop(sender.send(feedback.sequence));
    let sent = client.send_goal_with_feedback(Fibonacci_Goal { order: 6 }, on_feedback).unwrap();
    let goal = sent.wait(WATCHDOG).unwrap();
    let work = accepted.recv_timeout(WATCHDOG).unwrap();
    assert_eq!((work.goal_id(), order(work.goal())), (goal.goal_id(), 6));
    // The server fills in the goal's id.
    let message = Fibonacci::feedback_message([9; 16], Fibonacci_Feedback { sequence: vec![5] });
    let message = to_vec(&message).unwrap();
    let publish = || work.publish_feedback(message.clone()).unwrap();
    assert_eq!(first_feedback(&feedback, publish), [5]);
    let refused = work.publish_feedback(vec![0, 1, 0, 0, 1]).unwrap_err();
    let is_short = matches!(refused, FeedbackError::Publish(PublishError::NotSerialized { .. }));
    assert!(is_short, "{refused}");
    let refused = work.succeed(vec![0, 1]).unwrap_err();
    assert!(matches!(refused, SetResultError::NotSerialized { .. }), "{refused}");
    assert!(work.is_executing());
    work.succeed(serialized(result(&[8]))).unwrap();
    let outcome = goal.get_result().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!((outcome.status, outcome.result), (GoalStatus::Succeeded, result(&[8])));

    // A goal that ends without a result gets the empty result.
    let goal = client.send_goal_and_wait(Fibonacci_Goal { order: 2 }, WATCHDOG).unwrap();
    drop(accepted.recv_timeout(WATCHDOG).unwrap());
    let outcome = goal.get_result().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!((outcome.status, outcome.result), (GoalStatus::Canceled, result(&[])));
    let unknown = client.get_result(&[3; 16]).unwrap().wait(WATCHDOG).unwrap_err();
    assert!(matches!(unknown, GoalResultError::UnknownGoal { .. }), "{unknown}");
    assert_eq!(server.refused_requests(), 0);
}

#[test]
fn an_empty_result_that_is_no_message_is_refused() {
    let node = context().create_node("node").unwrap();
    let identity = ActionIdentity::of::<Fibonacci>();
    for wrong in [vec![], vec![0, 1, 0, 0], vec![9, 9, 0, 0, 0]] {
        let options = ActionServerOptions::default();
        let accept = |_: ServerGoalHandle<Serialized>| ();
        let made =
            node.create_generic_action_server("fibonacci", &identity, wrong, options, accept);
        let Err(refused) = made else { panic!("bytes that are no message were taken") };
        assert!(refused.to_string().contains("is not a serialized message"), "{refused}");
    }
}

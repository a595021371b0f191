//! Actions in both directions: Debian's actionlib, and servers and clients of ROS 2.

use std::sync::mpsc::{Receiver, sync_channel};

use feros::msgs::builtin_interfaces::msg::Duration;
use feros::msgs::example_interfaces::action::{
    Fibonacci, Fibonacci_Feedback, Fibonacci_Goal, Fibonacci_Result,
};
use feros::msgs::tf2_msgs::action::{LookupTransform, LookupTransform_Goal};
use feros::{
    ActionClient, ActionServer, CancelResponse, ClientGoalHandle, GoalId, GoalResponse, GoalStatus,
    ServerGoalHandle,
};
use feros_test_support::WATCHDOG;
use serde_json::json;

use crate::peers::{Ros2, World};

/// States of a goal in `actionlib_msgs/GoalStatus`.
const PREEMPTED: u8 = 2;
const SUCCEEDED: u8 = 3;
const ABORTED: u8 = 4;
const REJECTED: u8 = 5;

/// Sends a goal that is accepted; returns it and its feedback.
fn send(
    client: &ActionClient<Fibonacci>,
    order: i32,
) -> (ClientGoalHandle<Fibonacci>, Receiver<Vec<i32>>) {
    let (sender, told) = sync_channel(100);
    let feedback = move |feedback: Fibonacci_Feedback| {
        let _ = sender.send(feedback.sequence);
    };
    let sent = client.send_goal_with_feedback(Fibonacci_Goal { order }, feedback).unwrap();
    (sent.wait(WATCHDOG).unwrap(), told)
}

fn outcome(goal: &ClientGoalHandle<Fibonacci>) -> (GoalStatus, Vec<i32>) {
    let outcome = goal.get_result().unwrap().wait(WATCHDOG).unwrap();
    (outcome.status, outcome.result.sequence)
}

#[test]
fn ros2_sends_goals_to_a_server_of_actionlib() {
    let Some(world) = World::new() else { return };
    let mut bridge = world.bridge(&[]);
    let mut ros1 = world.node("server");
    ros1.run(json!({"do": "serve_fibonacci", "action": "/fibonacci"}));
    let ros2 = world.ros2();
    let client = ros2.node.create_action_client::<Fibonacci>("/fibonacci").unwrap();
    client.wait_for_server(WATCHDOG).unwrap();
    bridge.line(|line| line == "bridged: action /fibonacci of ROS 1, for ROS 2");

    let (goal, told) = send(&client, 6);
    assert_eq!(told.recv_timeout(WATCHDOG).unwrap(), [0, 1, 1, 2]);
    feros_test_support::eventually(|| match goal.status() {
        GoalStatus::Executing => Ok(()),
        status => Err(status),
    });
    ros1.run(json!({"do": "finish", "action": "/fibonacci"}));
    assert_eq!(outcome(&goal), (GoalStatus::Succeeded, vec![0, 1, 1, 2, 3, 5, 8]));

    // Two goals at once, one of which is canceled.
    let ((one, told_one), (two, told_two)) = (send(&client, 4), send(&client, 2));
    assert_eq!(told_one.recv_timeout(WATCHDOG).unwrap(), [0, 1, 1]);
    assert_eq!(told_two.recv_timeout(WATCHDOG).unwrap(), [0, 1]);
    one.cancel().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(outcome(&one), (GoalStatus::Canceled, vec![0, 1]));
    assert!(two.status().is_active(), "{}", two.status());
    ros1.run(json!({"do": "finish", "action": "/fibonacci"}));
    assert_eq!(outcome(&two), (GoalStatus::Succeeded, vec![0, 1, 1]));

    let (aborted, _told) = send(&client, 13);
    assert_eq!(outcome(&aborted), (GoalStatus::Aborted, vec![13]));
    let (rejected, _told) = send(&client, -1);
    assert_eq!(outcome(&rejected), (GoalStatus::Aborted, vec![]));
    bridge.line(|line| line.contains("an order below zero"));

    // A server that is killed ends its goals.
    let (left, told) = send(&client, 8);
    told.recv_timeout(WATCHDOG).unwrap();
    drop(ros1);
    assert_eq!(outcome(&left), (GoalStatus::Aborted, vec![]));
}

#[test]
fn ros2_sends_goals_of_a_standard_type_to_a_simple_server() {
    let Some(world) = World::new() else { return };
    let _bridge = world.bridge(&[]);
    let mut ros1 = world.node("buffer");
    ros1.run(json!({"do": "serve_lookup", "action": "/tf2_buffer_server"}));
    let ros2 = world.ros2();
    let client = ros2.node.create_action_client::<LookupTransform>("/tf2_buffer_server").unwrap();
    client.wait_for_server(WATCHDOG).unwrap();
    let goal = LookupTransform_Goal {
        target_frame: "map".to_owned(),
        source_frame: "base".to_owned(),
        timeout: Duration { sec: 1, nanosec: 500_000_000 },
        advanced: true,
        ..LookupTransform_Goal::default()
    };
    let goal = client.send_goal_and_wait(goal, WATCHDOG).unwrap();
    let outcome = goal.get_result().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(outcome.status, GoalStatus::Succeeded);
    let transform = outcome.result.transform;
    assert_eq!((transform.header.stamp.sec, transform.header.stamp.nanosec), (7, 8));
    assert_eq!((&*transform.header.frame_id, &*transform.child_frame_id), ("map", "base"));
    assert_eq!(transform.transform.translation.y, 1.5);
    assert_eq!(outcome.result.error.error_string, "none");
}

/// Publishes feedback, and ends a goal on command or when asked to cancel; rejects orders below
/// zero, and aborts 13.
fn serve(
    ros2: &Ros2,
) -> (ActionServer<Fibonacci>, std::sync::mpsc::Receiver<ServerGoalHandle<Fibonacci>>) {
    let (sender, accepted) = sync_channel(100);
    let decide = |_: &GoalId, goal: &Fibonacci_Goal| match goal.order {
        ..0 => GoalResponse::Reject,
        _ => GoalResponse::AcceptAndExecute,
    };
    let cancel = |goal: &ServerGoalHandle<Fibonacci>| {
        let goal = goal.clone();
        let thread = std::thread::Builder::new().name("test-cancel".to_owned());
        let canceled = move || {
            feros_test_support::eventually(|| match goal.is_canceling() {
                true => Ok(()),
                false => Err(goal.status()),
            });
            goal.canceled(Fibonacci_Result { sequence: vec![7] }).unwrap();
        };
        thread.spawn(canceled).unwrap();
        CancelResponse::Accept
    };
    let take = move |goal: ServerGoalHandle<Fibonacci>| {
        goal.publish_feedback(Fibonacci_Feedback { sequence: vec![goal.goal().order] }).unwrap();
        if goal.goal().order == 13 {
            goal.abort(Fibonacci_Result { sequence: vec![13] }).unwrap();
        } else {
            sender.send(goal).unwrap();
        }
    };
    let server = ros2.node.create_action_server::<Fibonacci, _>("/fib", (decide, cancel, take));
    (server.unwrap(), accepted)
}

#[test]
fn a_client_of_actionlib_sends_goals_to_ros2() {
    let Some(world) = World::new() else { return };
    let mut bridge = world.bridge(&[]);
    let ros2 = world.ros2();
    let (server, accepted) = serve(&ros2);
    let mut ros1 = world.node("client");
    let send = |order: i32| json!({"do": "send_goal", "action": "/fib", "type": "example_interfaces/Fibonacci", "fields": {"order": order}});
    let result = json!({"do": "await_result", "action": "/fib"});
    let is = |state: u8, numbers: &[i32]| json!({"state": state, "result": {"sequence": numbers}});

    ros1.run(send(5));
    bridge.line(|line| line == "bridged: action /fib of ROS 2, for ROS 1");
    assert_eq!(ros1.heard("/fib")["message"]["sequence"], json!([5]));
    let goal = accepted.recv_timeout(WATCHDOG).unwrap();
    goal.succeed(Fibonacci_Result { sequence: vec![0, 1, 1, 2, 3, 5] }).unwrap();
    assert_eq!(ros1.run(result.clone()), is(SUCCEEDED, &[0, 1, 1, 2, 3, 5]));

    ros1.run(send(6));
    let _goal = accepted.recv_timeout(WATCHDOG).unwrap();
    ros1.run(json!({"do": "cancel_goal", "action": "/fib"}));
    assert_eq!(ros1.run(result.clone()), is(PREEMPTED, &[7]));

    ros1.run(send(13));
    assert_eq!(ros1.run(result.clone()), is(ABORTED, &[13]));
    ros1.run(send(-1));
    assert_eq!(ros1.run(result.clone()), is(REJECTED, &[]));

    // A server that leaves ends its goals.
    ros1.run(send(8));
    let _left = accepted.recv_timeout(WATCHDOG).unwrap();
    drop(server);
    assert_eq!(ros1.run(result), is(ABORTED, &[]));
}

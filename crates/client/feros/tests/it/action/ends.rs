//! Goals that their server gives up, and servers that panic or end: every client gets an answer.
//! Also tests how long results are kept.

use std::time::Duration;

use feros::action::{GoalResultError, SendGoalError};
use feros::msgs::example_interfaces::action::{Fibonacci, Fibonacci_Goal};
use feros::{
    ActionCallbacks, ActionServerOptions, CallError, GoalId, GoalResponse, GoalStatus,
    ServerGoalHandle,
};
use feros_test_support::{block_on, eventually};

use super::{Pair, result};
use crate::support::{WATCHDOG, context, spinning_node, two_nodes};

#[test]
fn a_goal_whose_handle_is_dropped_is_canceled() {
    let pair = Pair::new();
    for order in [2, 3] {
        let goal = pair.goal(order);
        let waiting = goal.client.get_result().unwrap();
        let kept = goal.server.clone();
        drop(goal.server);
        assert!(kept.is_active(), "a clone still works for it");
        drop(kept);
        let outcome = waiting.wait(WATCHDOG).unwrap();
        assert_eq!((outcome.status, outcome.result), (GoalStatus::Canceled, result(&[])));
    }
}

#[test]
fn a_goal_whose_thread_panics_is_aborted() {
    let pair = Pair::new();
    let goal = pair.goal(2);
    let waiting = goal.client.get_result().unwrap();
    let work = goal.server;
    let ended = std::thread::Builder::new()
        .name("panics as wanted by the test".into())
        .spawn(move || assert!(!work.is_active(), "as wanted by the test"))
        .unwrap()
        .join();
    assert!(ended.is_err());
    assert_eq!(waiting.wait(WATCHDOG).unwrap().status, GoalStatus::Aborted);
}

/// Callbacks that succeed, except the callback with this name, which panics.
struct Panics(&'static str);

impl ActionCallbacks<Fibonacci> for Panics {
    fn handle_goal(&mut self, _: &GoalId, _: &Fibonacci_Goal) -> GoalResponse {
        assert!(self.0 != "deciding", "as wanted by the test");
        GoalResponse::AcceptAndExecute
    }

    fn handle_accepted(&mut self, goal: ServerGoalHandle<Fibonacci>) {
        assert!(self.0 != "accepted", "as wanted by the test: {goal:?}");
    }
}

#[test]
fn a_callback_that_panics_leaves_no_client_waiting() {
    for place in ["deciding", "accepted"] {
        let (serving, caller) = two_nodes("server", "caller");
        serving.on_panic(|_| ());
        let _server =
            serving.create_action_server::<Fibonacci, _>("fibonacci", Panics(place)).unwrap();
        let _spinning = spinning_node(&serving);
        let client = caller.create_action_client::<Fibonacci>("fibonacci").unwrap();
        client.wait_for_server(WATCHDOG).unwrap();
        let sent = client.send_goal_and_wait(Fibonacci_Goal { order: 1 }, WATCHDOG);
        if place == "deciding" {
            let error = sent.unwrap_err();
            assert!(matches!(error, SendGoalError::Rejected { .. }), "{error}");
        } else {
            // The panic ended the node's callbacks, and so the server.
            let result = sent.unwrap().get_result().and_then(|result| result.wait(WATCHDOG));
            match result {
                Ok(outcome) => assert_eq!(outcome.status, GoalStatus::Aborted),
                Err(GoalResultError::Call(CallError::ServerLeft { .. })) => {}
                Err(other) => panic!("{other}"),
            }
        }
        eventually(|| if client.server_is_ready() { Err("still there") } else { Ok(()) });
    }
}

#[test]
fn a_server_that_is_dropped_aborts_its_goals_and_a_new_one_is_found() {
    let mut pair = Pair::new();
    let (executing, deferred, unasked) = (pair.goal(2), pair.goal(3), pair.goal(4));
    let waiting = [&executing, &deferred].map(|goal| goal.client.get_result().unwrap());
    drop(pair.server.take());
    for waiting in waiting {
        match waiting.wait(WATCHDOG) {
            Ok(outcome) => assert_eq!(outcome.status, GoalStatus::Aborted),
            // The client may notice the end of the server before its last response arrives.
            Err(GoalResultError::Call(CallError::ServerLeft { .. })) => {}
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(executing.server.status(), GoalStatus::Aborted);
    let error = executing.server.succeed(result(&[])).unwrap_err().to_string();
    assert!(error.contains("it is ABORTED"), "{error}");
    let error = executing.server.publish_feedback(Default::default()).unwrap_err().to_string();
    assert!(error.contains("was dropped"), "{error}");
    eventually(|| if pair.client.server_is_ready() { Err("still there") } else { Ok(()) });
    let error = unasked.client.get_result().err().unwrap();
    assert!(matches!(error, GoalResultError::Call(CallError::ServerLeft { .. })), "{error}");
    let error = pair.client.send_goal(Fibonacci_Goal { order: 2 }).err().unwrap();
    assert!(matches!(error, SendGoalError::NoServer { .. }), "{error}");

    let again = pair.here.create_node("server_again").unwrap();
    let _server = again
        .create_action_server::<Fibonacci, _>("fibonacci", |goal: ServerGoalHandle<Fibonacci>| {
            goal.succeed(result(&[9])).unwrap()
        })
        .unwrap();
    let _spinning = spinning_node(&again);
    pair.client.wait_for_server(WATCHDOG).unwrap();
    let error = unasked.client.get_result().unwrap().wait(WATCHDOG).unwrap_err();
    assert!(matches!(error, GoalResultError::UnknownGoal { .. }), "{error}");
    let goal = pair.client.send_goal_and_wait(Fibonacci_Goal { order: 2 }, WATCHDOG).unwrap();
    assert_eq!(goal.get_result().unwrap().wait(WATCHDOG).unwrap().result, result(&[9]));
}

#[test]
fn results_are_kept_as_long_as_the_options_say() {
    let pair = Pair::with(ActionServerOptions::default().result_timeout(Duration::ZERO));
    let goal = pair.goal(2);
    let early = goal.client.get_result().unwrap();
    // Requests are handled in order, so when this request is answered, the previous request is
    // already waiting for the end of the goal.
    let error = pair.client.get_result(&[7; 16]).unwrap().wait(WATCHDOG).unwrap_err();
    assert!(matches!(error, GoalResultError::UnknownGoal { .. }), "{error}");
    goal.server.succeed(result(&[2])).unwrap();
    assert_eq!(early.wait(WATCHDOG).unwrap().result, result(&[2]));
    let late = goal.client.get_result().unwrap().wait(WATCHDOG).unwrap_err();
    assert!(matches!(late, GoalResultError::UnknownGoal { .. }), "{late}");
    drop((pair, goal));

    let pair = Pair::with(ActionServerOptions::default().result_timeout(Duration::from_millis(20)));
    let (first, second) = (pair.goal(2), pair.goal(4));
    first.server.succeed(result(&[2])).unwrap();
    let server = pair.server.as_ref().unwrap();
    eventually(|| (server.goal_count() == 1).then_some(()).ok_or(server.goal_count()));
    second.server.succeed(result(&[4])).unwrap();
    eventually(|| (server.goal_count() == 0).then_some(()).ok_or(server.goal_count()));
    drop((pair, first, second));

    let pair = Pair::with(ActionServerOptions::default().result_timeout(None));
    let goal = pair.goal(2);
    goal.server.succeed(result(&[2])).unwrap();
    assert_eq!(goal.result(), goal.result(), "the result may be requested twice");
    assert_eq!(pair.server.as_ref().unwrap().goal_count(), 1);
}

#[test]
fn a_server_that_comes_late_is_waited_for() {
    let (serving, caller) = two_nodes("server", "client");
    let client = caller.create_action_client::<Fibonacci>("fibonacci").unwrap();
    let refused = client.send_goal(Fibonacci_Goal { order: 1 }).err().unwrap();
    assert!(matches!(refused, SendGoalError::NoServer { .. }), "{refused}");
    let soon = Duration::from_millis(20);
    let refused = client.send_goal_and_wait(Fibonacci_Goal { order: 1 }, soon).unwrap_err();
    assert!(matches!(refused, SendGoalError::NoServer { .. }), "{refused}");
    std::thread::scope(|scope| {
        let goal = || client.send_goal_and_wait(Fibonacci_Goal { order: 1 }, WATCHDOG);
        let in_place = scope.spawn(goal);
        let awaited = scope.spawn(|| block_on(client.wait_for_server_async()));
        let succeed = |goal: ServerGoalHandle<Fibonacci>| goal.succeed(result(&[9])).unwrap();
        let _server = serving.create_action_server::<Fibonacci, _>("fibonacci", succeed).unwrap();
        let _spinning = spinning_node(&serving);
        let goal = in_place.join().unwrap().unwrap();
        assert_eq!(goal.get_result().unwrap().wait(WATCHDOG).unwrap().result, result(&[9]));
        assert_eq!(awaited.join().unwrap(), Ok(()));
    });
}

/// The server finishes a goal even after the client's process has ended.
#[test]
fn a_goal_outlives_its_client() {
    let pair = Pair::new();
    let goal = pair.goal(2);
    let waiting = goal.client.get_result().unwrap();
    drop(waiting);
    let Pair { client, caller, server, _spinning: [_serving, calling], .. } = pair;
    drop((client, goal.client, caller, calling));
    goal.server.succeed(result(&[2])).unwrap();
    assert_eq!(goal.server.status(), GoalStatus::Succeeded);
    assert_eq!(server.as_ref().unwrap().goal_count(), 1);
}

#[test]
fn a_callback_that_blocks_the_server_is_reported() {
    let context = context();
    let node = context.create_node("both").unwrap();
    let _server = node
        .create_action_server::<Fibonacci, _>("fibonacci", |_: ServerGoalHandle<Fibonacci>| ())
        .unwrap();
    let client = node.create_action_client::<Fibonacci>("fibonacci").unwrap();
    client.wait_for_server(WATCHDOG).unwrap();
    let (sender, told) = std::sync::mpsc::sync_channel(1);
    let guard = node
        .create_guard_condition(move || {
            let sent = client.send_goal_and_wait(Fibonacci_Goal { order: 1 }, WATCHDOG);
            sender.send(sent.map(drop)).unwrap();
        })
        .unwrap();
    guard.trigger();
    let _spinning = spinning_node(&node);
    let error = told.recv_timeout(WATCHDOG).unwrap().unwrap_err();
    let blocked = matches!(error, SendGoalError::Call(CallError::ServerBlocked { .. }));
    assert!(blocked, "{error}");
}

//! Actions in both directions with rclpy: goals that are accepted, rejected and queued, feedback,
//! results, cancels, aborts, and servers that end.

use std::time::Duration;

use feros::action::{CancelError, GoalResultError, SendGoalError};
use feros::msgs::test_msgs::action::{
    Fibonacci, Fibonacci_Feedback, Fibonacci_Goal, Fibonacci_Result,
};
use feros::{
    ActionClient, ActionServer, ActionServerOptions, CallError, CancelResponse, GoalId,
    GoalResponse, GoalStatus, Node, ServerGoalHandle,
};
use feros_interop::{Domain, Peer};
use feros_test_support::eventually;
use serde_json::{Value, json};

use crate::support::{Inbox, Spinning, WATCHDOG, node, stock};

const FIBONACCI: &str = "test_msgs/action/Fibonacci";

fn hex(id: GoalId) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The Feros server, which hands accepted goals to the test. It rejects negative orders, defers odd
/// orders, and refuses to cancel the order 13.
pub(crate) fn serve(
    node: &Node,
    name: &str,
    options: ActionServerOptions,
) -> (ActionServer<Fibonacci>, Inbox<ServerGoalHandle<Fibonacci>>) {
    let accepted = Inbox::new();
    let put = accepted.putter();
    let callbacks = (
        |_: &GoalId, goal: &Fibonacci_Goal| match goal.order {
            ..0 => GoalResponse::Reject,
            order if order % 2 == 1 => GoalResponse::AcceptAndDefer,
            _ => GoalResponse::AcceptAndExecute,
        },
        |goal: &ServerGoalHandle<Fibonacci>| match goal.goal().order {
            13 => CancelResponse::Reject,
            _ => CancelResponse::Accept,
        },
        move |goal: ServerGoalHandle<Fibonacci>| put(goal),
    );
    let server = node.create_action_server_with::<Fibonacci, _>(name, options, callbacks);
    (server.unwrap(), accepted)
}

pub(crate) fn result(numbers: &[i32]) -> Fibonacci_Result {
    Fibonacci_Result { sequence: numbers.to_vec() }
}

/// A goal that the stock client sends to the Feros server, with the handles of both sides.
fn goal_of_stock(
    peer: &mut Peer,
    accepted: &Inbox<ServerGoalHandle<Fibonacci>>,
    order: i32,
) -> (Value, ServerGoalHandle<Fibonacci>) {
    let id = peer.ask("send_goal", json!({"name": "/ours/fib", "goal": {"order": order}}));
    let goal = accepted.take();
    assert_eq!(id, hex(goal.goal_id()));
    (json!({"name": "/ours/fib", "id": id}), goal)
}

fn stock_client(peer: &mut Peer) {
    peer.ask("action_client", json!({"name": "/ours/fib", "type": FIBONACCI}));
    peer.ask("wait_for_action", json!({"name": "/ours/fib"}));
}

#[test]
fn a_stock_client_has_its_goals_reached_canceled_aborted_and_rejected() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let _spinning = Spinning::new(&node);
    let (server, accepted) = serve(&node, "fib", ActionServerOptions::default());
    stock_client(&mut peer);

    let rejected = peer.ask("send_goal", json!({"name": "/ours/fib", "goal": {"order": -1}}));
    assert_eq!(rejected, Value::Null);

    let (of, goal) = goal_of_stock(&mut peer, &accepted, 2);
    for sequence in [vec![0], vec![0, 1]] {
        goal.publish_feedback(Fibonacci_Feedback { sequence }).unwrap();
    }
    let feedback = peer.ask("feedback_of", json!({"name": "/ours/fib", "count": 2}));
    assert_eq!(feedback, json!([{"sequence": [0]}, {"sequence": [0, 1]}]));
    peer.eventually("followed", of.clone(), |status| *status == 2);
    goal.succeed(result(&[0, 1, 1])).unwrap();
    let outcome = json!({"status": 4, "result": {"sequence": [0, 1, 1]}});
    assert_eq!(peer.ask("result", of.clone()), outcome);
    assert_eq!(peer.ask("result", of.clone()), outcome, "asked twice");
    peer.eventually("followed", of, |status| *status == 4);

    let (of, queued) = goal_of_stock(&mut peer, &accepted, 3);
    peer.eventually("followed", of.clone(), |status| *status == 1);
    queued.execute().unwrap();
    let canceling = peer.ask("cancel", of.clone());
    assert_eq!(canceling, json!({"code": 0, "canceling": [hex(queued.goal_id())]}));
    assert!(queued.is_canceling());
    queued.canceled(result(&[7])).unwrap();
    assert_eq!(peer.ask("result", of.clone()), json!({"status": 5, "result": {"sequence": [7]}}));
    assert_eq!(peer.ask("cancel", of), json!({"code": 3, "canceling": []}), "it has ended");

    let (of, stubborn) = goal_of_stock(&mut peer, &accepted, 13);
    assert_eq!(peer.ask("cancel", of.clone()), json!({"code": 1, "canceling": []}));
    stubborn.execute().unwrap();
    stubborn.abort(result(&[])).unwrap();
    assert_eq!(peer.ask("result", of), json!({"status": 6, "result": {"sequence": []}}));

    let (of, dropped) = goal_of_stock(&mut peer, &accepted, 4);
    drop(dropped);
    assert_eq!(peer.ask("result", of), json!({"status": 5, "result": {"sequence": []}}));
    assert_eq!(server.refused_requests(), 0);
    drop(server);
    let gone = json!({"name": "/ours/fib"});
    peer.eventually("action_ready", gone, |ready| *ready == false);
}

#[test]
fn a_stock_client_that_asks_too_late_is_told_that_the_goal_is_unknown() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let _spinning = Spinning::new(&node);
    let options = ActionServerOptions::default().result_timeout(Duration::from_millis(10));
    let (server, accepted) = serve(&node, "fib", options);
    stock_client(&mut peer);
    let (of, goal) = goal_of_stock(&mut peer, &accepted, 2);
    goal.succeed(result(&[1])).unwrap();
    eventually(|| if server.goal_count() == 0 { Ok(()) } else { Err("the result is kept") });
    assert_eq!(peer.ask("result", of), json!({"status": 0, "result": {"sequence": []}}));
}

/// The Feros client of the stock server `/theirs/fib`.
fn our_client(node: &Node, peer: &mut Peer) -> ActionClient<Fibonacci> {
    peer.ask(
        "action_server",
        json!({"name": "/theirs/fib", "type": FIBONACCI, "result_timeout": 1}),
    );
    let client = node.create_action_client::<Fibonacci>("/theirs/fib").unwrap();
    client.wait_for_server(WATCHDOG).unwrap();
    client
}

fn of(id: GoalId) -> Value {
    json!({"name": "/theirs/fib", "id": hex(id)})
}

fn with(mut arguments: Value, more: Value) -> Value {
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    arguments
}

#[test]
fn a_stock_server_reaches_cancels_aborts_and_rejects_our_goals() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let _spinning = Spinning::new(&node);
    let client = our_client(&node, &mut peer);
    let send = |order| client.send_goal_and_wait(Fibonacci_Goal { order }, WATCHDOG);

    let error = send(-1).unwrap_err();
    assert!(matches!(error, SendGoalError::Rejected { .. }), "{error}");

    let feedback = Inbox::new();
    let sent = client.send_goal_with_feedback(Fibonacci_Goal { order: 3 }, feedback.putter());
    let goal = sent.unwrap().wait(WATCHDOG).unwrap();
    let came = peer.ask("goals", json!({"name": "/theirs/fib"}));
    assert_eq!(came, json!([{"id": hex(goal.goal_id()), "goal": {"order": 3}}]));
    let follow = |goal: &feros::ClientGoalHandle<Fibonacci>, wanted: GoalStatus| {
        eventually(|| (goal.status() == wanted).then_some(()).ok_or(goal.status()));
    };
    follow(&goal, GoalStatus::Accepted);
    let values = json!({"values": [{"sequence": [0]}, {"sequence": [0, 1]}]});
    peer.ask("feedback", with(of(goal.goal_id()), values));
    assert_eq!(feedback.take(), Fibonacci_Feedback { sequence: vec![0] });
    assert_eq!(feedback.take(), Fibonacci_Feedback { sequence: vec![0, 1] });
    let waiting = goal.get_result().unwrap();
    let succeed = json!({"outcome": "succeed", "result": {"sequence": [0, 1, 1]}});
    peer.ask("end", with(of(goal.goal_id()), succeed));
    let outcome = waiting.wait(WATCHDOG).unwrap();
    assert_eq!((outcome.status, outcome.result), (GoalStatus::Succeeded, result(&[0, 1, 1])));
    follow(&goal, GoalStatus::Succeeded);

    let first = send(4).unwrap();
    let canceling = first.cancel().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(canceling, [first.goal_id()]);
    follow(&first, GoalStatus::Canceling);
    let canceled = json!({"outcome": "canceled", "result": {"sequence": [4]}});
    peer.ask("end", with(of(first.goal_id()), canceled));
    let outcome = first.get_result().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!((outcome.status, outcome.result), (GoalStatus::Canceled, result(&[4])));
    let error = first.cancel().unwrap().wait(WATCHDOG).unwrap_err();
    assert!(matches!(error, CancelError::GoalTerminated { .. }), "{error}");

    let stubborn = send(13).unwrap();
    let error = stubborn.cancel().unwrap().wait(WATCHDOG).unwrap_err();
    assert!(matches!(error, CancelError::Rejected { .. }), "{error}");
    peer.ask("end", with(of(stubborn.goal_id()), json!({"outcome": "abort"})));
    let outcome = stubborn.get_result().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(outcome.status, GoalStatus::Aborted);

    let raising = send(5).unwrap();
    peer.ask("end", with(of(raising.goal_id()), json!({"outcome": "raise"})));
    let outcome = raising.get_result().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!((outcome.status, outcome.result), (GoalStatus::Aborted, result(&[])));

    // The stock server forgets results after a second.
    eventually(|| match goal.get_result().unwrap().wait(WATCHDOG) {
        Err(GoalResultError::UnknownGoal { .. }) => Ok(()),
        other => Err(format!("{other:?}")),
    });
}

#[test]
fn several_goals_at_a_stock_server_are_canceled_together() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let client = our_client(&node, &mut peer);
    let goals = [2, 4, 6]
        .map(|order| client.send_goal_and_wait(Fibonacci_Goal { order }, WATCHDOG).unwrap());
    // rclpy reports a time shortly before the time at which rcl accepts the goal.
    let until = goals[2].accepted_at();
    let canceling = client.cancel_goals_before(until).unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(canceling, [goals[0].goal_id(), goals[1].goal_id()]);
    let canceling = client.cancel_all_goals().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(canceling, [goals[2].goal_id()]);
    for goal in &goals {
        peer.ask("end", with(of(goal.goal_id()), json!({"outcome": "canceled"})));
        let outcome = goal.get_result().unwrap().wait(WATCHDOG).unwrap();
        assert_eq!(outcome.status, GoalStatus::Canceled);
    }
}

#[test]
fn a_stock_server_that_leaves_leaves_nobody_waiting() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let client = our_client(&node, &mut peer);
    let goal = client.send_goal_and_wait(Fibonacci_Goal { order: 2 }, WATCHDOG).unwrap();
    let waiting = goal.get_result().unwrap();
    drop(peer);
    let error = waiting.wait(WATCHDOG).unwrap_err();
    assert!(matches!(error, GoalResultError::Call(CallError::ServerLeft { .. })), "{error}");
    let mut again = stock(&domain);
    let client = our_client(&node, &mut again);
    let error = client.get_result(&goal.goal_id()).unwrap().wait(WATCHDOG).unwrap_err();
    assert!(matches!(error, GoalResultError::UnknownGoal { .. }), "{error}");
}

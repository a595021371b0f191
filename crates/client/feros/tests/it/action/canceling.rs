//! Requests to cancel one goal, all goals, or goals accepted up to a time; and goals that cannot be
//! canceled.

use feros::GoalStatus;
use feros::action::CancelError;

use super::{Goal, Pair, result};
use crate::support::WATCHDOG;

/// Waits until the server's handle shows that the goal is canceling, and ends the goal as canceled.
fn obey(goal: &Goal) {
    assert!(goal.server.is_canceling());
    goal.server.canceled(result(&[1])).unwrap();
    let outcome = goal.result();
    assert_eq!((outcome.status, outcome.result), (GoalStatus::Canceled, result(&[1])));
}

#[test]
fn one_goal_is_canceled_and_the_others_go_on() {
    let pair = Pair::new();
    let (wanted, unwanted, queued) = (pair.goal(2), pair.goal(4), pair.goal(5));
    for goal in [&unwanted, &queued] {
        let canceling = goal.client.cancel().unwrap().wait(WATCHDOG).unwrap();
        assert_eq!(canceling, [goal.client.goal_id()]);
        let again = goal.client.cancel().unwrap().wait(WATCHDOG).unwrap_err();
        assert!(matches!(again, CancelError::GoalTerminated { .. }), "{again}");
        let error = goal.server.execute().unwrap_err().to_string();
        assert!(error.contains("cannot begin to execute: it is CANCELING"), "{error}");
        obey(goal);
        let late = goal.client.cancel().unwrap().wait(WATCHDOG).unwrap_err();
        assert!(matches!(late, CancelError::GoalTerminated { .. }), "{late}");
    }
    assert!(wanted.server.is_executing());
    let early = wanted.server.canceled(result(&[])).unwrap_err().to_string();
    assert!(early.contains("cannot end as canceled: it is EXECUTING"), "{early}");
    wanted.server.succeed(result(&[])).unwrap();
    assert_eq!(wanted.result().status, GoalStatus::Succeeded);
}

#[test]
fn goals_are_canceled_up_to_a_time_and_all_at_once() {
    let pair = Pair::new();
    let goals = [pair.goal(2), pair.goal(4), pair.goal(6), pair.goal(8)];
    let ids = |goals: &[Goal]| goals.iter().map(|goal| goal.server.goal_id()).collect::<Vec<_>>();
    let until = goals[1].server.accepted_at();
    let canceling = pair.client.cancel_goals_before(until).unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(canceling, ids(&goals[..2]));
    goals[..2].iter().for_each(obey);
    let canceling = pair.client.cancel_all_goals().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(canceling, ids(&goals[2..]));
    goals[2..].iter().for_each(obey);
    let canceling = pair.client.cancel_all_goals().unwrap().wait(WATCHDOG).unwrap();
    assert!(canceling.is_empty(), "no goal is left: {canceling:?}");
}

#[test]
fn a_server_may_reject_to_cancel_and_a_canceling_goal_may_end_otherwise() {
    let pair = Pair::new();
    let stubborn = pair.goal(13);
    let error = stubborn.client.cancel().unwrap().wait(WATCHDOG).unwrap_err();
    assert!(matches!(error, CancelError::Rejected { .. }), "{error}");
    let error = pair.client.cancel_all_goals().unwrap().wait(WATCHDOG).unwrap_err();
    assert!(matches!(error, CancelError::Rejected { .. }), "{error}");
    assert_eq!(stubborn.server.status(), GoalStatus::Accepted);

    let willing = pair.goal(2);
    let canceling = pair.client.cancel_all_goals().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(canceling, [willing.client.goal_id()], "one of two is rejected");
    willing.server.succeed(result(&[2])).unwrap();
    assert_eq!(willing.result().status, GoalStatus::Succeeded);

    let third = pair.goal(4);
    third.client.cancel().unwrap().wait(WATCHDOG).unwrap();
    third.server.abort(result(&[])).unwrap();
    assert_eq!(third.result().status, GoalStatus::Aborted);
}

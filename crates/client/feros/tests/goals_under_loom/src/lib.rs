//! Tests the progress of an action's goal under loom, which tries the interleavings of the goal's
//! handles, requests for the result, and the end of the server: `RUSTFLAGS="--cfg loom" cargo test
//! -p feros-goals-under-loom --release`.
#![cfg(all(test, loom))]
#![allow(clippy::unwrap_used)]

mod action;
#[path = "../../../src/action/server/progress.rs"]
#[allow(dead_code, reason = "only the table of goals uses the time of the end")]
mod progress;

use std::collections::VecDeque;

use loom::sync::Arc;
use loom::thread;

use action::state::{GoalEvent, GoalStatus};
use progress::{Progress, ResultBytes, ResultRequest};

/// A goal whose requests are numbers; the time of its end does not matter here.
type Goal = Progress<u8, ()>;

fn result(of: u8) -> ResultBytes {
    [of].into()
}

fn executing() -> Arc<Goal> {
    let goal = Goal::new();
    goal.advance(GoalEvent::Execute).unwrap();
    Arc::new(goal)
}

/// Two threads end a goal while a client requests the result; the threads stand for the goal's
/// handle and for the server that is being dropped. One of the two threads succeeds, and the client
/// gets one answer, with the result of that thread.
#[test]
fn a_goal_ends_once_and_whoever_asks_is_answered_once() {
    loom::model(|| {
        let goal = executing();
        let (handle, server) = (goal.clone(), goal.clone());
        let succeeds = thread::spawn(move || handle.end(GoalEvent::Succeed, result(4), ()).ok());
        let aborts = thread::spawn(move || server.abandon(GoalStatus::Aborted, result(6), ()));
        let asked = goal.request_result(1);
        let ends: Vec<(u8, VecDeque<u8>)> = [(4, succeeds), (6, aborts)]
            .into_iter()
            .filter_map(|(status, thread)| Some((status, thread.join().unwrap()?)))
            .collect();
        let [(status, waiting)] = &ends[..] else { panic!("{} ends", ends.len()) };
        assert_eq!(goal.status().number().cast_unsigned(), *status);
        match asked {
            ResultRequest::Respond(bytes) => {
                assert_eq!((&bytes[..], waiting.len()), (&[*status][..], 0));
            }
            ResultRequest::Waits => assert_eq!(*waiting, [1]),
            ResultRequest::Displaces(_) => panic!("there is room"),
        }
        assert_eq!(goal.request_result(2), ResultRequest::Respond(result(*status)));
    });
}

/// A request to cancel arrives while the goal ends. It is either accepted before the end or refused
/// after the end, and the goal ends in the way that its handle requests.
#[test]
fn a_cancel_is_before_the_end_or_refused() {
    loom::model(|| {
        let goal = executing();
        let client = goal.clone();
        let cancel = thread::spawn(move || client.advance(GoalEvent::CancelGoal));
        goal.end(GoalEvent::Succeed, result(4), ()).unwrap();
        assert!(matches!(cancel.join().unwrap(), Ok(()) | Err(GoalStatus::Succeeded)));
        assert_eq!(goal.status(), GoalStatus::Succeeded);
    });
}

/// The execution of a deferred goal begins while a client cancels the goal. The goal ends up
/// canceling, no matter which comes first.
#[test]
fn a_goal_that_is_begun_and_canceled_is_canceling() {
    loom::model(|| {
        let goal = Arc::new(Goal::new());
        let worker = goal.clone();
        let begins = thread::spawn(move || worker.advance(GoalEvent::Execute));
        goal.advance(GoalEvent::CancelGoal).unwrap();
        assert!(matches!(begins.join().unwrap(), Ok(()) | Err(GoalStatus::Canceling)));
        assert_eq!(goal.status(), GoalStatus::Canceling);
    });
}

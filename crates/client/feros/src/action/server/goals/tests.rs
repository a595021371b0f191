#![allow(clippy::unwrap_used)]
use super::*;
use crate::action::server::progress::{ResultBytes, ResultRequest, WAITING_LIMIT};
use crate::action::state::{GoalEvent, GoalStatus};
use feros_engine::{Gid, RequestId, ServiceMapping};

fn at(seconds: i64) -> Time {
    Time::from_nanos(seconds * 1_000_000_000)
}

fn bytes() -> ResultBytes {
    Arc::from([0, 1, 0, 0, 4])
}

fn request(number: i64) -> PendingRequest {
    let id = RequestId {
        client: [9; 16],
        sequence_number: number,
        mapping: ServiceMapping::RelatedSampleIdentity,
    };
    PendingRequest { request: id.into(), client: Gid([8; 16]) }
}

/// Makes a table of the goals 1, 2 and 3, which were accepted at 1 s, 2 s and 3 s.
fn table() -> GoalTable {
    let mut table = GoalTable::default();
    for number in 1..=3 {
        table.insert(Arc::new(Goal::new([number; 16], at(number.into()))));
    }
    table
}

fn cancel(table: &GoalTable, id: u8, seconds: i32) -> (Vec<u8>, i8) {
    let mut request = CancelGoal_Request::default();
    request.goal_info.goal_id.uuid = [id; 16];
    request.goal_info.stamp.sec = seconds;
    let (goals, code) = table.to_cancel(&request);
    (goals.iter().map(|goal| goal.id[0]).collect(), code)
}

#[test]
fn goals_are_canceled_by_id_by_time_by_both_and_all() {
    let table = table();
    assert_eq!(cancel(&table, 0, 0), (vec![1, 2, 3], 0));
    assert_eq!(cancel(&table, 2, 0), (vec![2], 0));
    assert_eq!(cancel(&table, 0, 2), (vec![1, 2], 0));
    assert_eq!(cancel(&table, 3, 1), (vec![1, 3], 0));
    assert_eq!(cancel(&table, 9, 0), (vec![], CancelGoal_Response::ERROR_UNKNOWN_GOAL_ID));
    assert_eq!(
        cancel(&table, 9, 1),
        (vec![1], 0),
        "an unknown goal together with a time is not an error"
    );
    assert_eq!(cancel(&table, 0, -1), (vec![], 0), "a time before all goals");

    let goal = table.find(&[1; 16]).unwrap();
    goal.advance(GoalEvent::Execute).unwrap();
    goal.advance(GoalEvent::CancelGoal).unwrap();
    assert_eq!(cancel(&table, 1, 0).1, CancelGoal_Response::ERROR_GOAL_TERMINATED);
    assert_eq!(cancel(&table, 0, 0), (vec![2, 3], 0), "a canceling goal is not canceled again");
}

#[test]
fn an_ended_goal_answers_waiting_and_later_requests() {
    let goal = Goal::new([1; 16], at(1));
    assert_eq!(goal.request_result(request(1)), ResultRequest::Waits);
    assert_eq!(goal.end(GoalEvent::Succeed, bytes(), at(2)), Err(GoalStatus::Accepted));
    goal.advance(GoalEvent::Execute).unwrap();
    assert_eq!(
        goal.advance(GoalEvent::Succeed),
        Err(GoalStatus::Executing),
        "not without a result"
    );
    assert_eq!(goal.end(GoalEvent::Succeed, bytes(), at(2)).unwrap(), [request(1)]);
    assert_eq!(goal.status(), GoalStatus::Succeeded);
    assert_eq!(goal.request_result(request(2)), ResultRequest::Respond(bytes()));
    assert_eq!(goal.end(GoalEvent::Abort, bytes(), at(3)), Err(GoalStatus::Succeeded));
    assert_eq!(goal.abandon(GoalStatus::Aborted, bytes(), at(3)), None);
    assert_eq!(goal.status(), GoalStatus::Succeeded);
}

#[test]
fn a_goal_that_nobody_works_for_ends_from_any_status() {
    for events in [&[][..], &[GoalEvent::Execute], &[GoalEvent::CancelGoal]] {
        let goal = Goal::new([1; 16], at(1));
        events.iter().for_each(|event| goal.advance(*event).unwrap());
        goal.request_result(request(1));
        assert_eq!(goal.abandon(GoalStatus::Canceled, bytes(), at(2)).unwrap(), [request(1)]);
        assert_eq!(goal.status(), GoalStatus::Canceled);
    }
}

#[test]
fn requests_that_wait_are_bounded_and_the_oldest_goes() {
    let goal = Goal::new([1; 16], at(1));
    let limit = i64::try_from(WAITING_LIMIT).unwrap();
    for number in 0..limit {
        assert_eq!(goal.request_result(request(number)), ResultRequest::Waits);
    }
    assert_eq!(goal.request_result(request(limit)), ResultRequest::Displaces(request(0)));
    let waiting = goal.abandon(GoalStatus::Aborted, bytes(), at(2)).unwrap();
    assert_eq!((waiting.len(), &waiting[0]), (WAITING_LIMIT, &request(1)));
}

#[test]
fn results_are_forgotten_in_time_and_goals_without_an_end_never() {
    let mut table = table();
    let timeout = Duration::from_secs(10);
    assert_eq!(table.expire(at(1000), timeout), None);
    for (number, seconds) in [(1_u8, 20), (2, 25)] {
        table.find(&[number; 16]).unwrap().abandon(GoalStatus::Aborted, bytes(), at(seconds));
        table.has_ended(&[number; 16]);
    }
    assert_eq!(table.expire(at(1000), timeout), None);
    assert_eq!(table.len(), 3, "no status message has reported the ends yet");
    let statuses = table.statuses().status_list;
    assert_eq!(statuses.iter().map(|one| one.status).collect::<Vec<_>>(), [6, 6, 1]);
    assert_eq!(table.expire(at(26), timeout), Some(Duration::from_secs(4)));
    assert_eq!(table.len(), 3);
    assert_eq!(table.expire(at(30), timeout), Some(Duration::from_secs(5)));
    assert!(table.find(&[1; 16]).is_none() && table.len() == 2);
    assert_eq!(table.expire(at(5), timeout), Some(timeout), "the time jumped back");
    assert_eq!(table.expire(at(36), timeout), None);
    assert_eq!(table.statuses().status_list.len(), 1);
    assert_eq!(table.statuses().status_list[0].goal_info.stamp.sec, 3);
    let forever = Duration::MAX;
    table.find(&[3; 16]).unwrap().abandon(GoalStatus::Aborted, bytes(), at(1));
    table.has_ended(&[3; 16]);
    assert_eq!(table.statuses().status_list[0].status, 6);
    table.expire(at(1_000_000), forever);
    assert_eq!(table.len(), 1);
    // If a goal reuses the id of a forgotten goal, it is a new goal, listed after the others.
    table.insert(Arc::new(Goal::new([1; 16], at(40))));
    let ids = table.statuses().status_list.into_iter().map(|one| one.goal_info.goal_id.uuid[0]);
    assert_eq!(ids.collect::<Vec<_>>(), [3, 1]);
}

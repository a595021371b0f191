//! Invalid or hostile requests from clients, and results that violate their type.

use feros::action::{ActionIdentity, CancelError, GoalResultError, Serialized, SetResultError};
use feros::message::{Action, from_bytes, to_vec};
use feros::msgs::example_interfaces::action::{
    Fibonacci, Fibonacci_FeedbackMessage, Fibonacci_GetResult_Response, Fibonacci_Goal,
    Fibonacci_SendGoal, Fibonacci_SendGoal_Response,
};
use feros::msgs::tf2_msgs::action::{
    LookupTransform, LookupTransform_Goal, LookupTransform_Result,
};
use feros::{
    ActionClient, ActionClientOptions, ClientOptions, GoalStatus, ServerGoalHandle, ServiceIdentity,
};

use super::{Pair, first_feedback, result};
use crate::support::{WATCHDOG, spinning_node, two_nodes};

#[test]
fn goals_that_nobody_knows_have_no_result_and_are_not_canceled() {
    let pair = Pair::new();
    let error = pair.client.get_result(&[7; 16]).unwrap().wait(WATCHDOG).unwrap_err();
    assert!(matches!(error, GoalResultError::UnknownGoal { goal_id, .. } if goal_id == [7; 16]));
    let error = pair.client.cancel_goal(&[7; 16]).unwrap().wait(WATCHDOG).unwrap_err();
    assert!(matches!(error, CancelError::UnknownGoal { .. }), "{error}");
}

#[test]
fn a_result_may_be_asked_for_twice_and_what_has_ended_is_not_canceled() {
    let pair = Pair::new();
    let goal = pair.goal(2);
    let (first, second) = (goal.client.get_result().unwrap(), goal.client.get_result().unwrap());
    goal.server.succeed(result(&[2])).unwrap();
    for asked in [first, second, goal.client.get_result().unwrap()] {
        let outcome = asked.wait(WATCHDOG).unwrap();
        assert_eq!((outcome.status, outcome.result), (GoalStatus::Succeeded, result(&[2])));
    }
    let error = goal.client.cancel().unwrap().wait(WATCHDOG).unwrap_err();
    assert!(matches!(error, CancelError::GoalTerminated { .. }), "{error}");
    let again = goal.server.succeed(result(&[3])).unwrap_err();
    assert!(matches!(again, SetResultError::Transition(_)), "{again}");
    assert_eq!(goal.result().result, result(&[2]), "the first word counts");
}

#[test]
fn a_goal_of_an_id_that_is_in_use_is_rejected() {
    let pair = Pair::new();
    let identity = ServiceIdentity::of::<Fibonacci_SendGoal>();
    let name = "fibonacci/_action/send_goal";
    let raw = pair.caller.create_generic_client(name, &identity, ClientOptions::default()).unwrap();
    raw.wait_for_service(WATCHDOG).unwrap();
    let send = |id: u8| {
        let request = Fibonacci::send_goal_request([id; 16], Fibonacci_Goal { order: 2 });
        let bytes = to_vec(&request).unwrap();
        let response = raw.call_serialized(&bytes).unwrap().wait(WATCHDOG).unwrap();
        response.decode::<Fibonacci_SendGoal_Response>().unwrap().accepted
    };
    assert!(send(1));
    let goal = pair.accepted.recv_timeout(WATCHDOG).unwrap();
    assert!(!send(1), "the goal is being worked for");
    goal.succeed(result(&[1])).unwrap();
    assert!(!send(1), "its result is kept");
    assert!(send(2));
    let _second = pair.accepted.recv_timeout(WATCHDOG).unwrap();
    assert!(pair.accepted.try_recv().is_err());
    let kept = pair.client.get_result(&[1; 16]).unwrap().wait(WATCHDOG).unwrap();
    assert_eq!((kept.status, kept.result), (GoalStatus::Succeeded, result(&[1])));
}

#[test]
fn requests_that_are_none_are_counted_and_do_no_harm() {
    let pair = Pair::new();
    let goal = pair.goal(2);
    let rubbish: &[&[u8]] = &[&[0, 1, 0, 0, 9], &[0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]];
    let mut sent = 0;
    for part in ["send_goal", "cancel_goal", "get_result"] {
        let name = format!("fibonacci/_action/{part}");
        let type_name = match part {
            "cancel_goal" => "action_msgs/srv/CancelGoal".to_owned(),
            "send_goal" => "example_interfaces/action/Fibonacci_SendGoal".to_owned(),
            _ => "example_interfaces/action/Fibonacci_GetResult".to_owned(),
        };
        let identity = ServiceIdentity {
            name: type_name,
            type_hash: None,
            request_hash: None,
            response_hash: None,
        };
        let raw = pair.caller.create_generic_client(&name, &identity, ClientOptions::default());
        let raw = raw.unwrap();
        raw.wait_for_service(WATCHDOG).unwrap();
        for bytes in rubbish {
            drop(raw.call_serialized(bytes).unwrap());
            sent += 1;
        }
    }
    let server = pair.server.as_ref().unwrap();
    feros_test_support::eventually(|| {
        let refused = server.refused_requests();
        (refused == sent).then_some(()).ok_or(format!("{refused} of {sent}"))
    });
    goal.server.succeed(result(&[2])).unwrap();
    assert_eq!(goal.result().result, result(&[2]));
}

#[test]
fn a_result_that_violates_its_type_leaves_the_goal_as_it_is() {
    let (serving, caller) = two_nodes("server", "caller");
    let (sender, accepted) = std::sync::mpsc::sync_channel(1);
    let _server = serving
        .create_action_server::<LookupTransform, _>(
            "lookup",
            move |goal: ServerGoalHandle<LookupTransform>| sender.send(goal).unwrap(),
        )
        .unwrap();
    let _spinning = spinning_node(&serving);
    let client = caller.create_action_client::<LookupTransform>("lookup").unwrap();
    client.wait_for_server(WATCHDOG).unwrap();
    let goal = client.send_goal_and_wait(LookupTransform_Goal::default(), WATCHDOG).unwrap();
    let work = accepted.recv_timeout(WATCHDOG).unwrap();
    let mut wrong = LookupTransform_Result::default();
    wrong.transform.child_frame_id = "a\0b".to_owned();
    let error = work.succeed(wrong).unwrap_err();
    assert!(matches!(error, SetResultError::Encode { .. }), "{error}");
    assert!(work.is_executing());
    work.succeed(LookupTransform_Result::default()).unwrap();
    assert_eq!(goal.get_result().unwrap().wait(WATCHDOG).unwrap().status, GoalStatus::Succeeded);
    let again = work.abort(LookupTransform_Result::default()).unwrap_err();
    assert!(matches!(again, SetResultError::Transition(_)), "{again}");
}

#[test]
fn a_client_may_do_without_the_type() {
    let pair = Pair::new();
    let identity = ActionIdentity::of::<Fibonacci>();
    let client: ActionClient<Serialized> = pair
        .caller
        .create_generic_action_client("fibonacci", &identity, ActionClientOptions::default())
        .unwrap();
    client.wait_for_server(WATCHDOG).unwrap();
    let request = Fibonacci::send_goal_request([0; 16], Fibonacci_Goal { order: 6 });
    let (sender, feedback) = std::sync::mpsc::sync_channel(100_000);
    let sent = client
        .send_goal_with_feedback(to_vec(&request).unwrap(), move |bytes| {
            // The test may have stopped listening when the last message arrives.
            let _ = sender.send(bytes.decode::<Fibonacci_FeedbackMessage>().unwrap());
        })
        .unwrap();
    let goal = sent.wait(WATCHDOG).unwrap();
    let work = pair.accepted.recv_timeout(WATCHDOG).unwrap();
    assert_eq!((work.goal_id(), work.goal().order), (goal.goal_id(), 6));
    let heard = first_feedback(&feedback, || work.publish_feedback(Default::default()).unwrap());
    assert_eq!(heard.goal_id.uuid, goal.goal_id());
    work.succeed(result(&[8])).unwrap();
    let outcome = goal.get_result().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(outcome.status, GoalStatus::Succeeded);
    let response: Fibonacci_GetResult_Response = from_bytes(&outcome.result).unwrap();
    assert_eq!(response.result, result(&[8]));
    assert!(client.send_goal(vec![0, 1, 0]).is_err(), "too short for a header");
}

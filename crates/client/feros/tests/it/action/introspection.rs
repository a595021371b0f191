//! The events that clients and servers of actions publish about their requests.

use std::sync::mpsc::{Receiver, sync_channel};

use feros::message::{Action, Service};
use feros::msgs::action_msgs::srv::CancelGoal;
use feros::msgs::example_interfaces::action::{Fibonacci, Fibonacci_Goal};
use feros::msgs::service_msgs::msg::ServiceEventInfo;
use feros::{Node, QosProfile, ServiceIntrospectionState, Subscription};

use super::{Pair, result};
use crate::support::{WATCHDOG, context, spinning_node};

type GoalEvent = <<Fibonacci as Action>::SendGoal as Service>::Event;
type ResultEvent = <<Fibonacci as Action>::GetResult as Service>::Event;
type CancelEvent = <CancelGoal as Service>::Event;

/// QoS policies that deliver events from before the match too.
fn latched() -> QosProfile {
    QosProfile::keep_last(64).transient_local()
}

/// Listens to the events of one service of the action, which both sides publish.
fn listen<E: feros::message::Message>(
    node: &Node,
    service: &str,
) -> (Subscription<E>, Receiver<E>) {
    let (sender, receiver) = sync_channel(64);
    let topic = format!("fibonacci/_action/{service}/_service_event");
    let subscription = node
        .create_subscription(&topic, latched(), move |event: E| sender.send(event).unwrap())
        .unwrap();
    subscription.wait_for_publishers(2, WATCHDOG).unwrap();
    (subscription, receiver)
}

/// Receives the next four events, which must belong to one call, and sorts them into the order of
/// the steps of a call.
fn call<E>(events: &Receiver<E>, info: impl Fn(&E) -> &ServiceEventInfo) -> Vec<E> {
    let mut heard: Vec<E> = (0..4).map(|_| events.recv_timeout(WATCHDOG).unwrap()).collect();
    heard.sort_by_key(|event| info(event).event_type);
    let kinds: Vec<u8> = heard.iter().map(|event| info(event).event_type).collect();
    assert_eq!(kinds, [0, 1, 2, 3]);
    let first = info(&heard[0]);
    for event in &heard {
        assert_eq!(info(event).client_gid, first.client_gid);
        assert_eq!(info(event).sequence_number, first.sequence_number);
    }
    heard
}

#[test]
fn both_sides_publish_what_becomes_of_goals_cancels_and_results() {
    let pair = Pair::new();
    let clock = pair.caller.clock();
    let contents = ServiceIntrospectionState::Contents;
    pair.client.configure_introspection(clock, latched(), contents).unwrap();
    let server = pair.server.as_ref().unwrap();
    server.configure_introspection(clock, latched(), contents).unwrap();
    let listener = context().create_node("listener").unwrap();
    let (_goals, goals) = listen::<GoalEvent>(&listener, "send_goal");
    let (_cancels, cancels) = listen::<CancelEvent>(&listener, "cancel_goal");
    let (_results, results) = listen::<ResultEvent>(&listener, "get_result");
    let _listening = spinning_node(&listener);

    let goal = pair.goal(4);
    let events = call(&goals, |event| &event.info);
    for event in &events[..2] {
        assert_eq!(event.request[0].goal_id.uuid, goal.client.goal_id());
        assert_eq!((event.request[0].goal.order, event.response.len()), (4, 0));
    }
    for event in &events[2..] {
        assert!(event.response[0].accepted && event.request.is_empty(), "{event:?}");
    }

    goal.client.cancel().unwrap().wait(WATCHDOG).unwrap();
    let events = call(&cancels, |event| &event.info);
    assert_eq!(events[0].request[0].goal_info.goal_id.uuid, goal.client.goal_id());
    assert_eq!(events[3].response[0].goals_canceling.len(), 1);

    // The events of the request for the result come immediately. The events of the response come
    // when the goal ends.
    let outcome = goal.client.get_result().unwrap();
    let mut asked =
        [results.recv_timeout(WATCHDOG).unwrap(), results.recv_timeout(WATCHDOG).unwrap()];
    asked.sort_by_key(|event| event.info.event_type);
    let kinds = asked.each_ref().map(|event| event.info.event_type);
    assert_eq!(kinds, [ServiceEventInfo::REQUEST_SENT, ServiceEventInfo::REQUEST_RECEIVED]);
    goal.server.canceled(result(&[7])).unwrap();
    outcome.wait(WATCHDOG).unwrap();
    for _ in 0..2 {
        let event = results.recv_timeout(WATCHDOG).unwrap();
        assert_eq!((event.response[0].status, &event.response[0].result), (5, &result(&[7])));
        assert_eq!(event.info.client_gid, asked[0].info.client_gid);
    }
}

#[test]
fn metadata_has_no_contents_and_off_is_silent() {
    let pair = Pair::new();
    let clock = pair.caller.clock();
    let server = pair.server.as_ref().unwrap();
    let configure = |state| {
        server.configure_introspection(clock, latched(), state).unwrap();
        pair.client.configure_introspection(clock, latched(), state).unwrap();
    };
    configure(ServiceIntrospectionState::Metadata);
    let listener = context().create_node("listener").unwrap();
    let (subscription, goals) = listen::<GoalEvent>(&listener, "send_goal");
    let _listening = spinning_node(&listener);
    let goal = pair.goal(2);
    for event in call(&goals, |event| &event.info) {
        assert!(event.request.is_empty() && event.response.is_empty(), "{event:?}");
    }
    goal.server.succeed(result(&[])).unwrap();
    configure(ServiceIntrospectionState::Off);
    let is_gone = || subscription.publisher_count() == 0;
    listener.context().wait_for_graph(WATCHDOG, || "the end of the events", is_gone).unwrap();
    let rejected = pair.client.send_goal_and_wait(Fibonacci_Goal { order: -1 }, WATCHDOG);
    assert!(rejected.is_err());
    assert!(goals.try_recv().is_err());
}

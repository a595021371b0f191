//! The events that clients and services publish about their calls.

use std::sync::mpsc::Receiver;

use feros::engine::Gid;
use feros::message::Service as _;
use feros::msgs::service_msgs::msg::ServiceEventInfo;
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros::{Clock, ClockType, Node, QosProfile, ServiceIntrospectionState, Subscription};

use crate::support::{WATCHDOG, context, listening, spinning_node, two_nodes};

type Event = <SetBool as feros::message::Service>::Event;

/// QoS policies that deliver events from before the match too.
fn latched() -> QosProfile {
    QosProfile::keep_last(64).transient_local()
}

fn echo(request: SetBool_Request) -> SetBool_Response {
    SetBool_Response { success: request.data, message: "done".into() }
}

/// Subscribes to the events of the service `switch`.
fn listen(node: &Node, publishers: usize) -> (Subscription<Event>, Receiver<Event>) {
    let (subscription, receiver) =
        listening(node, "switch/_service_event", latched(), |event: Event| event);
    subscription.wait_for_publishers(publishers, WATCHDOG).unwrap();
    (subscription, receiver)
}

#[test]
fn both_ends_publish_what_becomes_of_a_call() {
    let (server, caller) = two_nodes("server", "caller");
    let service = server.create_service::<SetBool, _>("switch", echo).unwrap();
    let client = caller.create_client::<SetBool>("switch").unwrap();
    let _spinning = spinning_node(&server);
    client.wait_for_service(WATCHDOG).unwrap();
    let contents = ServiceIntrospectionState::Contents;
    service.configure_introspection(server.clock(), latched(), contents).unwrap();
    client.configure_introspection(caller.clock(), latched(), contents).unwrap();
    let listener = context().create_node("listener").unwrap();
    let (_subscription, events) = listen(&listener, 2);
    let _listening = spinning_node(&listener);

    let before = Clock::new(ClockType::System).now();
    let request = SetBool_Request { data: true };
    let response = client.call_and_wait(&request, WATCHDOG).unwrap();
    let mut heard: Vec<Event> = (0..4).map(|_| events.recv_timeout(WATCHDOG).unwrap()).collect();
    // The events come from two publishers, and only the order of events from the same publisher is
    // certain.
    heard.sort_by_key(|event| event.info.event_type);
    let kinds: Vec<u8> = heard.iter().map(|event| event.info.event_type).collect();
    assert_eq!(
        kinds,
        [
            ServiceEventInfo::REQUEST_SENT,
            ServiceEventInfo::REQUEST_RECEIVED,
            ServiceEventInfo::RESPONSE_SENT,
            ServiceEventInfo::RESPONSE_RECEIVED
        ]
    );
    let (requests, responses) = heard.split_at(2);
    for event in requests {
        assert_eq!((&event.request[..], &event.response[..]), (&[request.clone()][..], &[][..]));
    }
    for event in responses {
        assert_eq!((&event.request[..], &event.response[..]), (&[][..], &[response.clone()][..]));
    }
    let numbers: Vec<i64> = heard.iter().map(|event| event.info.sequence_number).collect();
    assert!(numbers.iter().all(|number| *number == numbers[0]), "{numbers:?}");
    for event in &heard {
        assert!(event.info.stamp.to_nanos() >= before.as_nanos(), "{:?}", event.info);
        assert_ne!(event.info.client_gid, [0; 16]);
    }
    // Both sides use the same id for the client, so that the events of a call can be matched.
    let named: Vec<[u8; 16]> = heard.iter().map(|event| event.info.client_gid).collect();
    assert_eq!(named, [named[0]; 4]);
    assert!(Gid(named[0]).is_of_session_of(&client.gid()));
}

#[test]
fn metadata_has_no_contents_and_off_is_silent() {
    let context = context();
    let node = context.create_node("node").unwrap();
    let service = node.create_service::<SetBool, _>("switch", echo).unwrap();
    let client = node.create_client::<SetBool>("switch").unwrap();
    let configure = |state| {
        service.configure_introspection(node.clock(), latched(), state).unwrap();
    };
    let _spinning = spinning_node(&node);
    client.wait_for_service(WATCHDOG).unwrap();
    configure(ServiceIntrospectionState::Metadata);
    let (subscription, events) = listen(&node, 1);
    client.call_and_wait(&SetBool_Request { data: true }, WATCHDOG).unwrap();
    for kind in [ServiceEventInfo::REQUEST_RECEIVED, ServiceEventInfo::RESPONSE_SENT] {
        let event = events.recv_timeout(WATCHDOG).unwrap();
        assert_eq!(event.info.event_type, kind);
        assert!(event.request.is_empty() && event.response.is_empty(), "{event:?}");
    }
    // If only the state changes from metadata to contents, the publisher stays, so that no event is
    // missed.
    configure(ServiceIntrospectionState::Contents);
    client.call_and_wait(&SetBool_Request { data: false }, WATCHDOG).unwrap();
    let event = events.recv_timeout(WATCHDOG).unwrap();
    assert_eq!(event.request, [SetBool_Request { data: false }]);
    assert_eq!(events.recv_timeout(WATCHDOG).unwrap().response.len(), 1);

    configure(ServiceIntrospectionState::Off);
    let is_gone = || subscription.publisher_count() == 0;
    context.wait_for_graph(WATCHDOG, || "the end of the events", is_gone).unwrap();
    client.call_and_wait(&SetBool_Request { data: true }, WATCHDOG).unwrap();
    assert!(events.try_recv().is_err());
    assert_eq!(Event::default(), SetBool::event(info(), None, None), "an event of nothing");
}

/// Makes the info of an event without contents.
fn info() -> feros::message::ServiceEventInfo {
    feros::message::ServiceEventInfo {
        kind: feros::message::ServiceEventKind::RequestSent,
        sec: 0,
        nanosec: 0,
        client_gid: [0; 16],
        sequence_number: 0,
    }
}

#[test]
fn a_service_whose_node_is_gone_cannot_be_looked_into() {
    let context = context();
    let node = context.create_node("node").unwrap();
    let clock = node.clock().clone();
    let service = node.create_service::<SetBool, _>("switch", echo).unwrap();
    drop(node);
    let state = ServiceIntrospectionState::Metadata;
    let refused = service.configure_introspection(&clock, 10, state);
    assert!(refused.unwrap_err().to_string().contains("its node was dropped"));
}

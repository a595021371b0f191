//! Services and clients: blocking calls, futures, deferred responses, large messages, and both
//! mappings at the same time.

use std::future::Future as _;
use std::pin::pin;
use std::sync::mpsc::sync_channel;
use std::task::{Context as TaskContext, Poll, Waker};
use std::time::Duration;

use feros::msgs::std_srvs::srv::{
    SetBool, SetBool_Request, SetBool_Response, Trigger, Trigger_Request, Trigger_Response,
};
use feros::{
    CallError, ClientOptions, Executor, Node, Outcome, PublishError, QosProfile, SerializedMessage,
    SerializedResponder, Service, ServiceIdentity, ServiceMapping, ServiceOptions, Transport,
    TransportSet, TypeIdentity, WaitError,
};
use feros_test_support::{block_on, eventually};

use crate::calls::deferring_server;
use crate::support::{WATCHDOG, context, spinning_node, two_nodes};

/// Restricts calls to the network transport, because the mappings apply to no other transport.
fn by_network() -> ClientOptions {
    ClientOptions::default().transports(Transport::Network)
}

fn set_bool_server(node: &Node) -> Service<SetBool> {
    let answer = |request: SetBool_Request| SetBool_Response {
        success: request.data,
        message: if request.data { "on".into() } else { "x".repeat(300_000) },
    };
    node.create_service::<SetBool, _>("switch", answer).unwrap()
}

#[test]
fn a_call_is_answered_blocking_and_as_a_future() {
    let (server, caller) = two_nodes("server", "caller");
    let _service = set_bool_server(&server);
    let _spinning = spinning_node(&server);
    let client = caller.create_client::<SetBool>("switch").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let response = client.call_and_wait(&SetBool_Request { data: true }, WATCHDOG).unwrap();
    assert_eq!(response, SetBool_Response { success: true, message: "on".into() });

    let executor = Executor::new();
    executor.add_node(&caller).unwrap();
    let call = client.call(&SetBool_Request { data: false }).unwrap();
    match executor.spin_until_complete(Some(WATCHDOG), call).unwrap() {
        Outcome::Completed(response) => assert_eq!(response.unwrap().message.len(), 300_000),
        other => panic!("the watchdog bit: {other:?}"),
    }
}

#[test]
fn many_calls_at_once_each_get_their_own_response() {
    let (server, caller) = two_nodes("server", "caller");
    let mut count = 0;
    let _service = server
        .create_service::<Trigger, _>("count", move |_: Trigger_Request| {
            count += 1;
            Trigger_Response { success: true, message: count.to_string() }
        })
        .unwrap();
    let _spinning = spinning_node(&server);
    let client = caller.create_client::<Trigger>("count").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let calls: Vec<_> = (0..8).map(|_| client.call(&Trigger_Request::default()).unwrap()).collect();
    // The test waits for the calls in reverse order, so the first wait takes the responses of the
    // other calls and passes them on.
    let mut answers: Vec<String> =
        calls.into_iter().rev().map(|call| call.wait(WATCHDOG).unwrap().message).collect();
    answers.reverse();
    assert_eq!(answers, ["1", "2", "3", "4", "5", "6", "7", "8"]);
}

#[test]
fn a_response_may_be_sent_later_from_another_thread() {
    let (server, caller) = two_nodes("server", "caller");
    let (_service, deferred) = deferring_server(&server, TransportSet::ALL);
    let _spinning = spinning_node(&server);
    let client = caller.create_client::<Trigger>("later").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let call = client.call(&Trigger_Request::default()).unwrap();
    let responder = deferred.recv_timeout(WATCHDOG).unwrap();
    responder.send(&Trigger_Response { success: true, message: "late".into() }).unwrap();
    assert_eq!(call.wait(WATCHDOG).unwrap().message, "late");
}

#[test]
fn clients_of_both_mappings_are_served_at_the_same_time() {
    let (server, caller) = two_nodes("server", "caller");
    let _service = set_bool_server(&server);
    let _spinning = spinning_node(&server);
    let mappings = [ServiceMapping::RelatedSampleIdentity, ServiceMapping::PayloadHeader];
    let clients = mappings.map(|mapping| {
        let options = ClientOptions { force_mapping: Some(mapping), ..by_network() };
        caller.create_client_with::<SetBool>("switch", options).unwrap()
    });
    for client in &clients {
        client.wait_for_service(WATCHDOG).unwrap();
    }
    for data in [true, false, true] {
        let calls =
            clients.each_ref().map(|client| client.call(&SetBool_Request { data }).unwrap());
        for call in calls {
            assert_eq!(call.wait(WATCHDOG).unwrap().success, data);
        }
    }
}

/// The bytes are those of `rmw_cyclonedds`: encapsulation, client, number, then the message. The
/// reply repeats the 16 bytes of client and number.
#[test]
fn the_payload_header_mapping_has_the_bytes_of_rmw_cyclonedds() {
    let (server, caller) = two_nodes("server", "caller");
    let _service = set_bool_server(&server);
    let _spinning = spinning_node(&server);
    let options =
        ClientOptions { force_mapping: Some(ServiceMapping::PayloadHeader), ..by_network() };
    let client = caller.create_client_with::<SetBool>("switch", options).unwrap();
    client.wait_for_service(WATCHDOG).unwrap();

    let eavesdropper = context().create_node("eavesdropper").unwrap();
    let qos = QosProfile::services_default().avoid_ros_namespace_conventions();
    let listen = |topic: String, message: &str| {
        let (sender, receiver) = sync_channel(100_000);
        let identity = TypeIdentity { name: format!("std_srvs/srv/SetBool_{message}"), hash: None };
        let put = move |bytes: SerializedMessage, _| drop(sender.send(bytes.to_vec()));
        let subscription =
            eavesdropper.create_generic_subscription(&topic, &identity, qos, put).unwrap();
        subscription.wait_for_publishers(1, WATCHDOG).unwrap();
        (subscription, receiver)
    };
    let (_requests, requests) = listen(format!("rq{}Request", client.service_name()), "Request");
    let (_replies, replies) = listen(format!("rr{}Reply", client.service_name()), "Response");
    let _listening = spinning_node(&eavesdropper);
    let (mut asked, mut answered) = (Vec::new(), Vec::new());
    // The call is repeated, because the endpoints may find the eavesdropper later than the
    // eavesdropper finds the endpoints.
    let (request, reply) = eventually(|| {
        let response = client.call_and_wait(&SetBool_Request { data: true }, WATCHDOG).unwrap();
        assert!(response.success);
        asked.extend(requests.try_iter());
        answered.extend(replies.try_iter());
        let all =
            asked.iter().flat_map(|request| answered.iter().map(move |reply| (request, reply)));
        // The reply repeats all 16 bytes of its request.
        let mut pairs = all.filter(|(request, reply)| request[4..20] == reply[4..20]);
        pairs.next().map(|(request, reply)| (request.clone(), reply.clone())).ok_or("no pair")
    });
    let (encapsulation, header, message) = (&request[..4], &request[4..20], &request[20..]);
    assert_eq!((encapsulation, &reply[..4]), (&[0, 1, 0, 0][..], &[0, 1, 0, 0][..]));
    assert!(header[..8] != [0; 8], "the header identifies the client");
    assert!(i64::from_le_bytes(header[8..].try_into().unwrap()) >= 1, "numbers count from one");
    // RTPS pads the message to four bytes.
    assert!(message[0] == 1 && message.len() <= 4, "{message:?}");
    assert!(reply[20..].starts_with(b"\x01\0\0\0\x03\0\0\0on\0") && reply.len() <= 32, "{reply:?}");
}

#[test]
fn a_call_without_a_server_times_out_and_says_so() {
    let context = context();
    let node = context.create_node("caller").unwrap();
    let client = node.create_client::<Trigger>("nobody").unwrap();
    assert!(!client.service_is_ready());
    assert!(client.wait_for_service(Duration::from_millis(20)).is_err());
    let error =
        client.call_and_wait(&Trigger_Request::default(), Duration::from_millis(20)).unwrap_err();
    assert!(matches!(error, CallError::Timeout { available: false, .. }), "{error}");
}

#[test]
fn a_blocked_call_ends_when_the_context_is_shut_down() {
    let context = context();
    let node = context.create_node("caller").unwrap();
    let client = node.create_client::<Trigger>("nobody").unwrap();
    let call = move || client.call_and_wait(&Trigger_Request::default(), WATCHDOG);
    let waits_for_a_server = std::thread::Builder::new().spawn(call).unwrap();
    let _never_spun = set_bool_server(&node);
    let client = node.create_client::<SetBool>("switch").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let call = client.call(&SetBool_Request::default()).unwrap();
    let wait = move || call.wait(WATCHDOG).map(drop);
    let waits_for_a_response = std::thread::Builder::new().spawn(wait).unwrap();
    context.shutdown();
    for ended in
        [waits_for_a_server.join().unwrap().map(drop), waits_for_a_response.join().unwrap()]
    {
        let error = ended.unwrap_err();
        assert!(matches!(error, CallError::Shutdown { .. }), "{error}");
    }
}

/// Without this check, the request would be lost silently, and the client would wait forever.
#[test]
fn a_call_without_a_server_is_refused_and_says_what_to_do() {
    let context = context();
    let node = context.create_node("caller").unwrap();
    let client = node.create_client::<Trigger>("nobody").unwrap();
    let refused = client.call(&Trigger_Request::default()).map(drop).unwrap_err();
    assert!(matches!(refused, PublishError::NoServer { .. }), "{refused}");
    for part in [client.service_name(), "has no server", "`wait_for_service`"] {
        assert!(refused.to_string().contains(part), "{refused}");
    }
    assert_eq!(client.call_serialized(&[0, 1, 0, 0, 0]).map(drop).unwrap_err(), refused);
    assert_eq!(client.counts().network.messages, 0, "nothing was sent");
}

#[test]
fn a_server_that_comes_late_is_waited_for_in_place_and_awaited() {
    let (server, caller) = two_nodes("server", "caller");
    let client = caller.create_client::<SetBool>("switch").unwrap();
    let request = SetBool_Request { data: true };
    std::thread::scope(|scope| {
        let in_place = scope.spawn(|| client.call_and_wait(&request, WATCHDOG));
        let awaited = scope.spawn(|| {
            block_on(async {
                client.wait_for_service_async().await.unwrap();
                client.call(&request).unwrap().await
            })
        });
        let mut looking = pin!(client.wait_for_service_async());
        let mut noop = TaskContext::from_waker(Waker::noop());
        assert!(looking.as_mut().poll(&mut noop).is_pending());
        let _service = set_bool_server(&server);
        let _spinning = spinning_node(&server);
        for call in [in_place, awaited] {
            assert_eq!(call.join().unwrap().unwrap().message, "on");
        }
        assert_eq!(looking.as_mut().poll(&mut noop), Poll::Ready(Ok(())));
    });
    let nobody = caller.create_client::<Trigger>("nobody").unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| block_on(nobody.wait_for_service_async()));
        caller.context().shutdown();
        let error = waiting.join().unwrap().unwrap_err();
        assert!(matches!(error, WaitError::Shutdown { .. }), "{error}");
    });
}

#[test]
fn a_service_of_serialized_messages_answers_now_and_later() {
    let (server, caller) = two_nodes("server", "caller");
    let (keep, kept) = sync_channel(1);
    let mut requests = 0;
    let answer = move |request: SerializedMessage, responder: SerializedResponder| {
        requests += 1;
        let request: SetBool_Request = request.decode().unwrap();
        let response = SetBool_Response { success: request.data, message: requests.to_string() };
        match requests {
            1 => responder.send(&feros::message::to_vec(&response).unwrap()).unwrap(),
            _ => keep.send((responder, response)).unwrap(),
        }
    };
    let identity = ServiceIdentity::of::<SetBool>();
    let options = ServiceOptions::default();
    let service = server.create_generic_service("switch", &identity, options, answer).unwrap();
    let _spinning = spinning_node(&server);
    let client = caller.create_generic_client("switch", &identity, ClientOptions::default());
    let client = client.unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    assert_eq!(client.service_name(), service.service_name());
    let request = feros::message::to_vec(&SetBool_Request { data: true }).unwrap();
    let decode = |response: SerializedMessage| response.decode::<SetBool_Response>().unwrap();
    let now = client.call_serialized(&request).unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(decode(now), SetBool_Response { success: true, message: "1".into() });

    let call = client.call_serialized(&request).unwrap();
    let none_yet = call.wait_for(Duration::from_millis(1)).unwrap_err();
    assert!(matches!(none_yet, CallError::Timeout { .. }), "{none_yet}");
    let (responder, response) = kept.recv().unwrap();
    responder.send(&feros::message::to_vec(&response).unwrap()).unwrap();
    assert_eq!(decode(call.wait_for(WATCHDOG).unwrap()).message, "2");
}

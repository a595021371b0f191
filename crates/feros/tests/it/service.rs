//! Services and clients: blocking, as futures, deferred, large, and with both mappings at once.

use std::sync::mpsc::sync_channel;
use std::time::Duration;

use feros::msgs::std_srvs::srv::{
    SetBool, SetBool_Request, SetBool_Response, Trigger, Trigger_Request, Trigger_Response,
};
use feros::{CallError, ClientOptions, Executor, Node, Outcome, Responder, Service, ServiceMapping, Stopper};

use crate::support::{WATCHDOG, context};

/// Spins a node on a thread of its own until dropped.
struct Spinning {
    stopper: Stopper,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Spinning {
    fn new(node: &Node) -> Self {
        let executor = Executor::new();
        executor.add_node(node).unwrap();
        let stopper = executor.stopper();
        let thread = std::thread::Builder::new().spawn(move || executor.spin().unwrap()).unwrap();
        Self { stopper, thread: Some(thread) }
    }
}

impl Drop for Spinning {
    fn drop(&mut self) {
        self.stopper.stop();
        self.thread.take().unwrap().join().unwrap();
    }
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
    let (here, there) = (context(), context());
    let (server, caller) = (here.create_node("server").unwrap(), there.create_node("caller").unwrap());
    let _service = set_bool_server(&server);
    let _spinning = Spinning::new(&server);
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
    let (here, there) = (context(), context());
    let (server, caller) = (here.create_node("server").unwrap(), there.create_node("caller").unwrap());
    let mut count = 0;
    let _service = server
        .create_service::<Trigger, _>("count", move |_: Trigger_Request| {
            count += 1;
            Trigger_Response { success: true, message: count.to_string() }
        })
        .unwrap();
    let _spinning = Spinning::new(&server);
    let client = caller.create_client::<Trigger>("count").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let calls: Vec<_> = (0..8).map(|_| client.call(&Trigger_Request::default()).unwrap()).collect();
    // Waited for in reverse: whoever looks first hands the others theirs.
    let mut answers: Vec<String> =
        calls.into_iter().rev().map(|call| call.wait(WATCHDOG).unwrap().message).collect();
    answers.reverse();
    assert_eq!(answers, ["1", "2", "3", "4", "5", "6", "7", "8"]);
}

#[test]
fn a_response_may_be_sent_later_from_another_thread() {
    let (here, there) = (context(), context());
    let (server, caller) = (here.create_node("server").unwrap(), there.create_node("caller").unwrap());
    let (later, deferred) = sync_channel::<Responder<Trigger>>(1);
    let _service = server
        .create_service::<Trigger, _>("later", move |_: Trigger_Request, responder: Responder<Trigger>| {
            later.send(responder).unwrap();
        })
        .unwrap();
    let _spinning = Spinning::new(&server);
    let client = caller.create_client::<Trigger>("later").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let call = client.call(&Trigger_Request::default()).unwrap();
    let responder = deferred.recv_timeout(WATCHDOG).unwrap();
    responder.send(&Trigger_Response { success: true, message: "late".into() }).unwrap();
    assert_eq!(call.wait(WATCHDOG).unwrap().message, "late");
}

#[test]
fn clients_of_both_mappings_are_served_at_the_same_time() {
    let (here, there) = (context(), context());
    let (server, caller) = (here.create_node("server").unwrap(), there.create_node("caller").unwrap());
    let _service = set_bool_server(&server);
    let _spinning = Spinning::new(&server);
    let mappings = [ServiceMapping::RelatedSampleIdentity, ServiceMapping::PayloadHeader];
    let clients = mappings.map(|mapping| {
        let options = ClientOptions { force_mapping: Some(mapping), ..ClientOptions::default() };
        caller.create_client_with::<SetBool>("switch", options).unwrap()
    });
    for client in &clients {
        client.wait_for_service(WATCHDOG).unwrap();
    }
    for data in [true, false, true] {
        let calls = clients.each_ref().map(|client| client.call(&SetBool_Request { data }).unwrap());
        for call in calls {
            assert_eq!(call.wait(WATCHDOG).unwrap().success, data);
        }
    }
}

#[test]
fn a_call_without_a_server_times_out_and_says_so() {
    let context = context();
    let node = context.create_node("caller").unwrap();
    let client = node.create_client::<Trigger>("nobody").unwrap();
    assert!(!client.service_is_ready());
    assert!(client.wait_for_service(Duration::from_millis(20)).is_err());
    let error = client.call_and_wait(&Trigger_Request::default(), Duration::from_millis(20)).unwrap_err();
    assert!(matches!(error, CallError::Timeout { available: false, .. }), "{error}");
}

#[test]
fn a_blocked_call_ends_when_the_context_is_shut_down() {
    let context = context();
    let node = context.create_node("caller").unwrap();
    let client = node.create_client::<Trigger>("nobody").unwrap();
    let call = client.call(&Trigger_Request::default()).unwrap();
    let waiting = std::thread::Builder::new().spawn(move || call.wait(WATCHDOG)).unwrap();
    context.shutdown();
    let error = waiting.join().unwrap().unwrap_err();
    assert!(matches!(error, CallError::Closed { .. }), "{error}");
}

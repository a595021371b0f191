//! Calls on each transport. They take the expected transport, and no request or response is lost or
//! duplicated, for different sizes and numbers of simultaneous calls.
//!
//! Two contexts of this process that may not use the intra-process transport stand for two
//! processes. The tests in `tests/crash` kill processes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use feros::engine::PublishError as SendError;
use feros::msgs::rcl_interfaces::msg::{Parameter, SetParametersResult};
use feros::msgs::rcl_interfaces::srv::{
    SetParameters, SetParameters_Request, SetParameters_Response,
};
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros::msgs::std_srvs::srv::{Trigger, Trigger_Request, Trigger_Response};
use feros::{
    CallCounts, CallError, Client, ClientOptions, Context, Node, PublishError, QosProfile,
    Responder, ResponseFuture, Service, ServiceOptions, Transport, TransportSet,
};
use feros_test_support::{block_on, eventually, until};

use crate::shared_memory::BETWEEN_PROCESSES;
use crate::support::{WATCHDOG, context, dropped_futures, spinning_node};

/// The transport that calls between two contexts take, for each set of allowed transports.
const TABLE: [(TransportSet, Transport); 3] = [
    (TransportSet::ALL, Transport::IntraProcess),
    (BETWEEN_PROCESSES, Transport::SharedMemory),
    (TransportSet::NONE.with(Transport::Network), Transport::Network),
];

struct Pair {
    _contexts: [Context; 2],
    server: Node,
    caller: Node,
}

fn pair() -> Pair {
    let (here, there) = (context(), context());
    let (server, caller) =
        (here.create_node("server").unwrap(), there.create_node("caller").unwrap());
    Pair { _contexts: [here, there], server, caller }
}

fn service_options(transports: TransportSet) -> ServiceOptions {
    ServiceOptions::default().transports(transports)
}

fn client<S: feros::message::Service>(
    caller: &Node,
    name: &str,
    transports: TransportSet,
) -> Client<S> {
    let options = ClientOptions::default().transports(transports);
    caller.create_client_with::<S>(name, options).unwrap()
}

/// Makes a server that answers each request with the number of requests so far.
fn counting_server(node: &Node, transports: TransportSet) -> (Service<Trigger>, Arc<AtomicUsize>) {
    let served = Arc::new(AtomicUsize::new(0));
    let count = served.clone();
    let service = node
        .create_service_with::<Trigger, _>(
            "count",
            service_options(transports),
            move |_: Trigger_Request| {
                let number = count.fetch_add(1, Ordering::Relaxed) + 1;
                Trigger_Response { success: true, message: number.to_string() }
            },
        )
        .unwrap();
    (service, served)
}

/// Makes a server that passes its responders to the test.
pub(crate) fn deferring_server(
    node: &Node,
    transports: TransportSet,
) -> (Service<Trigger>, Receiver<Responder<Trigger>>) {
    let (later, deferred) = sync_channel(1000);
    let service = node
        .create_service_with::<Trigger, _>(
            "later",
            service_options(transports),
            move |_: Trigger_Request, responder: Responder<Trigger>| {
                later.send(responder).unwrap();
            },
        )
        .unwrap();
    (service, deferred)
}

/// Waits until the client has found this number of servers, and its requests to all of them take
/// this transport.
fn until_on<S: feros::message::Service>(client: &Client<S>, transport: Transport, servers: usize) {
    client.wait_for_service(WATCHDOG).unwrap();
    eventually(|| {
        let found = client.transports();
        let takes = found.iter().filter(|found| found.transport == Some(transport)).count();
        if takes == servers && found.len() == servers { Ok(()) } else { Err(format!("{found:?}")) }
    });
}

fn count_of(counts: CallCounts, transport: Transport) -> u64 {
    match transport {
        Transport::IntraProcess => counts.intra_process.messages,
        Transport::SharedMemory => counts.shared_memory.messages,
        Transport::Network => counts.network.messages,
    }
}

/// Calls until a response arrives. With the engine, the first response may be lost: a server finds
/// the two endpoints of a client one after the other, and waits for the second endpoint only as
/// long as stock ROS 2 does, which may be too short on a busy machine.
fn first_call<S: feros::message::Service>(client: &Client<S>) -> S::Response
where
    S::Request: Default,
{
    eventually(|| client.call_and_wait(&S::Request::default(), Duration::from_secs(2)))
}

#[test]
fn calls_take_the_shortest_transport_that_both_sides_allow() {
    for (transports, transport) in TABLE {
        let pair = pair();
        let (service, served) = counting_server(&pair.server, transports);
        let _spinning = spinning_node(&pair.server);
        let client: Client<Trigger> = client(&pair.caller, "count", transports);
        until_on(&client, transport, 1);
        let first: usize = first_call(&client).message.parse().unwrap();
        for number in first + 1..=100 {
            let response = client.call_and_wait(&Trigger_Request::default(), WATCHDOG).unwrap();
            assert_eq!(response.message, number.to_string(), "{transport}");
        }
        assert_eq!(served.load(Ordering::Relaxed), 100);
        assert_eq!(count_of(client.counts(), transport), 100, "{:?}", client.counts());
        assert_eq!(count_of(service.counts(), transport), 100, "{:?}", service.counts());
        // The server may answer the client before it lists the client.
        let seen = eventually(|| match service.transports() {
            none if none.is_empty() => Err("no client"),
            seen => Ok(seen),
        });
        assert_eq!(seen.len(), 1);
        assert_eq!(seen[0].transport, Some(transport), "{seen:?}");
    }
}

#[test]
fn awaited_responses_come_without_a_thread_that_waits() {
    for (transports, transport) in TABLE {
        let pair = pair();
        let (_service, _) = counting_server(&pair.server, transports);
        let _spinning = spinning_node(&pair.server);
        let client: Client<Trigger> = client(&pair.caller, "count", transports);
        until_on(&client, transport, 1);
        let first: usize = first_call(&client).message.parse().unwrap();
        for number in first + 1..=100 {
            let call = client.call(&Trigger_Request::default()).unwrap();
            assert_eq!(block_on(call).unwrap().message, number.to_string(), "{transport}");
        }
    }
}

#[test]
fn many_threads_and_clients_each_get_their_own_responses_once() {
    const EACH: usize = 200;
    for (transports, transport) in &TABLE {
        let pair = pair();
        let service = pair
            .server
            .create_service_with::<SetBool, _>(
                "same",
                service_options(*transports),
                |request: SetBool_Request| SetBool_Response {
                    success: request.data,
                    message: String::new(),
                },
            )
            .unwrap();
        let _spinning = spinning_node(&pair.server);
        let clients: Vec<Client<SetBool>> =
            (0..3).map(|_| client(&pair.caller, "same", *transports)).collect();
        clients.iter().for_each(|client| until_on(client, *transport, 1));
        std::thread::scope(|scope| {
            for (index, client) in clients.iter().chain(&clients).enumerate() {
                let data = index % 2 == 0;
                let served = || service.counts();
                let calls = move || {
                    for round in 0..EACH {
                        let call = client.call(&SetBool_Request { data }).unwrap();
                        let response =
                            if round % 2 == 0 { call.wait(WATCHDOG) } else { block_on(call) };
                        let response = response.unwrap_or_else(|error| {
                            panic!(
                                "{transport}, round {round}, caller {index}: {error}; {:?}",
                                served()
                            )
                        });
                        assert_eq!(response.success, data, "{transport}, round {round}");
                    }
                };
                std::thread::Builder::new()
                    .name(format!("caller-{index}"))
                    .spawn_scoped(scope, calls)
                    .unwrap();
            }
        });
        assert_eq!(count_of(service.counts(), *transport), 6 * EACH as u64);
    }
}

#[test]
fn large_requests_and_responses_arrive_whole() {
    for (transports, transport) in TABLE {
        let pair = pair();
        let _service =
            pair.server
                .create_service_with::<SetParameters, _>(
                    "echo",
                    service_options(transports),
                    |request: SetParameters_Request| {
                        let reason = |one: Parameter| one.value.string_value;
                        let results = request.parameters.into_iter().map(|one| {
                            SetParametersResult { successful: true, reason: reason(one) }
                        });
                        SetParameters_Response { results: results.collect() }
                    },
                )
                .unwrap();
        let _spinning = spinning_node(&pair.server);
        let client: Client<SetParameters> = client(&pair.caller, "echo", transports);
        until_on(&client, transport, 1);
        first_call(&client);
        let before = count_of(client.counts(), transport);
        for size in [1, 4_000, 70_000, 1_000_000, 3_000_000, 10] {
            let text: String = (b'a'..=b'z').cycle().take(size).map(char::from).collect();
            let mut parameter = Parameter::default();
            parameter.value.string_value = text.clone();
            let request = SetParameters_Request { parameters: vec![parameter] };
            let response = client.call_and_wait(&request, WATCHDOG).unwrap();
            assert!(response.results[0].reason == text, "{transport}, {size} bytes");
        }
        assert_eq!(count_of(client.counts(), transport), before + 6, "{:?}", client.counts());
    }
}

#[test]
fn responses_too_large_for_shared_memory_take_the_network() {
    let pair = pair();
    let service = pair
        .server
        .create_service_with::<SetBool, _>(
            "large",
            service_options(BETWEEN_PROCESSES),
            |request: SetBool_Request| SetBool_Response {
                success: request.data,
                message: "x".repeat(if request.data { feros::shm::ARENA_BYTES } else { 1 }),
            },
        )
        .unwrap();
    let _spinning = spinning_node(&pair.server);
    let client: Client<SetBool> = client(&pair.caller, "large", BETWEEN_PROCESSES);
    until_on(&client, Transport::SharedMemory, 1);
    for data in [true, false, true] {
        let response = client.call_and_wait(&SetBool_Request { data }, WATCHDOG).unwrap();
        let expected = if data { feros::shm::ARENA_BYTES } else { 1 };
        assert_eq!(response.message.len(), expected);
    }
    assert_eq!(service.counts().shared_memory.messages, 3, "{:?}", service.counts());
    assert_eq!(service.counts().shared_memory_failures, 2, "{:?}", service.counts());
}

/// The test makes more calls than any queue holds. No request is lost while it waits for the
/// server, and no response is lost while it waits for the client.
#[test]
fn nothing_is_lost_where_more_calls_are_out_than_queues_hold() {
    const CALLS: usize = 300;
    for (transports, transport) in &TABLE[..2] {
        let pair = pair();
        let (_service, deferred) = deferring_server(&pair.server, *transports);
        let _spinning = spinning_node(&pair.server);
        let client: Client<Trigger> = client(&pair.caller, "later", *transports);
        until_on(&client, *transport, 1);
        let call = || client.call(&Trigger_Request::default()).unwrap();
        let calls: Vec<_> = (0..CALLS).map(|_| call()).collect();
        for number in 0..CALLS {
            let responder = deferred.recv_timeout(WATCHDOG).unwrap();
            let message = number.to_string();
            responder.send(&Trigger_Response { success: true, message }).unwrap();
        }
        for (number, call) in calls.into_iter().enumerate() {
            assert_eq!(call.wait(WATCHDOG).unwrap().message, number.to_string(), "{transport}");
        }
    }
}

/// A client that awaits no responses does not fill its servers' queues with them.
#[test]
fn a_server_can_respond_to_clients_that_do_not_wait() {
    let calls = dropped_futures(3000);
    for (transports, transport) in TABLE {
        let pair = pair();
        let (service, deferred) = deferring_server(&pair.server, transports);
        let _spinning = spinning_node(&pair.server);
        let client: Client<Trigger> = client(&pair.caller, "later", transports);
        until_on(&client, transport, 1);
        until("the server knows the client", || service.transports().len() == 1);
        for number in 0..calls {
            drop(client.call(&Trigger_Request::default()).unwrap());
            let responder = deferred.recv_timeout(WATCHDOG).unwrap();
            let sent = responder.send(&Trigger_Response::default());
            assert!(sent.is_ok(), "{transport}, response {number}: {sent:?}");
        }
        assert_eq!(count_of(service.counts(), transport), calls as u64);
        // The responses to as many calls as the queue has places wait there for the next call.
        let abandoned = (0..1024).map(|_| {
            drop(client.call(&Trigger_Request::default()).unwrap());
            deferred.recv_timeout(WATCHDOG).unwrap()
        });
        for responder in abandoned.collect::<Vec<_>>() {
            responder.send(&Trigger_Response::default()).unwrap();
        }
        let awaited = client.call(&Trigger_Request::default()).unwrap();
        let response = Trigger_Response { success: true, ..Trigger_Response::default() };
        deferred.recv_timeout(WATCHDOG).unwrap().send(&response).unwrap();
        assert!(awaited.wait(WATCHDOG).unwrap().success, "{transport}");
    }
}

#[test]
fn a_server_that_takes_no_requests_is_reported_after_a_limited_wait() {
    for (transports, transport) in &TABLE[..2] {
        let pair = pair();
        let (_service, _) = counting_server(&pair.server, *transports); // it is not spun
        let client: Client<Trigger> = client(&pair.caller, "count", *transports);
        until_on(&client, *transport, 1);
        let mut calls = Vec::new();
        let refused = loop {
            match client.call(&Trigger_Request::default()) {
                Ok(call) => calls.push(call),
                Err(error) => break error,
            }
            assert!(calls.len() < 10_000, "no queue is endless");
        };
        let is_busy = matches!(refused, PublishError::Engine(SendError::ServerBusy { .. }));
        assert!(is_busy, "{transport}: {refused}");
        // All requests that were accepted are answered.
        let _spinning = spinning_node(&pair.server);
        for call in calls {
            call.wait(WATCHDOG).unwrap();
        }
    }
}

#[test]
fn a_response_to_a_client_that_left_is_an_error() {
    for (transports, transport) in &TABLE[..2] {
        let pair = pair();
        let (service, deferred) = deferring_server(&pair.server, *transports);
        let _spinning = spinning_node(&pair.server);
        let client: Client<Trigger> = client(&pair.caller, "later", *transports);
        until_on(&client, *transport, 1);
        let call = client.call(&Trigger_Request::default()).unwrap();
        let responder = deferred.recv_timeout(WATCHDOG).unwrap();
        until("the server knows the client", || service.transports().len() == 1);
        drop((call, client));
        until("the server knows that it left", || service.transports().is_empty());
        let sent = responder.send(&Trigger_Response::default());
        let is_gone = matches!(sent, Err(PublishError::Engine(SendError::ClientGone { .. })));
        assert!(is_gone, "{transport}: {sent:?}");
    }
}

/// The call fails both for a thread that blocks and for a future that is awaited.
#[test]
fn a_call_whose_server_leaves_says_so() {
    for (transports, transport) in &TABLE[..2] {
        for is_awaited in [false, true] {
            let pair = pair();
            let (service, _) = counting_server(&pair.server, *transports); // it is not spun
            let client: Client<Trigger> = client(&pair.caller, "count", *transports);
            until_on(&client, *transport, 1);
            let calls = [(); 2].map(|()| client.call(&Trigger_Request::default()).unwrap());
            let wait = move |call: ResponseFuture<Trigger>| {
                if is_awaited { block_on(call) } else { call.wait(WATCHDOG) }
            };
            let [waits_already, waits_later] = calls;
            let thread = std::thread::Builder::new()
                .name("waits".into())
                .spawn(move || wait(waits_already))
                .unwrap();
            drop(service);
            for outcome in [thread.join().unwrap(), wait(waits_later)] {
                let error = outcome.unwrap_err();
                assert!(matches!(error, CallError::ServerLeft { .. }), "{transport}: {error}");
            }
        }
    }
}

#[test]
fn responses_sent_before_a_server_left_are_received() {
    for (transports, transport) in &TABLE[..2] {
        let pair = pair();
        let (told, answered) = sync_channel(1);
        let service = pair
            .server
            .create_service_with::<Trigger, _>(
                "last",
                service_options(*transports),
                move |_: Trigger_Request, responder: Responder<Trigger>| {
                    responder
                        .send(&Trigger_Response { success: true, ..Default::default() })
                        .unwrap();
                    told.send(()).unwrap();
                },
            )
            .unwrap();
        let _spinning = spinning_node(&pair.server);
        let client: Client<Trigger> = client(&pair.caller, "last", *transports);
        until_on(&client, *transport, 1);
        let call = client.call(&Trigger_Request::default()).unwrap();
        answered.recv_timeout(WATCHDOG).unwrap();
        drop(service);
        eventually(|| if client.transports().is_empty() { Ok(()) } else { Err("it is there") });
        assert!(call.wait(WATCHDOG).unwrap().success, "{transport}");
    }
}

#[test]
fn a_server_that_is_made_again_is_called_again() {
    for (transports, transport) in TABLE {
        let pair = pair();
        let client: Client<Trigger> = client(&pair.caller, "count", transports);
        let _spinning = spinning_node(&pair.server);
        // The number of rounds exceeds the number of channels that a client has to servers.
        for _ in 0..12 {
            let (service, served) = counting_server(&pair.server, transports);
            until_on(&client, transport, 1);
            let first: usize = first_call(&client).message.parse().unwrap();
            for _ in 0..3 {
                client.call_and_wait(&Trigger_Request::default(), WATCHDOG).unwrap();
            }
            assert_eq!(served.load(Ordering::Relaxed), first + 3, "{transport}");
            drop(service);
            eventually(|| if client.service_is_ready() { Err("it is there") } else { Ok(()) });
        }
    }
}

/// Two servers of one name may allow different transports. While one of them needs the engine,
/// requests to both go through the engine.
#[test]
fn each_server_of_a_name_gets_each_request_once() {
    let of = |transports: [TransportSet; 2], expected: [Transport; 2]| {
        let pair = pair();
        let servers = [("first", transports[0]), ("second", transports[1])].map(|(name, set)| {
            let node = pair._contexts[0].create_node(name).unwrap();
            let (service, served) = service_of(&node, set);
            (spinning_node(&node), service, served)
        });
        // The first response ends a call, so all requests may still be waiting at the other server.
        let options = ClientOptions { qos: QosProfile::keep_last(20), ..ClientOptions::default() };
        let client = pair.caller.create_client_with::<Trigger>("/shared", options).unwrap();
        client.wait_for_service(WATCHDOG).unwrap();
        eventually(|| {
            let found = client.transports();
            let takes = |one: &Transport| found.iter().any(|found| found.transport == Some(*one));
            if found.len() == 2 && expected.iter().all(takes) {
                Ok(())
            } else {
                Err(format!("{found:?}"))
            }
        });
        for _ in 0..20 {
            client.call_and_wait(&Trigger_Request::default(), WATCHDOG).unwrap();
        }
        for (_, service, served) in &servers {
            eventually(|| match served.load(Ordering::Relaxed) {
                20 => Ok(()),
                other => Err(format!("{other}: {:?}", service.counts())),
            });
        }
        client.counts()
    };
    let shared = TransportSet::NONE.with(Transport::SharedMemory).with(Transport::Network);
    let network = TransportSet::NONE.with(Transport::Network);
    let counts =
        of([TransportSet::ALL, shared], [Transport::IntraProcess, Transport::SharedMemory]);
    assert_eq!((counts.intra_process.messages, counts.shared_memory.messages), (20, 20));
    assert_eq!(counts.network.messages, 0);
    let counts = of([TransportSet::ALL, network], [Transport::IntraProcess, Transport::Network]);
    assert_eq!((counts.intra_process.messages, counts.network.messages), (0, 20));
}

fn service_of(node: &Node, transports: TransportSet) -> (Service<Trigger>, Arc<AtomicUsize>) {
    let served = Arc::new(AtomicUsize::new(0));
    let count = served.clone();
    let service = node
        .create_service_with::<Trigger, _>(
            "/shared",
            ServiceOptions { qos: QosProfile::keep_last(20), ..service_options(transports) },
            move |_: Trigger_Request| {
                count.fetch_add(1, Ordering::Relaxed);
                Trigger_Response::default()
            },
        )
        .unwrap();
    (service, served)
}

/// Later requests in shared memory do not overtake requests that the engine sends.
#[test]
fn requests_of_a_client_are_served_in_order_while_their_transport_changes() {
    for (transports, _) in &TABLE[..2] {
        let pair = pair();
        let client: Client<SetBool> = client(&pair.caller, "order", *transports);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let record = seen.clone();
        let _service = pair
            .server
            .create_service_with::<SetBool, _>(
                "order",
                service_options(*transports),
                move |request: SetBool_Request| {
                    record.lock().unwrap().push(request.data);
                    SetBool_Response::default()
                },
            )
            .unwrap();
        let _spinning = spinning_node(&pair.server);
        client.wait_for_service(WATCHDOG).unwrap();
        let mut expected = Vec::new();
        for round in 0..200 {
            // The two values of each round show the order of the two requests.
            let pair = [round % 2 == 0, round % 3 == 0];
            let calls = pair.map(|data| client.call(&SetBool_Request { data }).unwrap());
            expected.extend(pair);
            for call in calls {
                call.wait(WATCHDOG).unwrap();
            }
        }
        assert_eq!(*seen.lock().unwrap(), expected);
    }
}

#[test]
fn without_a_common_transport_nothing_is_called() {
    let pair = pair();
    let (_service, served) =
        counting_server(&pair.server, TransportSet::NONE.with(Transport::Network));
    let _spinning = spinning_node(&pair.server);
    let alone = TransportSet::NONE.with(Transport::SharedMemory);
    let client: Client<Trigger> = client(&pair.caller, "count", alone);
    eventually(|| match client.transports().as_slice() {
        [found] if found.transport.is_none() => Ok(()),
        found => Err(format!("{found:?}")),
    });
    assert!(!client.service_is_ready());
    let refused = client.call(&Trigger_Request::default()).map(drop).unwrap_err();
    assert!(matches!(refused, PublishError::NoServer { .. }), "{refused}");
    assert_eq!(served.load(Ordering::Relaxed), 0);
}

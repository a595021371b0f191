//! Services in both directions: values, large replies, several clients at the same time, late
//! replies, and the services of stock nodes.

use std::sync::Arc;
use std::time::Duration;

use feros::engine::TypeHash;
use feros::message::Service as ServiceType;
use feros::message::dynamic::DynamicType;
use feros::msgs::rcl_interfaces::msg::ParameterType;
use feros::msgs::rcl_interfaces::srv::{
    GetParameters, GetParameters_Request, ListParameters, ListParameters_Request,
};
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
use feros::msgs::test_msgs::srv as test_srvs;
use feros::msgs::type_description_interfaces::srv::{
    GetTypeDescription, GetTypeDescription_Request,
};
use feros::{Context, ContextOptions, Node, Responder, Service, ServiceIdentity, Transport};
use feros_cyclonedds::ConfiguredCycloneEngine;
use feros_interop::{Domain, Peer};
use serde_json::{Value, json};

use crate::support::{Inbox, Spinning, WATCHDOG, dynamic_type, items, node, options, stock};
use crate::values::{EXTREMES, difference, from_json, to_json};

const SET_BOOL: &str = "std_srvs/srv/SetBool";
const LARGE: usize = 300_000;

/// Answers `true` with a short message and `false` with a large one.
fn set_bool(request: SetBool_Request) -> SetBool_Response {
    let message = if request.data { "on".to_owned() } else { "x".repeat(LARGE) };
    SetBool_Response { success: request.data, message }
}

fn parts(service: &str) -> (DynamicType, DynamicType) {
    (dynamic_type(&format!("{service}_Request")), dynamic_type(&format!("{service}_Response")))
}

/// Makes stock and Feros clients call each other's server of one service type, whose response has
/// the fields of the request. The Feros server uses generated types, the Feros client dynamic
/// types.
fn exchange<S: ServiceType>(node: &Node, peer: &mut Peer, mirror: fn(S::Request) -> S::Response) {
    let (request_type, response_type) = parts(S::TYPE_NAME);
    let short = S::TYPE_NAME.replace('/', "_");
    let (ours, theirs) = (format!("/ours/{short}"), format!("/theirs/{short}"));
    let _service = node.create_service::<S, _>(&ours, mirror).unwrap();
    peer.ask("client", json!({"name": ours, "type": S::TYPE_NAME}));
    peer.ask("service", json!({"name": theirs, "type": S::TYPE_NAME}));
    let hash = |ty: &DynamicType| Some(TypeHash(ty.type_hash().0));
    let identity = ServiceIdentity {
        name: S::TYPE_NAME.to_owned(),
        type_hash: None,
        request_hash: hash(&request_type),
        response_hash: hash(&response_type),
    };
    let client =
        node.create_generic_client(&theirs, &identity, feros::ClientOptions::default()).unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    peer.ask("wait", json!({"service": ours}));

    for extreme in EXTREMES {
        let request = extreme.of(&request_type);
        let full = to_json(&from_json(&request_type, &request));
        let expected =
            if full == json!({}) { json!({}) } else { to_json(&from_json(&response_type, &full)) };
        let check = |what: &str, expected: &Value, found: &Value| {
            assert_eq!(difference(expected, found), None, "{extreme:?} {what} of {}", S::TYPE_NAME);
        };
        let answers = peer.ask("call", json!({"service": ours, "requests": [request]}));
        check("answer of ours", &expected, &answers[0]);

        let bytes = from_json(&request_type, &request).to_cdr().unwrap();
        let response = client.call_serialized(&bytes).unwrap().wait(WATCHDOG).unwrap();
        check("answer of theirs", &expected, &to_json(&response_type.decode(&response).unwrap()));
        let requests = peer.ask("requests", json!({"service": theirs}));
        check("request at theirs", &full, &requests[0]);
    }
}

#[test]
fn requests_and_responses_with_extreme_values_arrive_as_sent() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let _spinning = Spinning::new(&node);
    exchange::<test_srvs::Empty>(&node, &mut peer, |_| test_srvs::Empty_Response::default());
    // The response and the request have the same fields, so their bytes are equal.
    exchange::<test_srvs::BasicTypes>(&node, &mut peer, same_bytes);
    exchange::<test_srvs::Arrays>(&node, &mut peer, same_bytes);
}

/// The Feros service `/ours`, which leaves the responses to the test.
fn deferring_service(node: &Node) -> (Service<SetBool>, Inbox<Responder<SetBool>>) {
    let deferred = Inbox::new();
    let put = deferred.putter();
    let defer = move |_: SetBool_Request, responder: Responder<SetBool>| put(responder);
    (node.create_service::<SetBool, _>("/ours", defer).unwrap(), deferred)
}

fn same_bytes<A: feros::message::Message, B: feros::message::Message>(request: A) -> B {
    feros::message::from_bytes(&feros::message::to_vec(&request).unwrap()).unwrap()
}

#[test]
fn stock_clients_are_answered_small_and_large_and_several_at_once() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    peer.ask("client", json!({"name": "/switch", "type": SET_BOOL}));
    assert_eq!(peer.ask("ready", json!({"service": "/switch"})), false);
    let _spinning = Spinning::new(&node);
    let service = node.create_service::<SetBool, _>("/switch", set_bool).unwrap();
    peer.ask("wait", json!({"service": "/switch"}));
    let mut others: Vec<Peer> = (0..2).map(|_| stock(&domain)).collect();
    for other in &mut others {
        other.ask("client", json!({"name": "/switch", "type": SET_BOOL}));
        other.ask("wait", json!({"service": "/switch"}));
        // Once this call is answered, both sides know each other. A stock client that is not fully
        // discovered may drop replies after a large reply to another client.
        other.ask("call", json!({"service": "/switch", "requests": [{"data": true}]}));
    }
    // All nodes call at the same time; each gets the answers to its own requests, in order. The
    // test makes six calls in all, because a service keeps only ten requests and ten replies, as in
    // stock ROS 2.
    let pattern = [true, false];
    let requests: Value = pattern.iter().map(|data| json!({"data": data})).collect();
    std::thread::scope(|scope| {
        for client in others.iter_mut().chain([&mut peer]) {
            scope.spawn(|| {
                let answers =
                    client.ask("call", json!({"service": "/switch", "requests": requests}));
                for (answer, data) in items(&answers).iter().zip(pattern) {
                    assert_eq!(answer["success"], data);
                    let length = answer["message"].as_str().unwrap().len();
                    assert_eq!(length, if data { 2 } else { LARGE });
                }
            });
        }
    });
    drop(service);
    peer.eventually("ready", json!({"service": "/switch"}), |ready| *ready == false);
}

/// The fragments of a large reply may come in any order, since each fragment names the client.
#[test]
fn large_replies_reach_stock_over_a_link_that_loses_packets() {
    let Some(domain) = Domain::reserve() else { return };
    let mut peer = stock(&domain);
    let lossy = "<Internal><Test><XmitLossiness>150</XmitLossiness></Test></Internal>";
    let engine = ConfiguredCycloneEngine { configuration: lossy.to_owned() };
    let context =
        Context::new(ContextOptions { engine: Some(Arc::new(engine)), ..options(&domain) })
            .unwrap();
    let node = context.create_node("lossy").unwrap();
    let _spinning = Spinning::new(&node);
    let _service = node.create_service::<SetBool, _>("/switch", set_bool).unwrap();
    peer.ask("client", json!({"name": "/switch", "type": SET_BOOL}));
    peer.ask("wait", json!({"service": "/switch"}));
    for _ in 0..10 {
        let answers = peer.ask(
            "call",
            json!({"service": "/switch", "requests": vec![json!({"data": false}); 4]}),
        );
        for answer in items(&answers) {
            assert_eq!(answer["message"].as_str().unwrap().len(), LARGE);
        }
    }
}

#[test]
fn stock_servers_answer_small_and_large_and_several_calls_at_once() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let other = crate::support::node(&domain);
    let clients =
        [&node, &node, &other].map(|node| node.create_client::<SetBool>("/switch").unwrap());
    assert!(!clients[0].service_is_ready());
    let response = json!({"message": {"$repeat": ["x", LARGE]}, "success": true});
    peer.ask("service", json!({"name": "/switch", "type": SET_BOOL, "response": response}));
    for client in &clients {
        client.wait_for_service(WATCHDOG).unwrap();
    }
    // Every client receives the replies to all clients and keeps its own. The test makes six calls
    // in all, because servers and clients keep only ten messages, as in stock ROS 2.
    std::thread::scope(|scope| {
        for client in &clients {
            scope.spawn(|| {
                let calls: Vec<_> =
                    (0..2).map(|_| client.call(&SetBool_Request { data: true }).unwrap()).collect();
                for call in calls {
                    let response = call.wait(WATCHDOG).unwrap();
                    assert!(response.success && response.message == "x".repeat(LARGE));
                }
            });
        }
    });
    peer.ask("destroy", json!({"what": "service", "name": "/switch"}));
    let gone = || !clients[0].service_is_ready();
    node.context().wait_for_graph(WATCHDOG, || "the end of the service", gone).unwrap();
}

/// A stock server and a Feros server have the same name. While both exist, requests take the
/// network and reach each server once; after that, they take the shortest transport to the Feros
/// server again.
#[test]
fn a_stock_server_and_ours_of_one_name_each_get_each_request_once() {
    const CALLS: usize = 5;
    if feros_interop::peers_are_on_feros("a server that only the network reaches") {
        return;
    }
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let served = Inbox::new();
    let put = served.putter();
    let _service = node
        .create_service::<SetBool, _>("/switch", move |request: SetBool_Request| {
            put(request.data);
            set_bool(SetBool_Request { data: true })
        })
        .unwrap();
    let _spinning = Spinning::new(&node);
    let caller = crate::support::node(&domain);
    let client = caller.create_client::<SetBool>("/switch").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let call = || {
        for _ in 0..CALLS {
            let response = client.call_and_wait(&SetBool_Request { data: true }, WATCHDOG);
            assert!(response.unwrap().success);
        }
    };
    call();
    assert_eq!(client.counts().intra_process.messages, CALLS as u64, "{:?}", client.counts());

    let response = json!({"message": "theirs", "success": true});
    peer.ask("service", json!({"name": "/switch", "type": SET_BOOL, "response": response}));
    let on_network = |count: usize| {
        let found = client.transports();
        found.len() == count && found.iter().any(|one| one.transport == Some(Transport::Network))
    };
    let both = || on_network(2);
    caller.context().wait_for_graph(WATCHDOG, || "the stock server", both).unwrap();
    call();
    assert_eq!(client.counts().network.messages, CALLS as u64, "{:?}", client.counts());
    let requests = peer.ask("requests", json!({"service": "/switch", "count": CALLS}));
    assert_eq!(items(&requests).len(), CALLS);

    peer.ask("destroy", json!({"what": "service", "name": "/switch"}));
    let alone = || client.transports().len() == 1;
    caller.context().wait_for_graph(WATCHDOG, || "the end of the stock server", alone).unwrap();
    call();
    assert_eq!(client.counts().intra_process.messages, 2 * CALLS as u64, "{:?}", client.counts());
    (0..3 * CALLS).for_each(|_| assert!(served.take()));
    assert_eq!(served.take_now(), None, "each came once");
}

#[test]
fn answers_may_come_late_on_both_sides() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let _spinning = Spinning::new(&node);
    let (_service, deferred) = deferring_service(&node);
    peer.ask("client", json!({"name": "/ours", "type": SET_BOOL}));
    peer.ask("wait", json!({"service": "/ours"}));
    std::thread::scope(|scope| {
        let calling = scope.spawn(|| {
            peer.ask(
                "call",
                json!({"service": "/ours", "requests": [{"data": true}, {"data": true}]}),
            )
        });
        // The requests are answered in reverse order.
        let (first, second) = (deferred.take(), deferred.take());
        second.send(&SetBool_Response { success: false, message: "second".into() }).unwrap();
        first.send(&SetBool_Response { success: true, message: "first".into() }).unwrap();
        let answers = calling.join().unwrap();
        assert_eq!([&answers[0]["message"], &answers[1]["message"]], ["first", "second"]);
    });

    peer.ask("service", json!({"name": "/theirs", "type": SET_BOOL, "deferred": true}));
    let client = node.create_client::<SetBool>("/theirs").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let call = client.call(&SetBool_Request { data: true }).unwrap();
    peer.ask("requests", json!({"service": "/theirs"}));
    peer.ask("release", json!({"service": "/theirs"}));
    call.wait(WATCHDOG).unwrap();
}

#[test]
fn clients_that_vanish_do_not_disturb_the_others() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let _spinning = Spinning::new(&node);
    let (_service, deferred) = deferring_service(&node);
    let mut vanishing = stock(&domain);
    for client in [&mut vanishing, &mut peer] {
        client.ask("client", json!({"name": "/ours", "type": SET_BOOL}));
        client.ask("wait", json!({"service": "/ours"}));
    }
    vanishing.ask("send", json!({"service": "/ours", "request": {"data": false}}));
    let orphan = deferred.take();
    drop(vanishing);
    let one_client =
        || node.context().graph().count(feros::engine::EndpointKind::Client, "/ours") == 1;
    node.context().wait_for_graph(WATCHDOG, || "the end of the client", one_client).unwrap();
    // The engine need not report an error, but the response must neither block nor reach another
    // client.
    let _ = orphan.send(&SetBool_Response { success: false, message: "for nobody".into() });
    std::thread::scope(|scope| {
        let calling = scope
            .spawn(|| peer.ask("call", json!({"service": "/ours", "requests": [{"data": true}]})));
        deferred
            .take()
            .send(&SetBool_Response { success: true, message: "for you".into() })
            .unwrap();
        assert_eq!(calling.join().unwrap(), json!([{"success": true, "message": "for you"}]));
    });

    // The Feros client vanishes while a stock server handles its request.
    peer.ask("service", json!({"name": "/theirs", "type": SET_BOOL, "deferred": true}));
    let short_lived = crate::support::node(&domain);
    let client = short_lived.create_client::<SetBool>("/theirs").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let call = client.call(&SetBool_Request { data: false }).unwrap();
    peer.ask("requests", json!({"service": "/theirs"}));
    drop((call, client, short_lived));
    peer.ask("release", json!({"service": "/theirs"}));
    let client = node.create_client::<SetBool>("/theirs").unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    let call = client.call(&SetBool_Request { data: true }).unwrap();
    peer.ask("release", json!({"service": "/theirs"}));
    call.wait(WATCHDOG).unwrap();
}

#[test]
fn services_of_stock_nodes_answer() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, _peer) = (node(&domain), stock(&domain));
    let client = |name: &str| format!("/theirs/stock_node/{name}");

    let list = node.create_client::<ListParameters>(&client("list_parameters")).unwrap();
    list.wait_for_service(WATCHDOG).unwrap();
    let names =
        list.call_and_wait(&ListParameters_Request::default(), WATCHDOG).unwrap().result.names;
    assert!(names.contains(&"use_sim_time".to_owned()), "{names:?}");

    let get = node.create_client::<GetParameters>(&client("get_parameters")).unwrap();
    get.wait_for_service(WATCHDOG).unwrap();
    let request = GetParameters_Request { names: vec!["use_sim_time".into()] };
    let values = get.call_and_wait(&request, WATCHDOG).unwrap().values;
    assert_eq!(values.len(), 1);
    assert_eq!((values[0].r#type, values[0].bool_value), (ParameterType::PARAMETER_BOOL, false));

    let describe =
        node.create_client::<GetTypeDescription>(&client("get_type_description")).unwrap();
    describe.wait_for_service(WATCHDOG).unwrap();
    let ty = dynamic_type("rcl_interfaces/msg/Log");
    let request = GetTypeDescription_Request {
        type_name: ty.name().to_string(),
        type_hash: ty.type_hash().to_string(),
        include_type_sources: true,
    };
    let answer = describe.call_and_wait(&request, WATCHDOG).unwrap();
    assert!(answer.successful, "{}", answer.failure_reason);
    assert_eq!(answer.type_description.type_description.type_name, "rcl_interfaces/msg/Log");
    assert_eq!(answer.type_description.type_description.fields.len(), ty.fields().len());

    let unknown =
        GetTypeDescription_Request { type_hash: format!("RIHS01_{}", "0".repeat(64)), ..request };
    let answer = describe.call_and_wait(&unknown, WATCHDOG).unwrap();
    assert!(!answer.successful, "{answer:?}");
    assert!(describe.wait_for_service(Duration::ZERO).is_ok());
}

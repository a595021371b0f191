//! Service introspection: stock nodes receive the events of Feros clients and services, and Feros
//! nodes receive the events of stock clients and services.

use feros::msgs::service_msgs::msg::ServiceEventInfo;
use feros::msgs::std_srvs::srv::{SetBool, SetBool_Event, SetBool_Request, SetBool_Response};
use feros::{QosProfile, ServiceIntrospectionState};
use feros_interop::{Domain, peers_are_on_rmw_of_jazzy};
use serde_json::{Value, json};

use crate::support::{Inbox, Spinning, WATCHDOG, items, node, stock};

const SET_BOOL: &str = "std_srvs/srv/SetBool";
const EVENTS: &str = "/switch/_service_event";

/// QoS policies that deliver events from before the match too.
fn latched() -> Value {
    json!({"durability": "transient_local", "depth": 10})
}

fn answer(request: SetBool_Request) -> SetBool_Response {
    SetBool_Response { success: request.data, message: "done".into() }
}

#[test]
fn stock_hears_what_our_ends_publish() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let service = node.create_service::<SetBool, _>("/switch", answer).unwrap();
    let client = node.create_client::<SetBool>("/switch").unwrap();
    let _spinning = Spinning::new(&node);
    client.wait_for_service(WATCHDOG).unwrap();
    let qos = QosProfile::keep_last(10).transient_local();
    service
        .configure_introspection(node.clock(), qos, ServiceIntrospectionState::Contents)
        .unwrap();
    client.configure_introspection(node.clock(), qos, ServiceIntrospectionState::Metadata).unwrap();
    peer.ask(
        "event_subscription",
        json!({"service": "/switch", "type": SET_BOOL, "qos": latched()}),
    );
    peer.ask("matched", json!({"topic": EVENTS, "publishers": 2}));
    client.call_and_wait(&SetBool_Request { data: true }, WATCHDOG).unwrap();
    let heard = peer.ask("take", json!({"topic": EVENTS, "count": 4}));
    let of = |kind: u8| -> &Value {
        let mut found =
            items(&heard).iter().filter(|event| event["info"]["event_type"] == json!(kind));
        found.next().unwrap_or_else(|| panic!("no event {kind} in {heard}"))
    };
    let request = of(ServiceEventInfo::REQUEST_RECEIVED);
    assert_eq!((&request["request"], &request["response"]), (&json!([{"data": true}]), &json!([])));
    let response = of(ServiceEventInfo::RESPONSE_SENT);
    let sent = json!([{"success": true, "message": "done"}]);
    assert_eq!((&response["request"], &response["response"]), (&json!([]), &sent));
    for kind in [ServiceEventInfo::REQUEST_SENT, ServiceEventInfo::RESPONSE_RECEIVED] {
        let event = of(kind);
        assert_eq!((&event["request"], &event["response"]), (&json!([]), &json!([])));
        assert_eq!(event["info"]["sequence_number"], request["info"]["sequence_number"]);
        assert_eq!(event["info"]["client_gid"], request["info"]["client_gid"]);
    }

    // A stock client of a Feros service: the sequence number and, except in Jazzy, the client's gid
    // are the same in the events of both sides.
    peer.ask("client", json!({"name": "/switch", "type": SET_BOOL}));
    peer.ask(
        "introspect",
        json!({"what": "client", "name": "/switch", "state": "metadata", "qos": latched()}),
    );
    peer.ask("matched", json!({"topic": EVENTS, "publishers": 3}));
    peer.ask("wait", json!({"service": "/switch"}));
    peer.ask("call", json!({"service": "/switch", "requests": [{"data": false}]}));
    let heard = peer.ask("take", json!({"topic": EVENTS, "count": 4}));
    let mut heard = items(&heard).to_vec();
    heard.sort_by_key(|event| event["info"]["event_type"].as_u64());
    assert_eq!(heard[1]["request"], json!([{"data": false}]), "{heard:?}");
    assert_eq!(heard[2]["response"], json!([{"success": false, "message": "done"}]), "{heard:?}");
    for event in &heard {
        assert_eq!(event["info"]["sequence_number"], heard[0]["info"]["sequence_number"]);
    }
    // In Jazzy, the events of a client have the gid of its request writer, and those of a server,
    // stock or Feros, the gid of its response reader, which the request carries.
    let gid = |at: usize| &heard[at]["info"]["client_gid"];
    assert_eq!((gid(0), gid(1)), (gid(3), gid(2)), "{heard:?}");
    assert_eq!(gid(0) == gid(1), !peers_are_on_rmw_of_jazzy(), "{heard:?}");
}

#[test]
fn we_hear_what_ends_of_stock_publish() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let response = json!({"message": "theirs", "success": true});
    peer.ask("service", json!({"name": "/switch", "type": SET_BOOL, "response": response}));
    peer.ask(
        "introspect",
        json!({"what": "service", "name": "/switch", "state": "contents", "qos": latched()}),
    );
    let heard = Inbox::<SetBool_Event>::new();
    let qos = QosProfile::keep_last(10).transient_local();
    let subscription = node.create_subscription(EVENTS, qos, heard.putter()).unwrap();
    let _spinning = Spinning::new(&node);
    subscription.wait_for_publishers(1, WATCHDOG).unwrap();
    let client = node.create_client::<SetBool>("/switch").unwrap();
    let metadata = ServiceIntrospectionState::Metadata;
    client.configure_introspection(node.clock(), qos, metadata).unwrap();
    subscription.wait_for_publishers(2, WATCHDOG).unwrap();
    client.wait_for_service(WATCHDOG).unwrap();
    client.call_and_wait(&SetBool_Request { data: true }, WATCHDOG).unwrap();
    let mut events: Vec<SetBool_Event> = (0..4).map(|_| heard.take()).collect();
    events.sort_by_key(|event| event.info.event_type);
    let [sent, request, response, _] = &events[..] else { panic!("four were taken") };
    assert_eq!(request.info.event_type, ServiceEventInfo::REQUEST_RECEIVED);
    assert_eq!(request.request, [SetBool_Request { data: true }]);
    assert_eq!(response.info.event_type, ServiceEventInfo::RESPONSE_SENT);
    assert_eq!(response.response[0].message, "theirs");
    for event in &events {
        assert_eq!(event.info.client_gid, sent.info.client_gid, "{:?}", event.info);
        assert_eq!(event.info.sequence_number, sent.info.sequence_number);
    }
}

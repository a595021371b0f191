//! Introspection of actions: stock nodes receive the events of Feros clients and servers, and Feros
//! nodes receive the events of stock clients and servers.

use feros::message::{Action, Message, Service};
use feros::msgs::action_msgs::srv::CancelGoal;
use feros::msgs::service_msgs::msg::ServiceEventInfo;
use feros::msgs::test_msgs::action::{Fibonacci, Fibonacci_Goal};
use feros::{ActionServerOptions, Node, QosProfile, ServiceIntrospectionState, Subscription};
use feros_interop::{Domain, Peer, peers_are_of_jazzy};
use serde_json::{Value, json};

use crate::actions::{result, serve};
use crate::support::{Inbox, Spinning, WATCHDOG, items, node, stock};

const FIBONACCI: &str = "test_msgs/action/Fibonacci";
const PARTS: [&str; 3] = ["SendGoalService", "CancelGoalService", "GetResultService"];

/// What stock ROS 2 has since Kilted (`rcl_action_client_configure_action_introspection`).
const INTROSPECTION: &str = "the events of actions that stock nodes publish";

/// QoS policies that deliver events from before the match too.
fn latched() -> (QosProfile, Value) {
    let profile = QosProfile::keep_last(10).transient_local();
    (profile, json!({"durability": "transient_local", "depth": 10}))
}

/// Makes the stock node listen to the events of one service of the Feros server.
fn hear_at_stock(peer: &mut Peer, part: &str) {
    let qos = latched().1;
    let arguments = json!({"name": "/ours/fib", "type": FIBONACCI, "part": part, "qos": qos});
    peer.ask("action_events", arguments);
}

/// The four events of one call that the stock node receives, in the order of the steps, with the
/// same client and the same call.
fn heard_by_stock(peer: &mut Peer, part: &str) -> Vec<Value> {
    let arguments = json!({"name": "/ours/fib", "part": part, "count": 4});
    let mut events = items(&peer.ask("events_of", arguments)).to_vec();
    events.sort_by_key(|event| event["info"]["event_type"].as_u64());
    let kinds: Vec<&Value> = events.iter().map(|event| &event["info"]["event_type"]).collect();
    assert_eq!(kinds, [&json!(0), &json!(1), &json!(2), &json!(3)], "{part}");
    for event in &events {
        for field in ["client_gid", "sequence_number"] {
            assert_eq!(event["info"][field], events[0]["info"][field], "{part}: {event}");
        }
    }
    events
}

#[test]
fn stock_hears_what_our_server_and_client_publish() {
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let _spinning = Spinning::new(&node);
    let (server, accepted) = serve(&node, "fib", ActionServerOptions::default());
    let client = node.create_action_client::<Fibonacci>("fib").unwrap();
    let (qos, contents) = (latched().0, ServiceIntrospectionState::Contents);
    server.configure_introspection(node.clock(), qos, contents).unwrap();
    client.configure_introspection(node.clock(), qos, contents).unwrap();
    for part in PARTS {
        hear_at_stock(&mut peer, part);
    }
    client.wait_for_server(WATCHDOG).unwrap();
    let goal = client.send_goal_and_wait(Fibonacci_Goal { order: 4 }, WATCHDOG).unwrap();
    let events = heard_by_stock(&mut peer, PARTS[0]);
    assert_eq!(events[0]["request"][0]["goal"], json!({"order": 4}));
    assert_eq!(events[1]["request"], events[0]["request"]);
    assert_eq!(events[2]["response"][0]["accepted"], json!(true));
    assert_eq!(events[3]["response"], events[2]["response"]);
    goal.cancel().unwrap().wait(WATCHDOG).unwrap();
    let events = heard_by_stock(&mut peer, PARTS[1]);
    let id = json!({"uuid": goal.goal_id()});
    assert_eq!(events[1]["request"][0]["goal_info"]["goal_id"], id);
    assert_eq!(events[2]["response"][0]["return_code"], json!(0));
    accepted.take().canceled(result(&[7])).unwrap();
    goal.get_result().unwrap().wait(WATCHDOG).unwrap();
    let events = heard_by_stock(&mut peer, PARTS[2]);
    let outcome = json!([{"status": 5, "result": {"sequence": [7]}}]);
    assert_eq!((&events[2]["response"], &events[3]["response"]), (&outcome, &outcome));
}

/// The stock client and the Feros server report the same client gid.
#[test]
fn stock_hears_what_its_client_and_our_server_publish() {
    if peers_are_of_jazzy(INTROSPECTION) {
        return;
    }
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let _spinning = Spinning::new(&node);
    let (server, _accepted) = serve(&node, "fib", ActionServerOptions::default());
    let (qos, stock_qos) = latched();
    let contents = ServiceIntrospectionState::Contents;
    server.configure_introspection(node.clock(), qos, contents).unwrap();
    hear_at_stock(&mut peer, PARTS[0]);
    peer.ask("action_client", json!({"name": "/ours/fib", "type": FIBONACCI}));
    let arguments =
        json!({"what": "client", "name": "/ours/fib", "state": "metadata", "qos": stock_qos});
    peer.ask("introspect_action", arguments);
    peer.ask("wait_for_action", json!({"name": "/ours/fib"}));
    peer.ask("send_goal", json!({"name": "/ours/fib", "goal": {"order": 2}}));
    let events = heard_by_stock(&mut peer, PARTS[0]);
    assert_eq!((&events[0]["request"], &events[3]["response"]), (&json!([]), &json!([])));
    assert_eq!(events[1]["request"][0]["goal"], json!({"order": 2}));
}

/// Listens to the events of one service of the stock server.
fn listen<E: Message>(node: &Node, service: &str) -> (Subscription<E>, Inbox<E>) {
    let (heard, topic) = (Inbox::new(), format!("/theirs/fib/_action/{service}/_service_event"));
    let subscription = node.create_subscription(&topic, latched().0, heard.putter()).unwrap();
    (subscription, heard)
}

#[test]
fn we_hear_what_a_stock_server_publishes() {
    if peers_are_of_jazzy(INTROSPECTION) {
        return;
    }
    let Some(domain) = Domain::reserve() else { return };
    let (node, mut peer) = (node(&domain), stock(&domain));
    let _spinning = Spinning::new(&node);
    peer.ask("action_server", json!({"name": "/theirs/fib", "type": FIBONACCI}));
    let arguments =
        json!({"what": "server", "name": "/theirs/fib", "state": "contents", "qos": latched().1});
    peer.ask("introspect_action", arguments);
    type Goals = <<Fibonacci as Action>::SendGoal as Service>::Event;
    type Results = <<Fibonacci as Action>::GetResult as Service>::Event;
    let (_goals, goals) = listen::<Goals>(&node, "send_goal");
    let (_cancels, cancels) = listen::<<CancelGoal as Service>::Event>(&node, "cancel_goal");
    let (_results, results) = listen::<Results>(&node, "get_result");
    let client = node.create_action_client::<Fibonacci>("/theirs/fib").unwrap();
    client.wait_for_server(WATCHDOG).unwrap();
    let goal = client.send_goal_and_wait(Fibonacci_Goal { order: 3 }, WATCHDOG).unwrap();
    let (request, response) = (goals.take(), goals.take());
    assert_eq!(request.info.event_type, ServiceEventInfo::REQUEST_RECEIVED);
    assert_eq!(
        (request.request[0].goal_id.uuid, request.request[0].goal.order),
        (goal.goal_id(), 3)
    );
    assert_eq!(response.info.event_type, ServiceEventInfo::RESPONSE_SENT);
    assert!(response.response[0].accepted);
    goal.cancel().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(cancels.take().request[0].goal_info.goal_id.uuid, goal.goal_id());
    assert_eq!(cancels.take().response[0].goals_canceling.len(), 1);
    let id: String = goal.goal_id().iter().map(|byte| format!("{byte:02x}")).collect();
    let canceled = json!({"sequence": [4]});
    peer.ask(
        "end",
        json!({"name": "/theirs/fib", "id": id, "outcome": "canceled", "result": canceled}),
    );
    goal.get_result().unwrap().wait(WATCHDOG).unwrap();
    assert_eq!(results.take().request[0].goal_id.uuid, goal.goal_id());
    assert_eq!(results.take().response[0].result, result(&[4]));
}

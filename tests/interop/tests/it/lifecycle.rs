//! Managed nodes in both directions: a stock node that Feros manages, and a Feros node that a stock
//! client manages and a stock subscription watches.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use feros::lifecycle::{CallbackReturn, LifecycleCallbacks, State, Transition};
use feros::msgs::lifecycle_msgs::msg::{TransitionDescription, TransitionEvent};
use feros::msgs::std_msgs::msg::String as Text;
use feros::{Error, LifecycleClient, LifecycleNode, NodeOptions};
use feros_interop::{Distribution, Domain, Peer, distribution};
use serde_json::{Value, json};

use crate::support::{Inbox, Spinning, WATCHDOG, context, items, node, stock};

type Told = (String, String);

/// Takes the reported transitions up to the first transition that leads to the state `goal`.
fn told_until(inbox: &Inbox<TransitionEvent>, goal: &str) -> Vec<Told> {
    let mut told: Vec<Told> = Vec::new();
    while told.last().is_none_or(|(_, reached)| reached != goal) {
        let event = inbox.take();
        told.push((event.start_state.label, event.goal_state.label));
    }
    told
}

fn pairs(expected: &[(&str, &str)]) -> Vec<Told> {
    expected.iter().map(|(start, goal)| ((*start).to_owned(), (*goal).to_owned())).collect()
}

#[test]
fn a_stock_node_is_managed_by_feros() {
    let Some(domain) = Domain::reserve() else { return };
    let mut peer = stock(&domain);
    peer.ask("lifecycle", json!({"name": "managed", "results": {"deactivate": "failure"}}));
    let node = node(&domain);
    let client = LifecycleClient::new(&node, "/theirs/managed").unwrap();
    let events = Inbox::new();
    let put = events.putter();
    let watched = client.on_transition_event(put).unwrap();
    let chatter = Inbox::new();
    let put = chatter.putter();
    let heard = node.create_subscription("/theirs/managed/chatter", 10, move |text: Text| {
        put(text.data);
    });
    let heard = heard.unwrap();
    let _spinning = Spinning::new(&node);
    watched.wait_for_publishers(1, WATCHDOG).unwrap();
    heard.wait_for_publishers(1, WATCHDOG).unwrap();
    let state = || client.get_state(WATCHDOG).unwrap().label;
    assert_eq!(state(), "unconfigured");
    // This side may see the match before the other side does, so the test configures the node
    // repeatedly until an event arrives.
    loop {
        assert!(client.change_state("configure", WATCHDOG).unwrap());
        let is_heard = events.take_within(Duration::from_millis(200)).is_some();
        assert!(client.change_state("cleanup", WATCHDOG).unwrap());
        if is_heard {
            break;
        }
    }
    // Transitions that do not exist, or that this state does not allow.
    assert!(!client.change_state("activate", WATCHDOG).unwrap());
    assert!(!client.change_state("nope", WATCHDOG).unwrap());
    // In Jazzy, a number without a transition ends a node of rclpy with an exception.
    if distribution() == Distribution::Kilted {
        assert!(!client.change_state(77_u8, WATCHDOG).unwrap());
    }
    assert!(client.change_state("configure", WATCHDOG).unwrap());
    peer.ask("lifecycle_publish", json!({"name": "managed", "text": "dropped"}));
    assert!(client.change_state(3_u8, WATCHDOG).unwrap());
    assert_eq!(state(), "active");
    peer.eventually("lifecycle_publish", json!({"name": "managed", "text": "heard"}), |_| {
        chatter.take_within(Duration::from_millis(200)).is_some_and(|text| {
            assert_eq!(text, "heard");
            true
        })
    });
    assert!(!client.change_state("deactivate", WATCHDOG).unwrap());
    assert_eq!(state(), "active");
    let states = client.get_available_states(WATCHDOG).unwrap();
    assert_eq!(
        states.iter().map(|state| (state.id, state.label.as_str())).collect::<Vec<_>>(),
        State::ALL.map(|state| (state.id(), state.label()))
    );
    let graph = client.get_transition_graph(WATCHDOG).unwrap();
    let ours: Vec<TransitionDescription> = Transition::ALL.into_iter().map(Into::into).collect();
    assert_eq!(graph, ours, "the whole graph is that of stock, in the same order");
    let available = client.get_available_transitions(WATCHDOG).unwrap();
    assert_eq!(available.iter().map(|t| t.transition.id).collect::<Vec<_>>(), [4, 7]);
    assert!(client.change_state("shutdown", WATCHDOG).unwrap());
    assert_eq!(state(), "finalized");
    let expected = [
        ("unconfigured", "configuring"),
        ("configuring", "inactive"),
        ("inactive", "activating"),
        ("activating", "active"),
        ("active", "deactivating"),
        ("deactivating", "active"),
        ("active", "shuttingdown"),
        ("shuttingdown", "finalized"),
    ];
    let told = told_until(&events, "finalized");
    assert_eq!(told[told.len() - expected.len()..], pairs(&expected));
    let calls = peer.ask("lifecycle_calls", json!({"name": "managed"}));
    let expected = json!([
        ["configure", "unconfigured"],
        ["activate", "inactive"],
        ["deactivate", "active"],
        ["shutdown", "active"]
    ]);
    let first = items(&calls).len() - items(&expected).len();
    assert_eq!(items(&calls)[first..], *items(&expected));
}

/// Notes its callbacks, fails to activate `failures` times, and reports an error in `cleanup`.
struct Managed {
    calls: Arc<Mutex<Vec<(&'static str, State)>>>,
    failures: u32,
}

impl Managed {
    fn note(&self, callback: &'static str, previous: State) -> Result<CallbackReturn, Error> {
        self.calls.lock().unwrap().push((callback, previous));
        Ok(CallbackReturn::Success)
    }
}

impl LifecycleCallbacks for Managed {
    fn on_configure(&mut self, _: &LifecycleNode, p: State) -> Result<CallbackReturn, Error> {
        self.note("configure", p)
    }

    fn on_activate(&mut self, _: &LifecycleNode, p: State) -> Result<CallbackReturn, Error> {
        self.note("activate", p)?;
        if self.failures == 0 {
            return Ok(CallbackReturn::Success);
        }
        self.failures -= 1;
        Ok(CallbackReturn::Failure)
    }

    fn on_deactivate(&mut self, _: &LifecycleNode, p: State) -> Result<CallbackReturn, Error> {
        self.note("deactivate", p)
    }

    fn on_cleanup(&mut self, _: &LifecycleNode, p: State) -> Result<CallbackReturn, Error> {
        self.note("cleanup", p)?;
        panic!("as wanted by the test");
    }

    fn on_error(&mut self, _: &LifecycleNode, p: State) -> Result<CallbackReturn, Error> {
        self.note("error", p)
    }
}

const SERVICES: [(&str, &str); 5] = [
    ("change_state", "ChangeState"),
    ("get_state", "GetState"),
    ("get_available_states", "GetAvailableStates"),
    ("get_available_transitions", "GetAvailableTransitions"),
    ("get_transition_graph", "GetAvailableTransitions"),
];

fn call(peer: &mut Peer, service: &str, request: Value) -> Value {
    let service = format!("/ours/managed/{service}");
    peer.ask("call", json!({"service": service, "requests": [request]}))[0].take()
}

fn change(peer: &mut Peer, id: u8, label: &str) -> bool {
    let request = json!({"transition": {"id": id, "label": label}});
    call(peer, "change_state", request)["success"].as_bool().unwrap()
}

#[test]
fn a_node_of_feros_is_managed_by_stock() {
    let Some(domain) = Domain::reserve() else { return };
    let calls: Arc<Mutex<Vec<(&'static str, State)>>> = Arc::default();
    let options = NodeOptions::new("managed").namespace("/ours");
    let callbacks = Managed { calls: calls.clone(), failures: 1 };
    let node = context(&domain).create_lifecycle_node_with(options, callbacks).unwrap();
    let publisher = node.create_lifecycle_publisher::<Text>("~/chatter", 10).unwrap();
    let _spinning = Spinning::new(&node);
    let mut peer = stock(&domain);
    for (service, kind) in SERVICES {
        let name = format!("/ours/managed/{service}");
        let kind = format!("lifecycle_msgs/srv/{kind}");
        peer.ask("client", json!({"name": name, "type": kind}));
        peer.ask("wait", json!({"service": name}));
    }
    let (events, chatter) = ("/ours/managed/transition_event", "/ours/managed/chatter");
    let kind = "lifecycle_msgs/msg/TransitionEvent";
    peer.ask("subscription", json!({"topic": events, "type": kind}));
    peer.ask("matched", json!({"topic": events, "publishers": 1}));
    peer.ask("subscription", json!({"topic": chatter, "type": "std_msgs/msg/String"}));
    publisher.wait_for_subscriptions(1, WATCHDOG).unwrap();
    // The Feros side must also have seen the subscription.
    let matched = || node.subscriptions_info_by_topic(events).unwrap().len() == 1;
    feros_test_support::until("the stock subscription", matched);

    let unconfigured = json!({"current_state": {"id": 1, "label": "unconfigured"}});
    assert_eq!(call(&mut peer, "get_state", json!({})), unconfigured);
    for (id, label) in
        [(0, ""), (3, ""), (10, ""), (97, ""), (255, ""), (1, "nope"), (0, "activate")]
    {
        assert!(!change(&mut peer, id, label), "{id} {label:?}");
    }
    // A transition's label takes precedence over its number.
    assert!(change(&mut peer, 3, "configure"));
    assert!(!change(&mut peer, 3, ""), "it fails once");
    publisher.publish(Text { data: "dropped".into() }).unwrap();
    assert!(change(&mut peer, 3, ""));
    publisher.publish(Text { data: "heard".into() }).unwrap();
    assert_eq!(peer.ask("take", json!({"topic": chatter})), json!([{"data": "heard"}]));
    let available = call(&mut peer, "get_available_transitions", json!({}));
    let ids: Vec<_> = items(&available["available_transitions"])
        .iter()
        .map(|described| described["transition"].clone())
        .collect();
    let expected = [json!({"id": 4, "label": "deactivate"}), json!({"id": 7, "label": "shutdown"})];
    assert_eq!(ids, expected);
    let graph = call(&mut peer, "get_transition_graph", json!({}));
    assert_eq!(items(&graph["available_transitions"]).len(), 25);
    let states = call(&mut peer, "get_available_states", json!({}));
    assert_eq!(items(&states["available_states"]).len(), 11);
    assert!(change(&mut peer, 4, ""));
    assert!(!change(&mut peer, 0, "cleanup"), "its callback panics");
    assert_eq!(call(&mut peer, "get_state", json!({})), unconfigured, "on_error has healed it");
    assert!(change(&mut peer, 0, "shutdown"));

    let told = peer.ask("take", json!({"topic": events, "count": 13}));
    let told: Vec<String> = items(&told)
        .iter()
        .map(|event| {
            let label = |state: &str| event[state]["label"].as_str().unwrap().to_owned();
            format!("{} {}", label("start_state"), label("goal_state"))
        })
        .collect();
    let expected = [
        "unconfigured configuring",
        "configuring inactive",
        "inactive activating",
        "activating inactive",
        "inactive activating",
        "activating active",
        "active deactivating",
        "deactivating inactive",
        "inactive cleaningup",
        "cleaningup errorprocessing",
        "errorprocessing unconfigured",
        "unconfigured shuttingdown",
        "shuttingdown finalized",
    ];
    assert_eq!(told, expected);
    let expected = [
        ("configure", State::Unconfigured),
        ("activate", State::Inactive),
        ("activate", State::Inactive),
        ("deactivate", State::Active),
        ("cleanup", State::Inactive),
        ("error", State::Inactive),
    ];
    assert_eq!(*calls.lock().unwrap(), expected);
    assert_eq!(publisher.dropped_while_inactive(), 1);
}

/// The return value of a callback leads to the same states on both sides.
#[test]
fn errors_end_where_they_end_with_stock() {
    struct Returns(&'static str, &'static str);

    impl Returns {
        fn result(name: &str) -> Result<CallbackReturn, Error> {
            match name {
                "success" => Ok(CallbackReturn::Success),
                "failure" => Ok(CallbackReturn::Failure),
                "error" => Ok(CallbackReturn::Error),
                _ => Err(Error::other("as wanted by the test")),
            }
        }
    }

    impl LifecycleCallbacks for Returns {
        fn on_configure(&mut self, _: &LifecycleNode, _: State) -> Result<CallbackReturn, Error> {
            Self::result(self.0)
        }

        fn on_error(&mut self, _: &LifecycleNode, _: State) -> Result<CallbackReturn, Error> {
            Self::result(self.1)
        }
    }

    let Some(domain) = Domain::reserve() else { return };
    let mut peer = stock(&domain);
    let context = context(&domain);
    for first in ["success", "failure", "error", "raise"] {
        for second in ["success", "failure", "error", "raise"] {
            let name = format!("{first}_{second}");
            peer.ask(
                "lifecycle",
                json!({"name": name, "results": {"configure": first, "error": second}}),
            );
            let theirs =
                peer.ask("lifecycle_trigger", json!({"name": name, "transition": "configure"}));
            let state = peer.ask("lifecycle_state", json!({"name": name}));
            let ours = context.create_lifecycle_node(&name, Returns(first, second)).unwrap();
            let changed = ours.configure();
            assert_eq!(json!(ours.current_state().label()), state, "{name}");
            assert_eq!(changed.is_ok(), theirs == "success", "{name}: {changed:?} {theirs}");
        }
    }
}

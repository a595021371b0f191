//! `feros bridge` between stock nodes in two domains, which do not discover each other without it.

use feros_interop::{Domain, Peer};
use feros_test_support::Watchdog;
use serde_json::json;

use super::{SET_BOOL, TEXT};
use crate::process::Running;

const FIBONACCI: &str = "test_msgs/action/Fibonacci";

struct Sides {
    domains: [Domain; 2],
    peers: [Peer; 2],
}

impl Sides {
    /// `None` if the interop tests are skipped.
    fn start() -> Option<Self> {
        let domains = [Domain::reserve()?, Domain::reserve()?];
        let [near, far] = &domains;
        let peers = [Peer::start(near, "/near", "stock"), Peer::start(far, "/far", "stock")];
        Some(Self { domains, peers })
    }

    fn bridge(&self, more: &[&str]) -> Running {
        let domains = format!("{},{}", self.domains[0].id(), self.domains[1].id());
        let line = [&["bridge", "--domains", &domains][..], more].concat();
        Running::start_in(&self.domains[0], &line)
    }
}

#[test]
fn stock_nodes_of_two_domains_hear_each_other() {
    let Some(mut sides) = Sides::start() else { return };
    let mut bridge = sides.bridge(&["--topics", "/chatter,/map", "--services", ""]);
    let [near, far] = &mut sides.peers;
    let latched = json!({"durability": "transient_local", "depth": 1});
    let map = json!({"topic": "/map", "type": TEXT, "qos": latched});
    near.ask("publisher", map.clone());
    near.ask("publish", json!({"topic": "/map", "values": [{"data": "old"}, {"data": "new"}]}));
    far.ask("subscription", map);
    let heard = far.ask("take", json!({"topic": "/map", "count": 1}));
    assert_eq!(heard, json!([{"data": "new"}]), "messages that were latched before");

    let chatter = json!({"topic": "/chatter", "type": TEXT, "qos": {}});
    far.ask("publisher", chatter.clone());
    near.ask("subscription", chatter);
    far.ask("matched", json!({"topic": "/chatter", "subscriptions": 1}));
    near.ask("matched", json!({"topic": "/chatter", "publishers": 1}));
    let values = json!([{"data": "grüße"}, {"data": "two\nlines"}]);
    far.ask("publish", json!({"topic": "/chatter", "values": values}));
    assert_eq!(near.ask("take", json!({"topic": "/chatter", "count": 2})), values);

    let mut lines = vec![];
    while lines.len() < 2 {
        lines.push(bridge.line().expect("a line for each bridged name"));
    }
    let [a, b] = [0, 1].map(|side| sides.domains[side].id());
    lines.sort();
    assert_eq!(lines[0], format!("bridged: topic /chatter ({TEXT}) from domain {b} to domain {a}"));
    assert_eq!(lines[1], format!("bridged: topic /map ({TEXT}) from domain {a} to domain {b}"));
    bridge.interrupt();
    let finished = bridge.finish();
    let line = |from, to, messages| {
        format!(
            "from domain {from} to domain {to}: {messages} messages, 0 calls; lost before: 0, failed: 0\n"
        )
    };
    assert_eq!(finished.success(), line(a, b, 1) + &line(b, a, 2));
}

#[test]
fn calls_and_goals_go_to_a_stock_node_of_another_domain() {
    let Some(mut sides) = Sides::start() else { return };
    let bridge = sides.bridge(&[]);
    let near = &mut sides.peers[0];
    near.ask("service", json!({"name": "enable", "type": SET_BOOL, "response": {"success": true}}));
    let far = |line: &[&str]| Running::start_in(&sides.domains[1], line);
    let line = ["service", "call", "/near/enable", SET_BOOL, "{data: true}", "--json"];
    let answer = far(&[&line[..], &["--timeout", "50"]].concat()).finish().json();
    assert_eq!(answer["success"], true);
    assert_eq!(near.ask("requests", json!({"service": "enable"})), json!([{"data": true}]));

    near.ask("action_server", json!({"name": "/near/fib", "type": FIBONACCI}));
    let mut sending = far(&["action", "send_goal", "/near/fib", FIBONACCI, "{order: 3}", "-f"]);
    let goals = near.ask("goals", json!({"name": "/near/fib"}));
    let id = &goals[0]["id"];
    let feedback = json!({"name": "/near/fib", "id": id, "values": [{"sequence": [0, 1]}]});
    // Feedback that the server sends before its publisher and the bridge match is lost.
    let shown = std::thread::scope(|scope| {
        let _watchdog = Watchdog::start();
        let until_feedback = scope.spawn(|| {
            let lines = std::iter::from_fn(|| sending.line());
            lines.take_while(|line| line != "Feedback:").collect::<Vec<String>>()
        });
        while !until_feedback.is_finished() {
            near.ask("feedback", feedback.clone());
        }
        until_feedback.join().unwrap()
    });
    assert!(shown.iter().any(|line| line.starts_with("Goal accepted")), "{shown:?}");
    let result =
        json!({"name": "/near/fib", "id": id, "outcome": "succeed", "result": {"sequence": [2]}});
    near.ask("end", result);
    let out = sending.finish().success();
    assert!(out.starts_with("    sequence:\n- 0\n- 1\n"), "{out}");
    assert!(
        out.contains("Result:\n    sequence:\n- 2\n\nGoal finished with status: SUCCEEDED"),
        "{out}"
    );
    bridge.interrupt();
    let said = bridge.finish().success();
    assert!(said.contains("bridged: service /near/fib/_action/send_goal"), "{said}");
}

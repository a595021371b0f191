//! The command beside a stock ROS 2 node: what it shows of the node, receives from it and sends to
//! it.

mod actions;
mod bag;
mod bridge;
mod bridge_to_humble;
mod components;
mod distributions;
mod errors;
mod graph;
mod hello;
mod lifecycle;
mod parameters;
mod robot_nodes;
mod services;
mod static_peers;
mod topics;

use feros_interop::{Domain, Peer};
use serde_json::{Value, json};

use crate::process::{Finished, Running, eventually, has_line};

const TEXT: &str = "std_msgs/msg/String";
const SET_BOOL: &str = "std_srvs/srv/SetBool";

/// A stock node `/theirs/stock_node` in a domain of its own.
struct Stock {
    peer: Peer,
    domain: Domain,
}

impl Stock {
    /// `None` if the interop tests are skipped.
    fn start() -> Option<Self> {
        let domain = Domain::reserve()?;
        let peer = Peer::start(&domain, "/theirs", "stock_node");
        Some(Self { peer, domain })
    }

    /// Starts `feros` beside the node.
    fn start_feros(&self, arguments: &[&str]) -> Running {
        Running::start_in(&self.domain, arguments)
    }

    /// Runs `feros` beside the node to its end.
    fn feros(&self, arguments: &[&str]) -> Finished {
        self.start_feros(arguments).finish()
    }

    /// Repeats a command that shows the graph until its output is `accepted`.
    fn eventually(&self, arguments: &[&str], accepted: impl Fn(&str) -> bool) -> String {
        let is_accepted = |finished: &Finished| finished.code == Some(0) && accepted(&finished.out);
        eventually(|| self.feros(arguments), is_accepted).out
    }

    /// Like [`Stock::eventually`], for a command that prints one JSON value.
    fn eventually_json(&self, arguments: &[&str], accepted: impl Fn(&Value) -> bool) -> Value {
        let parse = |text: &str| {
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
        };
        parse(&self.eventually(arguments, |text| accepted(&parse(text))))
    }

    /// Waits until the command's subscription, the only one, matches; then makes the node send
    /// values.
    fn publish_to_command(&mut self, topic: &str, values: &Value) {
        self.peer.ask("matched", json!({"topic": topic, "subscriptions": 1}));
        self.peer.ask("publish", json!({"topic": topic, "values": values}));
    }
}

/// The next object of a command that prints one object per line.
fn next_object(command: &mut Running) -> Value {
    let line = command.line().expect("a line, not the end");
    serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))
}

/// Ctrl-C is the normal end of a command that watches.
fn end(command: Running) {
    command.interrupt();
    let finished = command.finish();
    assert_eq!(finished.code, Some(0), "{finished:?}");
}

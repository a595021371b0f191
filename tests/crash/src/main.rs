//! A process of a crash test: a node whose publishers and subscriptions are driven by JSON lines.
//!
//! The first output line is `{"ready": true}`. Each input line is a request, `{"op": NAME, ...}`,
//! and gets one output line: `{"ok": RESULT}` or `{"error": TEXT}`. When the input ends, the
//! process ends cleanly. Operations: `publisher`, `publish`, `start`, `progress`, `stop`; `listen`,
//! `report`, `release`, `check_held`; `server`, `kept`; `caller`, `ready`, `call_times`;
//! `transports`, `counts`, `pool`, `leave` for any of these endpoints; `try_open`; the operations
//! of the module `actions`.
#![allow(clippy::unwrap_used, reason = "a test program: failures here must be visible")]

mod actions;
mod calls;
mod content;
mod listener;
mod talker;

use std::collections::HashMap;
use std::io::{BufRead, Write};
use std::sync::mpsc;
use std::time::Duration;

use feros::engine::SessionOptions;
use feros::{
    Arguments, Context, ContextOptions, Executor, MatchTransport, Node, PublisherOptions,
    QosProfile, Transport, TransportSet,
};
use serde_json::{Value, json};

use crate::calls::{Caller, Server};
use crate::listener::Listener;
use crate::talker::Talker;

/// The limit on waiting for the executor to end: a doorbell that another process has overwritten
/// must not make this process hang.
const WATCHDOG: Duration = Duration::from_secs(20);

fn main() {
    let node_name = std::env::args().nth(1).expect("the name of the node");
    feros::logging::init(&Arguments::default());
    let node = context().create_node(&node_name).unwrap();
    let executor = Executor::new();
    executor.add_node(&node).unwrap();
    let stopper = executor.stopper();
    let (ended, has_ended) = mpsc::sync_channel(1);
    let spinning = std::thread::Builder::new().name("spin".into()).spawn(move || {
        let result = executor.spin();
        ended.send(()).unwrap();
        result
    });
    let spinning = spinning.expect("a thread to spin on (ulimit -u)");
    answer(&json!({"ready": true}));
    let mut peer = Peer {
        actions: actions::Actions::new(&node),
        node,
        talkers: HashMap::new(),
        listeners: HashMap::new(),
        servers: HashMap::new(),
        callers: HashMap::new(),
    };
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        match peer.handle(&request) {
            Ok(result) => answer(&json!({ "ok": result })),
            Err(error) => answer(&json!({ "error": error })),
        }
    }
    stopper.stop();
    has_ended.recv_timeout(WATCHDOG).expect("the executor ends when it is stopped");
    spinning.join().unwrap().unwrap();
}

fn context() -> Context {
    let domain_id = std::env::var("ROS_DOMAIN_ID").unwrap().parse().unwrap();
    Context::new(ContextOptions::new(SessionOptions::localhost(domain_id)))
        .unwrap_or_else(|error| panic!("{error}"))
}

fn answer(value: &Value) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{value}").unwrap();
    out.flush().unwrap();
}

struct Peer {
    node: Node,
    talkers: HashMap<String, Talker>,
    listeners: HashMap<String, Listener>,
    servers: HashMap<String, Server>,
    callers: HashMap<String, Caller>,
    actions: actions::Actions,
}

impl Peer {
    fn handle(&mut self, request: &Value) -> Result<Value, String> {
        let text = |key: &str| request[key].as_str().unwrap_or_default().to_owned();
        let number = |key: &str| request[key].as_u64().unwrap_or_default();
        let name = text("name");
        let (talker, listener) = (self.talkers.get_mut(&name), self.listeners.get_mut(&name));
        let op = text("op");
        match (op.as_str(), talker, listener) {
            ("publisher", ..) => {
                let options =
                    PublisherOptions::from(qos(request)).transports(transport_set(request));
                let talker = Talker::new(&self.node, &text("topic"), options, number("id") as u32);
                self.talkers.insert(name, talker);
                Ok(Value::Null)
            }
            ("listen", ..) => {
                let listener =
                    Listener::new(&self.node, request, qos(request), transport_set(request));
                self.listeners.insert(name, listener);
                Ok(Value::Null)
            }
            ("publish", Some(talker), _) => {
                Ok(talker.publish(number("count"), number("size") as usize))
            }
            ("start", Some(talker), _) => {
                talker.start(Duration::from_micros(number("period_us")), number("size") as usize);
                Ok(Value::Null)
            }
            ("progress", Some(talker), _) => Ok(talker.progress()),
            ("stop", Some(talker), _) => Ok(talker.stop()),
            ("report", _, Some(listener)) => Ok(listener.report()),
            ("release", _, Some(listener)) => Ok(listener.release()),
            ("check_held", _, Some(listener)) => Ok(listener.check_held()),
            ("transports", Some(talker), _) => Ok(transports(talker.publisher().transports())),
            ("transports", _, Some(listener)) => {
                Ok(transports(listener.subscription().transports()))
            }
            ("counts", Some(talker), _) => Ok(talker.counts()),
            ("counts", _, Some(listener)) => Ok(listener.counts()),
            ("leave", ..) => {
                let talker = self.talkers.remove(&name).map(|mut talker| talker.stop());
                let listener = self.listeners.remove(&name).map(Listener::leave);
                drop((self.servers.remove(&name), self.callers.remove(&name)));
                Ok(talker.or(listener).unwrap_or_default())
            }
            ("try_open", ..) => {
                let files =
                    request["files"].as_array().into_iter().flatten().filter_map(Value::as_str);
                Ok(files.filter(|file| can_be_opened(file)).map(str::to_owned).collect())
            }
            _ => self.handle_calls(request, &op, name),
        }
    }

    /// The operations of servers and clients of services.
    fn handle_calls(&mut self, request: &Value, op: &str, name: String) -> Result<Value, String> {
        let number = |key: &str| request[key].as_u64().unwrap_or_default();
        let service = request["service"].as_str().unwrap_or_default();
        let transport_set = transport_set(request);
        match (op, self.servers.get(&name), self.callers.get(&name)) {
            ("server", ..) => {
                let keeps = request["keeps"] == true;
                let server = Server::new(&self.node, service, transport_set, keeps);
                self.servers.insert(name, server);
                Ok(Value::Null)
            }
            ("caller", ..) => {
                self.callers.insert(name, Caller::new(&self.node, service, transport_set));
                Ok(Value::Null)
            }
            ("kept", Some(server), _) => Ok(server.kept()),
            ("ready", _, Some(caller)) => Ok(caller.is_ready()),
            ("call_times", _, Some(caller)) => {
                let timeout = Duration::from_millis(number("timeout_ms"));
                Ok(caller.call(number("times"), timeout, request["awaited"] == true))
            }
            ("transports", Some(server), _) => Ok(transports(server.service().transports())),
            ("transports", _, Some(caller)) => Ok(transports(caller.client().transports())),
            ("counts", Some(server), _) => Ok(calls::counts(server.service().counts())),
            ("counts", _, Some(caller)) => Ok(calls::counts(caller.client().counts())),
            _ => {
                let done = self.actions.handle(op, request);
                done.unwrap_or_else(|| Err(format!("no operation {op:?} of {name:?}")))
            }
        }
    }
}

fn can_be_opened(file: &str) -> bool {
    let read = std::fs::OpenOptions::new().read(true).open(file).is_ok();
    read || std::fs::OpenOptions::new().write(true).open(file).is_ok()
        || std::fs::read_dir(file).is_ok()
}

/// The QoS policies: `keep_all` or the `depth`; reliable unless `best_effort`; volatile.
fn qos(request: &Value) -> QosProfile {
    let qos = if request["keep_all"] == true {
        QosProfile::keep_all()
    } else {
        QosProfile::keep_last(request["depth"].as_u64().unwrap_or(10) as usize)
    };
    if request["best_effort"] == true { qos.best_effort() } else { qos }
}

/// The allowed transports: only the network transport with `by_network`, otherwise all transports.
fn transport_set(request: &Value) -> TransportSet {
    if request["by_network"] == true { Transport::Network.into() } else { TransportSet::ALL }
}

fn transports(found: Vec<MatchTransport>) -> Value {
    let one = |found: MatchTransport| {
        json!({
            "transport": found.transport.map(Transport::name),
            "reason": found.reason.map(|reason| reason.to_string()),
            "gid": found.gid.to_string(),
        })
    };
    found.into_iter().map(one).collect()
}

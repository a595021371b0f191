//! The calls that the master and other nodes make to a node (`ROS/Slave_API`).

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpStream;

use crate::address::Address;
use crate::http;
use crate::master::texts;
use crate::publication::Publication;
use crate::siblings::Siblings;
use crate::subscription::Subscription;
use crate::xmlrpc::{self, Value};

/// The parts of a node that are needed to answer calls.
pub(crate) trait Answers {
    /// The publications of the node, by name.
    fn publications(&self) -> Vec<Arc<Publication>>;
    /// The subscriptions of the node, by name.
    fn subscriptions(&self) -> Vec<Arc<Subscription>>;
    /// The nodes that exchange messages with this node without TCPROS.
    fn siblings(&self) -> &Siblings;
    /// The node's address for TCPROS connections.
    fn tcpros(&self) -> &Address;
    /// The address of the master.
    fn master(&self) -> &Address;
    /// This function is called when another node has changed this parameter or a parameter below
    /// it.
    fn parameter_changed(&self, name: &str);
    /// This function is called with the reason when the node must end.
    fn end(&self, reason: &str);
}

/// How long an idle connection is kept open.
const IDLE: Duration = Duration::from_secs(60);

/// Answers the calls on one connection.
pub(crate) async fn serve(node: &impl Answers, mut stream: TcpStream) {
    let _ = stream.set_nodelay(true);
    while let Ok(Some(text)) = http::next_request(&mut stream, IDLE).await {
        let answer = match xmlrpc::read_call(&text) {
            Ok((method, parameters)) => answer(node, &method, &parameters),
            Err(error) => failed(&error.to_string()),
        };
        if http::respond(&mut stream, &xmlrpc::answer(&answer)).await.is_err() {
            return;
        }
    }
}

fn answer(node: &impl Answers, method: &str, parameters: &[Value]) -> Value {
    let text = |index: usize| parameters.get(index).and_then(Value::as_text).unwrap_or_default();
    match method {
        "publisherUpdate" => {
            let found = node.subscriptions().into_iter().find(|one| one.topic() == text(1));
            if let (Some(subscription), Some(publishers)) = (found, parameters.get(2)) {
                subscription.update(&texts(publishers), node.siblings());
            }
            done("", Value::Int(0))
        }
        "requestTopic" => {
            if !node.publications().iter().any(|one| one.topic() == text(1)) {
                return failed(&format!("{} is not published here", text(1)));
            }
            let protocols = parameters.get(2).map(Value::as_list).unwrap_or_default();
            let is_tcp = |protocol: &Value| {
                protocol.as_list().first().and_then(Value::as_text) == Some("TCPROS")
            };
            if !protocols.iter().any(is_tcp) {
                return failed("this node supports only TCPROS");
            }
            let Address { host, port } = node.tcpros();
            let place = ["TCPROS".into(), host.as_str().into(), Value::Int(i64::from(*port))];
            done("ready", Value::List(place.to_vec()))
        }
        "paramUpdate" => {
            // Any program can make this call, so the node gets the value from the master.
            node.parameter_changed(text(1).trim_end_matches('/'));
            done("", Value::Int(0))
        }
        "getPid" => done("", Value::Int(i64::from(std::process::id()))),
        "getMasterUri" => done("", Value::Text(node.master().to_string())),
        "getBusInfo" => done("", Value::List(Vec::new())),
        "getBusStats" => done("", Value::List(vec![Value::List(Vec::new()); 3])),
        "getPublications" => {
            let pair = |p: &Arc<Publication>| pair(p.topic(), &p.options.type_name);
            done("", Value::List(node.publications().iter().map(pair).collect()))
        }
        "getSubscriptions" => {
            let pair = |s: &Arc<Subscription>| pair(s.topic(), &s.options.type_name);
            done("", Value::List(node.subscriptions().iter().map(pair).collect()))
        }
        "shutdown" => {
            node.end(text(1));
            done("", Value::Int(0))
        }
        other => failed(&format!("{other} is not a method of a node")),
    }
}

fn pair(name: &str, ty: &str) -> Value {
    Value::List(vec![name.into(), ty.into()])
}

fn done(what: &str, value: Value) -> Value {
    Value::List(vec![Value::Int(1), what.into(), value])
}

fn failed(what: &str) -> Value {
    Value::List(vec![Value::Int(-1), what.into(), Value::Int(0)])
}

//! One endpoint as `topic info -v` and `service info -v` show it.

use std::fmt::{self, Display, Formatter, Write as _};

use feros::{Reason, TransportBetween};
use feros_engine::graph::EndpointNode;
use feros_engine::{EndpointInfo, EndpointKind, GraphSnapshot, History};
use serde_json::json;

use crate::output::foreign;

/// The node of an endpoint; its gid if the node is unknown.
pub(crate) fn node_name(endpoint: &EndpointInfo) -> String {
    endpoint.node.name().map_or_else(|| endpoint.gid.to_string(), ToString::to_string)
}

/// The endpoints of one kind with this name.
pub(crate) fn to_json(
    graph: &GraphSnapshot,
    kind: EndpointKind,
    name: &str,
) -> Vec<serde_json::Value> {
    graph.endpoints_of(kind, name).map(|endpoint| Endpoint(endpoint).to_json()).collect()
}

/// The number of endpoints of one kind with this name, and with `verbose` each of them.
pub(crate) fn text(
    graph: &GraphSnapshot,
    (noun, kind): (&str, EndpointKind),
    name: &str,
    verbose: bool,
) -> String {
    let end = if verbose { "\n\n" } else { "\n" };
    let mut text = format!("{noun} count: {}{end}", graph.count(kind, name));
    for endpoint in graph.endpoints_of(kind, name).filter(|_| verbose) {
        let _ = write!(text, "{}{end}", Endpoint(endpoint));
    }
    text
}

/// The transports of the messages between these sides.
pub(crate) fn transports_to_json(
    found: &[TransportBetween<'_>],
    [from, to]: [&str; 2],
    reason: fn(&Reason) -> String,
) -> Vec<serde_json::Value> {
    let one = |found: &TransportBetween<'_>| {
        json!({
            from: found.publisher.gid.to_string(),
            to: found.subscription.gid.to_string(),
            "transport": found.transport.map(|transport| transport.to_string()),
            "reason": found.reason.as_ref().map(reason),
        })
    };
    found.iter().map(one).collect()
}

/// One line for each match: the transport of its messages, and why it is not a shorter one.
pub(crate) fn transports(found: &[TransportBetween<'_>], reason: fn(&Reason) -> String) -> String {
    let mut text = String::new();
    for TransportBetween { publisher, subscription, transport, reason: why } in found {
        let transport = transport.map_or_else(|| "none".to_owned(), |found| found.to_string());
        let because = why
            .as_ref()
            .map_or_else(String::new, |why| format!(", because {}", foreign(&reason(why))));
        let (from, to) = (node_name(publisher), node_name(subscription));
        let _ = writeln!(text, "  {} -> {}: {transport}{because}", foreign(&from), foreign(&to));
    }
    if text.is_empty() { text } else { format!("Transports:\n{text}") }
}

/// An endpoint in the words of `ros2`.
struct Endpoint<'a>(&'a EndpointInfo);

impl Endpoint<'_> {
    fn node(&self) -> (&str, &str) {
        match &self.0.node {
            EndpointNode::Named(name) => (name.name(), name.namespace()),
            EndpointNode::Unknown => ("_NODE_NAME_UNKNOWN_", "_NODE_NAMESPACE_UNKNOWN_"),
            EndpointNode::NotRos => ("_CREATED_BY_BARE_DDS_APP_", "_CREATED_BY_BARE_DDS_APP_"),
        }
    }

    fn kind(&self) -> &'static str {
        match self.0.kind {
            EndpointKind::Publisher => "PUBLISHER",
            EndpointKind::Subscription => "SUBSCRIPTION",
            EndpointKind::Service => "SERVICE",
            EndpointKind::Client => "CLIENT",
        }
    }

    /// The noun that names its type.
    fn noun(&self) -> &'static str {
        match self.0.kind {
            EndpointKind::Publisher | EndpointKind::Subscription => "Topic",
            EndpointKind::Service | EndpointKind::Client => "Service",
        }
    }

    fn history(&self) -> String {
        let qos = &self.0.qos;
        match qos.history {
            History::KeepLast => format!("{} ({})", qos.history, qos.depth),
            History::KeepAll | History::SystemDefault | History::Unknown => qos.history.to_string(),
        }
    }

    /// The buffer backends, separated by commas.
    fn buffer_backends(&self) -> Option<String> {
        let backends = self.0.buffer_backends.as_deref()?;
        Some(backends.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
    }

    /// The endpoint as a JSON object; times in nanoseconds, `null` where there is no limit.
    fn to_json(&self) -> serde_json::Value {
        let (name, namespace) = self.node();
        let qos = &self.0.qos;
        let nanos = |duration: feros_engine::QosDuration| {
            duration.finite().map(|limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX))
        };
        let depth = (qos.history == History::KeepLast).then_some(qos.depth);
        let backends = self.0.buffer_backends.as_deref().unwrap_or_default().iter();
        let backends = backends.map(|of| json!({ "name": of.name, "data": of.data }));
        json!({
            "node_name": name,
            "node_namespace": namespace,
            "topic_type": self.0.type_name,
            "topic_type_hash": self.0.type_hash.map(|hash| hash.to_string()),
            "buffer_backends": backends.collect::<Vec<_>>(),
            "endpoint_type": self.kind(),
            "gid": self.0.gid.to_string(),
            "qos": {
                "reliability": qos.reliability.to_string(),
                "history": qos.history.to_string(),
                "depth": depth,
                "durability": qos.durability.to_string(),
                "lifespan_nanos": nanos(qos.lifespan),
                "deadline_nanos": nanos(qos.deadline),
                "liveliness": qos.liveliness.to_string(),
                "liveliness_lease_duration_nanos": nanos(qos.liveliness_lease_duration),
            },
        })
    }
}

/// The block that `ros2 topic info -v` prints for an endpoint.
impl Display for Endpoint<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let (name, namespace) = self.node();
        let qos = &self.0.qos;
        writeln!(f, "Node name: {}", foreign(name))?;
        writeln!(f, "Node namespace: {}", foreign(namespace))?;
        let noun = self.noun();
        writeln!(f, "{noun} type: {}", foreign(&self.0.type_name))?;
        match self.0.type_hash {
            Some(hash) => writeln!(f, "{noun} type hash: {hash}")?,
            None => writeln!(f, "{noun} type hash: INVALID")?,
        }
        if let Some(backends) = self.buffer_backends() {
            writeln!(f, "Buffer backends: {}", foreign(&backends))?;
        }
        writeln!(f, "Endpoint type: {}", self.kind())?;
        writeln!(f, "GID: {}", self.0.gid)?;
        writeln!(f, "QoS profile:")?;
        writeln!(f, "  Reliability: {}", qos.reliability)?;
        writeln!(f, "  History (Depth): {}", self.history())?;
        writeln!(f, "  Durability: {}", qos.durability)?;
        writeln!(f, "  Lifespan: {}", qos.lifespan)?;
        writeln!(f, "  Deadline: {}", qos.deadline)?;
        writeln!(f, "  Liveliness: {}", qos.liveliness)?;
        write!(f, "  Liveliness lease duration: {}", qos.liveliness_lease_duration)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use feros_engine::{NodeName, QosPolicy, QosProfile};

    use super::*;

    /// The `ros2` command does not show this flag either.
    #[test]
    fn every_policy_is_shown_but_a_flag_that_is_not_announced() {
        let node = NodeName::new("/", "n").unwrap();
        let name = "/chatter";
        let mut info = EndpointInfo::of_node(EndpointKind::Publisher, name, "t/msg/T", node);
        let mut shown = |qos: QosProfile| {
            info.qos = qos;
            (Endpoint(&info).to_string(), Endpoint(&info).to_json()["qos"].to_string())
        };
        let usual = shown(QosProfile::default().with_system_defaults_resolved());
        for policy in QosPolicy::ALL {
            let varied = shown(policy.varied());
            let is_shown = policy != QosPolicy::AvoidRosNamespaceConventions;
            assert_eq!(
                (varied.0 != usual.0, varied.1 != usual.1),
                (is_shown, is_shown),
                "{policy:?}"
            );
        }
    }
}

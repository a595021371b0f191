//! One endpoint as `topic info -v` and `service info -v` show it.

use std::fmt::{self, Display, Formatter};

use feros_engine::graph::EndpointNode;
use feros_engine::{EndpointInfo, EndpointKind, History};
use serde_json::json;

use crate::output::foreign;

/// The node of an endpoint; its gid if the node is unknown.
pub(crate) fn node_name(endpoint: &EndpointInfo) -> String {
    endpoint.node.name().map_or_else(|| endpoint.gid.to_string(), ToString::to_string)
}

/// An endpoint in the words of `ros2`.
pub(crate) struct Endpoint<'a>(pub(crate) &'a EndpointInfo);

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

    /// The endpoint as a JSON object; times in nanoseconds, `null` where there is no limit.
    pub(crate) fn to_json(&self) -> serde_json::Value {
        let (name, namespace) = self.node();
        let qos = &self.0.qos;
        let nanos = |duration: feros_engine::QosDuration| {
            duration.finite().map(|limit| u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX))
        };
        let depth = (qos.history == History::KeepLast).then_some(qos.depth);
        json!({
            "node_name": name,
            "node_namespace": namespace,
            "topic_type": self.0.type_name,
            "topic_type_hash": self.0.type_hash.map(|hash| hash.to_string()),
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

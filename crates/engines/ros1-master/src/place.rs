//! The information that endpoints of all kinds need when they are created.

use std::sync::Arc;

use feros_engine::{EndpointInfo, EndpointKind, Gid, NodeName, QosProfile, TypeHash};

use crate::matches::{Matches, Reach};
use crate::node_topics::NodeTopics;
use crate::participant::{Entry, Participant, announced};

/// The owner of a new endpoint, which is its participant, session and node. This also contains the
/// endpoint's gid.
pub(crate) struct Place {
    pub(crate) participant: Arc<Participant>,
    pub(crate) ros1: feros_ros1::Node,
    pub(crate) topics: Arc<NodeTopics>,
    pub(crate) node: NodeName,
    pub(crate) session: Gid,
    pub(crate) gid: Gid,
}

/// The options of an endpoint that describe it in the graph.
pub(crate) struct Described<'a> {
    pub(crate) kind: EndpointKind,
    pub(crate) name: &'a str,
    pub(crate) type_name: &'a str,
    pub(crate) type_hash: Option<TypeHash>,
    pub(crate) announcement: &'a str,
}

impl Place {
    /// Creates the endpoint's entry for its participant.
    pub(crate) fn entry(
        &self,
        of: &Described<'_>,
        qos: QosProfile,
        matches: &Arc<Matches>,
        reach: Reach,
    ) -> Entry {
        let info = EndpointInfo {
            type_hash: of.type_hash,
            gid: self.gid,
            qos,
            announcement: announced(of.announcement),
            ..EndpointInfo::of_node(of.kind, of.name, of.type_name, self.node.clone())
        };
        let matches = matches.clone();
        let session = self.session;
        Entry { info, session, matches, reach, writer: None, ignores_own_session: false }
    }
}

//! One side of a bridge: its session, the bridge's node in the session, and the *sign*, a
//! subscription by which other bridges recognize this bridge.

use std::sync::Arc;

use feros_engine::{
    BridgeMark, Created, GraphChangeGuard, NodeId, NodeName, QosProfile, Session, Subscription,
    SubscriptionOptions,
};

use crate::bell::Bell;

/// A side of a bridge. All clones share the node and the sign.
#[derive(Clone)]
pub(crate) struct Side {
    pub(crate) name: String,
    pub(crate) session: Arc<dyn Session>,
    pub(crate) node: NodeId,
    _there: Arc<There>,
}

/// The node and the sign, which are withdrawn when the last clone is dropped.
struct There {
    session: Arc<dyn Session>,
    node: NodeId,
    sign: Option<Arc<dyn Subscription>>,
    _changes: GraphChangeGuard,
}

/// The topic and the type of the sign. The topic has no publishers. Bridges discover each other by
/// their signs before they bridge any names.
const SIGN: (&str, &str) = ("/_feros_bridge", "std_msgs/msg/Empty");

impl Side {
    pub(crate) fn new(
        (name, session): (String, Arc<dyn Session>),
        node: &NodeName,
        mark: BridgeMark,
        bell: &Arc<Bell>,
    ) -> Created<Self> {
        let node = session.create_node(node)?;
        let sign = session.create_subscription(SubscriptionOptions {
            qos: QosProfile::keep_last(1),
            announcement: &mark.announcement(),
            ignore_local_publications: true,
            ..SubscriptionOptions::new(node, SIGN.0, SIGN.1)
        });
        let there = There {
            session: session.clone(),
            node,
            _changes: session.on_graph_change(bell.notify()),
            // If the subscription could not be created, dropping this value removes the node.
            sign: sign.as_ref().ok().cloned(),
        };
        sign.map(|_| Self { name, session, node, _there: Arc::new(there) })
    }
}

impl Drop for There {
    fn drop(&mut self) {
        drop(self.sign.take());
        self.session.remove_node(self.node);
    }
}

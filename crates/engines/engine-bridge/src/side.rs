//! One side of a bridge: its session, the bridge's node in the session, and the *sign*, a
//! subscription by which other bridges recognize this bridge.

use std::borrow::Cow;
use std::sync::Arc;

use feros_engine::{
    BridgeMark, Created, GraphChangeGuard, NamePrefix, NodeId, NodeName, QosProfile, Session,
    Subscription, SubscriptionOptions,
};

use crate::bell::Bell;

/// A side of a bridge. All clones share the node and the sign.
#[derive(Clone)]
pub(crate) struct Side {
    pub(crate) name: String,
    pub(crate) session: Arc<dyn Session>,
    pub(crate) node: NodeId,
    pub(crate) prefix: Option<NamePrefix>,
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
/// their signs before they bridge any names. On a side with a prefix, the topic has the prefix too,
/// so the bridges of different robots do not wait for each other.
const SIGN: (&str, &str) = ("/_feros_bridge", "std_msgs/msg/Empty");

impl Side {
    pub(crate) fn new(
        (name, session): (String, Arc<dyn Session>),
        (node, prefix): (&NodeName, Option<&NamePrefix>),
        mark: BridgeMark,
        bell: &Arc<Bell>,
    ) -> Created<Self> {
        let namespace = with(prefix, node.namespace());
        let node = session.create_node(&NodeName::announced(&namespace, node.name()))?;
        let sign = session.create_subscription(SubscriptionOptions {
            qos: QosProfile::keep_last(1),
            announcement: &mark.announcement(),
            ignore_local_publications: true,
            ..SubscriptionOptions::new(node, &with(prefix, SIGN.0), SIGN.1)
        });
        let there = There {
            session: session.clone(),
            node,
            _changes: session.on_graph_change(bell.notify()),
            // If the subscription could not be created, dropping this value removes the node.
            sign: sign.as_ref().ok().cloned(),
        };
        let prefix = prefix.cloned();
        sign.map(|_| Self { name, session, node, prefix, _there: Arc::new(there) })
    }

    /// Returns the name on this side of a topic or service, which is given without prefix.
    pub(crate) fn name_here<'a>(&self, name: &'a str) -> Cow<'a, str> {
        with(self.prefix.as_ref(), name)
    }
}

fn with<'a>(prefix: Option<&NamePrefix>, name: &'a str) -> Cow<'a, str> {
    prefix.map_or(Cow::Borrowed(name), |prefix| Cow::Owned(prefix.before(name)))
}

impl Drop for There {
    fn drop(&mut self) {
        drop(self.sign.take());
        self.session.remove_node(self.node);
    }
}

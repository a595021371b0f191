//! The options of a bridge, which the bridge and its planner read.

use std::collections::BTreeMap;
use std::time::Duration;

use feros_engine::{NamePrefix, NodeName, Selection};

/// The options of a bridge.
#[derive(Clone, Debug)]
pub struct BridgeOptions {
    /// The name of the bridge's node, on all sides.
    pub node: NodeName,
    /// The topics to bridge, by their names without prefix.
    pub topics: Selection,
    /// The services to bridge, by their names without prefix.
    pub services: Selection,
    /// The sides, as indexes into the sessions, whose names have a prefix. The name `/scan` of the
    /// other sides is `/robot1/scan` on a side with the prefix `/robot1`, and the bridge's node is
    /// `/robot1/feros_bridge` there. Names on this side without the prefix are not bridged.
    pub prefixes: BTreeMap<usize, NamePrefix>,
    /// Whether topics are bridged even without a subscription.
    pub all_topics: bool,
    /// The limit on the messages of a topic that have not been forwarded yet.
    pub queue_len: usize,
    /// How long the bridge watches all sides before it bridges any name, so that it discovers other
    /// bridges before that.
    pub settle: Duration,
}

impl Default for BridgeOptions {
    /// The default options: all topics and services, with queues of 100 messages.
    fn default() -> Self {
        Self {
            node: NodeName::announced("/", "feros_bridge"),
            topics: Selection::all(),
            services: Selection::all(),
            prefixes: BTreeMap::new(),
            all_topics: false,
            queue_len: 100,
            settle: Duration::from_secs(1),
        }
    }
}

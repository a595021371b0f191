//! The options of managed nodes.

use crate::node::NodeOptions;

/// The options of a managed node; [`NodeOptions`] are enough if the rest is default.
///
/// ```
/// use feros::NodeOptions;
/// use feros::lifecycle::LifecycleNodeOptions;
/// let options = LifecycleNodeOptions::from(NodeOptions::new("driver").use_sim_time(true))
///     .enable_communication_interface(false);
/// ```
#[derive(Debug, Clone)]
pub struct LifecycleNodeOptions {
    pub(super) node: NodeOptions,
    pub(super) enable_communication_interface: bool,
}

impl LifecycleNodeOptions {
    /// A managed node of this name in the namespace `/`.
    pub fn new(name: &str) -> Self {
        NodeOptions::new(name).into()
    }

    /// Whether other nodes may ask for the node's state and change it: with five services, and with
    /// the topic `~/transition_event`, which publishes every change. They may by default; without
    /// this, only the node's own program manages it.
    pub fn enable_communication_interface(self, enable_communication_interface: bool) -> Self {
        Self { enable_communication_interface, ..self }
    }
}

impl From<NodeOptions> for LifecycleNodeOptions {
    fn from(node: NodeOptions) -> Self {
        Self { node, enable_communication_interface: true }
    }
}

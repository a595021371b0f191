//! The options of managed nodes.

use crate::node::NodeOptions;

/// The options of a managed node. [`NodeOptions`] convert into options with defaults for the rest.
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
    /// The options of a managed node with this name in the namespace `/`.
    pub fn new(name: &str) -> Self {
        NodeOptions::new(name).into()
    }

    /// Sets whether other nodes may read and change the node's state through five services, and
    /// learn of every change on the topic `~/transition_event`. They may by default; otherwise only
    /// the node's own program can manage the node.
    pub fn enable_communication_interface(self, enable_communication_interface: bool) -> Self {
        Self { enable_communication_interface, ..self }
    }
}

impl From<NodeOptions> for LifecycleNodeOptions {
    fn from(node: NodeOptions) -> Self {
        Self { node, enable_communication_interface: true }
    }
}

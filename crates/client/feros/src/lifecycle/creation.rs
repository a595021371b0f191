//! Makes managed nodes.

use crate::context::Context;
use crate::create_error::CreateError;
use crate::lifecycle::callbacks::{LifecycleCallbacks, into_run_callback};
use crate::lifecycle::communication;
use crate::lifecycle::node::LifecycleNode;
use crate::lifecycle::options::LifecycleNodeOptions;

/// # Managed nodes
impl Context {
    /// Makes a managed node in the namespace `/`, in the state unconfigured. The arguments may
    /// remap its name and namespace.
    ///
    /// # Errors
    /// When the name is not allowed, or the engine refuses the node or an endpoint.
    pub fn create_lifecycle_node(
        &self,
        name: &str,
        callbacks: impl LifecycleCallbacks,
    ) -> Result<LifecycleNode, CreateError> {
        self.create_lifecycle_node_with(LifecycleNodeOptions::new(name), callbacks)
    }

    /// Makes a managed node with these options, which may also be
    /// [`NodeOptions`](crate::NodeOptions). The node is in the state unconfigured.
    ///
    /// # Errors
    /// When a name is not allowed, or the engine refuses the node or an endpoint.
    pub fn create_lifecycle_node_with(
        &self,
        options: impl Into<LifecycleNodeOptions>,
        callbacks: impl LifecycleCallbacks,
    ) -> Result<LifecycleNode, CreateError> {
        let LifecycleNodeOptions { node: options, enable_communication_interface } = options.into();
        let local_requests_only = options.local_requests_only;
        let node = self.create_node_with(options)?;
        let node = LifecycleNode::new(node, into_run_callback(callbacks));
        if enable_communication_interface {
            communication::start(&node, local_requests_only)?;
        }
        Ok(node)
    }
}

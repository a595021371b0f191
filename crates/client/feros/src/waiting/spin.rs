//! The function `spin`, which runs one node on a new executor.

use crate::error::Error;
use crate::executor::Executor;
use crate::node::Node;

/// Runs a node's callbacks on this thread until its context is shut down, like `rclcpp::spin`.
///
/// # Errors
/// When the node is on an executor already.
///
/// # Panics
/// When a callback panics.
pub fn spin(node: &Node) -> Result<(), Error> {
    let executor = Executor::new();
    executor.add_node(node)?;
    Ok(executor.spin()?)
}

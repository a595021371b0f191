//! The trait of components.

use feros::{Context, Node, NodeOptions};

/// A node that a program adds to an executor itself, or that a container loads.
pub trait Component: Send + 'static {
    /// Creates the component. The component sets its node's name in `options` and creates the node
    /// with these options. The container may remap the name.
    ///
    /// # Errors
    /// When the component cannot be made. The container then loads nothing and returns the error's
    /// text.
    fn new(context: &Context, options: NodeOptions) -> Result<Self, feros::Error>
    where
        Self: Sized;

    /// The node whose callbacks the executor runs.
    fn node(&self) -> &Node;
}

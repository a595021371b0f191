//! The trait of components.

use feros::{Context, Node, NodeOptions};

/// A node that a program places on an executor, or a container loads.
pub trait Component: Send + 'static {
    /// Makes the component. Its node is made with `options`, to which the component adds the name;
    /// the container may remap the name.
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

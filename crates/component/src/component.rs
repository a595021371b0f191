//! The trait of components.

use feros::{Context, Node, NodeOptions};

/// A node that others place: on an executor of a program, or in a container.
pub trait Component: Send + 'static {
    /// Makes the component. Its node is made with `options`, to which it gives its name; the
    /// container may remap that.
    ///
    /// # Errors
    /// When something that it needs cannot be made. The container then loads nothing and hands the
    /// text on.
    fn new(context: &Context, options: NodeOptions) -> Result<Self, feros::Error>
    where
        Self: Sized;

    /// The node: whose callbacks the executor runs.
    fn node(&self) -> &Node;
}

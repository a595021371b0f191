//! What goes into a filter: a closure, so that it goes where callbacks go.

use std::sync::Arc;

/// What takes the messages of a filter: give it to a subscription as its callback, call it, or put
/// it behind another filter. It may be called by several threads at once.
pub type Input<M> = Box<dyn Fn(Arc<M>) + Send + Sync>;

//! The input of a filter: a closure, so that it can stand wherever a callback can.

use std::sync::Arc;

/// Takes the messages of a filter: give it to a subscription as its callback, call it, or put it
/// behind another filter. Several threads may call it at once.
pub type Input<M> = Box<dyn Fn(Arc<M>) + Send + Sync>;

//! The input of a filter. It is a closure, so that it can be used wherever a callback can be used.

use std::sync::Arc;

/// The closure that receives a filter's messages. Use it as the callback of a subscription or of
/// another filter, or call it yourself. Several threads may call it at the same time.
pub type Input<M> = Box<dyn Fn(Arc<M>) + Send + Sync>;

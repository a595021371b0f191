//! Notifications of an engine to its users, and the target of its log.

use std::fmt;
use std::sync::Arc;

/// Called by an engine, on any thread, when there may be something to take.
///
/// A notification never blocks, never calls back into the engine, and never drops the last
/// reference to an endpoint or session: an engine may wait for its notifications to end when one is
/// dropped. The engine calls it at least once after each moment at which something became
/// available, and may call it more often. The engine no longer calls it after the endpoint was
/// dropped.
pub type Notify = Arc<dyn Fn() + Send + Sync>;

/// The `tracing` target of the messages that come from an engine's own code.
///
/// Such messages may come from any thread, while the engine holds locks: code that receives them
/// must not call an engine.
pub const LOG_TARGET: &str = "feros::engine";

/// Keeps a graph notification registered; dropping it ends the notification.
pub struct GraphChangeGuard(Option<Box<dyn FnOnce() + Send + Sync>>);

impl GraphChangeGuard {
    /// A guard that runs `cancel` when it is dropped.
    pub fn new(cancel: impl FnOnce() + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(cancel)))
    }
}

impl Drop for GraphChangeGuard {
    fn drop(&mut self) {
        if let Some(cancel) = self.0.take() {
            cancel();
        }
    }
}

impl fmt::Debug for GraphChangeGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("GraphChangeGuard")
    }
}

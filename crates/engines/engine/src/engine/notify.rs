//! Notifications from an engine to its users, and the target of its log messages.

use std::fmt;
use std::sync::Arc;

/// A callback that an engine calls, on any thread, when there may be something to take.
///
/// The callback must not block, call the engine, or drop the last reference to an endpoint or
/// session, because dropping an endpoint or session may wait until its callbacks have returned. The
/// engine calls it at least once each time something becomes available, and may call it more often.
/// The engine does not call it after the endpoint has been dropped.
pub type Notify = Arc<dyn Fn() + Send + Sync>;

/// The `tracing` target for messages that an engine's own library logs.
///
/// Such messages may be logged on any thread, while the engine holds locks. So code that receives
/// them must not call an engine.
pub const LOG_TARGET: &str = "feros::engine";

/// Keeps a graph notification registered. Dropping this value ends the notification.
pub struct GraphChangeGuard(Option<Box<dyn FnOnce() + Send + Sync>>);

impl GraphChangeGuard {
    /// Creates a guard that runs `cancel` when it is dropped.
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

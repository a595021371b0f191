//! Loggers of the user's own below that of a node: `robot.arm` of the node `/robot`.

use std::sync::{Arc, Weak};

use super::{LogSink, effective_level, register_sink, set_level, unregister_sink};
use crate::arguments::LogLevel;

/// A logger below a node's own, for a part of the node that is to be heard or silenced by itself.
/// Clones are the same.
///
/// Its messages go to the node's `/rosout` in its own name, as long as the node lives. It has the
/// level of the logger above it, unless it is given one. The macros take it where they take a node.
///
/// ```no_run
/// # let node: feros::Node = unimplemented!();
/// let planner = node.child_logger("planner");
/// feros::info!(planner, "found a path of {} poses", 12);
/// planner.set_level(feros::LogLevel::Debug);
/// ```
#[derive(Clone)]
pub struct Logger(Arc<Inner>);

struct Inner {
    name: String,
    /// Of the node; none without `/rosout`.
    sink: Option<Weak<dyn LogSink>>,
}

impl Logger {
    pub(crate) fn new(name: String, sink: Option<Weak<dyn LogSink>>) -> Self {
        if let Some(sink) = &sink {
            register_sink(&name, sink.clone());
        }
        Self(Arc::new(Inner { name, sink }))
    }

    /// Its full name: that of the logger above it, a dot, and its own.
    pub fn logger_name(&self) -> &str {
        &self.0.name
    }

    /// A logger below this one.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        Self::new(format!("{}.{name}", self.0.name), self.0.sink.clone())
    }

    /// Sets the least severe level that is shown, of this logger and those below it.
    pub fn set_level(&self, level: LogLevel) {
        set_level(Some(&self.0.name), level);
    }

    /// The least severe level that is shown.
    pub fn effective_level(&self) -> LogLevel {
        effective_level(&self.0.name)
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(sink) = &self.sink {
            unregister_sink(&self.name, sink);
        }
    }
}

//! Loggers that a user makes below the logger of a node, such as `robot.arm` of the node `/robot`.

use std::sync::{Arc, Weak};

use super::{LogSink, effective_level, register_sink, set_level, unregister_sink};
use crate::arguments::LogLevel;

/// A logger below a node's own logger, for a part of the node with its own log level. Clones refer
/// to the same logger.
///
/// The messages of the logger are published on `/rosout` by the node, under the logger's own name,
/// as long as the node lives. The logger has the level of the logger above it, unless its own level
/// is set. The log macros accept a logger in place of a node.
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
    /// The node's destination for log messages; `None` if the node does not publish on `/rosout`.
    sink: Option<Weak<dyn LogSink>>,
}

impl Logger {
    pub(crate) fn new(name: String, sink: Option<Weak<dyn LogSink>>) -> Self {
        if let Some(sink) = &sink {
            register_sink(&name, sink.clone());
        }
        Self(Arc::new(Inner { name, sink }))
    }

    /// The full name: the name of the logger above, a dot, and the logger's own name.
    pub fn logger_name(&self) -> &str {
        &self.0.name
    }

    /// Makes a logger below this logger.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        Self::new(format!("{}.{name}", self.0.name), self.0.sink.clone())
    }

    /// Sets the least severe level that is shown, for this logger and the loggers below it.
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

//! The end of a run.

/// The reason why a plan cannot be run at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The operating system refuses a resource that is needed to watch processes.
    #[error("{what}: {cause}")]
    System {
        /// The attempted operation.
        what: &'static str,
        /// The error of the operating system.
        cause: std::io::Error,
    },
    /// A signal with this number arrived before the run.
    #[error("signal {0} arrived before the launch")]
    Signal(i32),
}

/// The result of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Outcome {
    /// The failures: processes that could not be started, components that were not loaded, and
    /// processes that ended the launch by failing. Other processes may end in any way, as with
    /// `ros2 launch`.
    pub failures: Vec<String>,
}

//! How a run ends.

/// Why a plan cannot be run at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The system refuses what is needed to watch processes.
    #[error("{what}: {cause}")]
    System {
        /// What was tried.
        what: &'static str,
        /// What the system says.
        cause: std::io::Error,
    },
}

/// How a run ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Outcome {
    /// What failed: processes that could not be started, components that were not loaded, and
    /// processes with which everything was to end and that ended badly. Other processes may end as
    /// they like, as with `ros2 launch`.
    pub failures: Vec<String>,
}

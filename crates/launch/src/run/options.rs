//! The options of a run, and the traits for its work with nodes: loading components, managing
//! nodes, waiting by simulated time.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::plan::Component;

/// The options of a run.
#[derive(Default)]
pub struct RunOptions {
    /// Whether names of processes and messages are coloured.
    pub colour: bool,
    /// Loads components; without a loader, loading fails.
    pub component_loader: Option<Arc<dyn ComponentLoader>>,
    /// Activates managed nodes; without a manager, activation fails.
    pub lifecycle_manager: Option<Arc<dyn LifecycleManager>>,
    /// Waits by simulated time; without a clock, waiting fails.
    pub simulated_clock: Option<Arc<dyn SimulatedClock>>,
    /// Whether debug messages are shown.
    pub debug: bool,
    /// The file for output that goes to the log, made with its first line. Without it such output
    /// is dropped.
    pub log_file: Option<PathBuf>,
}

/// Loads components into containers, on threads that belong to the run.
pub trait ComponentLoader: Send + Sync {
    /// Waits for a container and loads a component into it; returns the node's full name.
    /// `is_cancelled` returns whether the component is no longer wanted; call it at least once a
    /// second.
    ///
    /// # Errors
    /// The reason why the component is not loaded, for people.
    fn load(
        &self,
        container: &str,
        component: &Component,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<String, String>;
}

/// Activates managed nodes, on threads that belong to the run.
pub trait LifecycleManager: Send + Sync {
    /// Waits for a node of this full name, configures and activates it. `is_cancelled` returns
    /// whether that is no longer wanted; call it at least once a second.
    ///
    /// # Errors
    /// The reason why the node is not active, for people.
    fn activate(&self, node: &str, is_cancelled: &dyn Fn() -> bool) -> Result<(), String>;
}

/// Waits by the time of `/clock`, on threads that belong to the run.
pub trait SimulatedClock: Send + Sync {
    /// Waits until `delay` has passed on `/clock` since its first message. `is_cancelled` returns
    /// whether the wait is no longer wanted; call it at least once a second.
    ///
    /// # Errors
    /// The reason why that time does not come, for people.
    fn wait(&self, delay: Duration, is_cancelled: &dyn Fn() -> bool) -> Result<(), String>;
}

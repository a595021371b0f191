//! The options of a run, and traits for the parts of a run that need ROS: loading components,
//! managing nodes, and waiting in simulated time.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use feros_process::EndSignals;

use crate::plan::Component;

/// The options of a run.
#[derive(Default)]
pub struct RunOptions {
    /// Whether process names and messages are coloured.
    pub colour: bool,
    /// Loads components; without a loader, loading fails.
    pub component_loader: Option<Arc<dyn ComponentLoader>>,
    /// Activates managed nodes; without a manager, activation fails.
    pub lifecycle_manager: Option<Arc<dyn LifecycleManager>>,
    /// Waits in simulated time; without a clock, waiting fails.
    pub simulated_clock: Option<Arc<dyn SimulatedClock>>,
    /// Whether debug messages are shown.
    pub debug: bool,
    /// The file for output that goes to the log. It is created when the first line is written.
    /// Without a file, such output is dropped.
    pub log_file: Option<PathBuf>,
    /// The signals that the caller received while planning. If there was any, nothing is started.
    pub signals: EndSignals,
}

/// Loads components into containers, on threads that belong to the run.
pub trait ComponentLoader: Send + Sync {
    /// Waits for a container and loads a component into it; returns the node's full name.
    /// `is_cancelled` returns whether the component is no longer wanted; call it at least once a
    /// second.
    ///
    /// # Errors
    /// Returns the reason why the component is not loaded, as text for users.
    fn load(
        &self,
        container: &str,
        component: &Component,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<String, String>;
}

/// Activates managed nodes, on threads that belong to the run.
pub trait LifecycleManager: Send + Sync {
    /// Waits for a node with this full name, then configures and activates it. `is_cancelled`
    /// returns whether that is no longer wanted; call it at least once a second.
    ///
    /// # Errors
    /// Returns the reason why the node is not active, as text for users.
    fn activate(&self, node: &str, is_cancelled: &dyn Fn() -> bool) -> Result<(), String>;
}

/// Waits in the time of `/clock`, on threads that belong to the run.
pub trait SimulatedClock: Send + Sync {
    /// Waits until `delay` has passed on `/clock` since its first message. `is_cancelled` returns
    /// whether the wait is no longer wanted; call it at least once a second.
    ///
    /// # Errors
    /// Returns the reason why the time does not pass, as text for users.
    fn wait(&self, delay: Duration, is_cancelled: &dyn Fn() -> bool) -> Result<(), String>;
}

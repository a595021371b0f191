//! How a plan is run, and who does for it what needs a node: loads components, manages nodes, waits
//! by simulated time.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::plan::Component;

/// How a plan is run.
#[derive(Default)]
pub struct RunOptions {
    /// Whether names of processes and messages are coloured.
    pub colour: bool,
    /// What loads components; without a loader, loading fails.
    pub component_loader: Option<Arc<dyn ComponentLoader>>,
    /// What brings managed nodes to work; without a manager, that fails.
    pub lifecycle_manager: Option<Arc<dyn LifecycleManager>>,
    /// What waits by simulated time; without it, that fails.
    pub simulated_clock: Option<Arc<dyn SimulatedClock>>,
    /// Whether more is told, for those who look for a mistake.
    pub debug: bool,
    /// The file for output that goes to the log; it is made when there is some. Without it such
    /// output goes nowhere.
    pub log_file: Option<PathBuf>,
}

/// Loads components into containers, on threads that belong to the run.
pub trait ComponentLoader: Send + Sync {
    /// Waits for a container and loads a component into it; returns the node's full name.
    /// `is_cancelled` says whether the component is no longer wanted; ask it at least once a
    /// second.
    ///
    /// # Errors
    /// Why it is not loaded, for a person.
    fn load(
        &self,
        container: &str,
        component: &Component,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<String, String>;
}

/// Brings managed nodes to work, on threads that belong to the run.
pub trait LifecycleManager: Send + Sync {
    /// Waits for a node of this full name, configures and activates it. `is_cancelled` says whether
    /// that is no longer wanted; ask it at least once a second.
    ///
    /// # Errors
    /// Why it is not active, for a person.
    fn activate(&self, node: &str, is_cancelled: &dyn Fn() -> bool) -> Result<(), String>;
}

/// Waits by the time that is told on `/clock`, on threads that belong to the run.
pub trait SimulatedClock: Send + Sync {
    /// Waits until so much time was told since the first that is told. `is_cancelled` says whether
    /// nobody waits any more; ask it at least once a second.
    ///
    /// # Errors
    /// Why the time does not come, for a person.
    fn wait(&self, delay: Duration, is_cancelled: &dyn Fn() -> bool) -> Result<(), String>;
}

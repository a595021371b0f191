//! How a plan is run, and what loads its components.

use std::path::PathBuf;
use std::sync::Arc;

use crate::plan::Component;

/// How a plan is run.
#[derive(Default)]
pub struct RunOptions {
    /// Whether names of processes and messages are coloured.
    pub colour: bool,
    /// What loads components; without a loader, loading fails.
    pub component_loader: Option<Arc<dyn ComponentLoader>>,
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

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
    /// What standard output gets.
    pub screen: ScreenForm,
    /// Loads components; without a loader, loading fails.
    pub component_loader: Option<Arc<dyn ComponentLoader>>,
    /// Activates managed nodes; without a manager, activation fails.
    pub lifecycle_manager: Option<Arc<dyn LifecycleManager>>,
    /// Waits in simulated time; without a clock, waiting fails.
    pub simulated_clock: Option<Arc<dyn SimulatedClock>>,
    /// Returns whether Feros's wheel has a module of Python. A launch calls it for missing modules.
    pub wheel_has: Option<fn(&str) -> bool>,
    /// Whether debug messages are shown.
    pub debug: bool,
    /// The file for output that goes to the log. It is created when the first line is written.
    /// Without a file, such output is dropped.
    pub log_file: Option<PathBuf>,
    /// The signals that the caller received while planning. If there was any, nothing is started.
    pub signals: EndSignals,
}

/// The text that a run writes to standard output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ScreenForm {
    /// Lines for people: the output that goes to the screen, and messages.
    #[default]
    Plain,
    /// The same, with coloured names and messages.
    Coloured,
    /// For programs: each line is an event, as a JSON object. Its `event` is `begun` before the
    /// first process starts; `started`, with `process` (the name), `pid` and `action` (the number
    /// of a Python object, or null); `output`, with `process`, `stream` and `line`, for all output;
    /// `ended`, with `process`, `action`, `code` (a signal is negative) and `was_asked` (whether
    /// the launch ended the process); `message`, with `level`, `name` and `text`.
    Json,
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

/// Activates, changes and watches managed nodes, on threads that belong to the run.
pub trait LifecycleManager: Send + Sync {
    /// Waits for a node with this full name, then configures and activates it. `is_cancelled`
    /// returns whether that is no longer wanted; call it at least once a second.
    ///
    /// # Errors
    /// Returns the reason why the node is not active, as text for users.
    fn activate(&self, node: &str, is_cancelled: &dyn Fn() -> bool) -> Result<(), String>;

    /// Waits for a node with this full name, then makes it do the transition with this number (the
    /// constants of `lifecycle_msgs/msg/Transition`). `is_cancelled` is as above.
    ///
    /// # Errors
    /// Returns the reason why the transition was not done, as text for users.
    fn change(
        &self,
        node: &str,
        transition: u8,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), String>;

    /// Calls `report` with each change of the state of a node with this full name, whether the node
    /// exists now or later, until `is_cancelled` returns true; call it at least once a second.
    ///
    /// # Errors
    /// Returns the reason why the node cannot be watched, as text for users.
    fn watch(
        &self,
        node: &str,
        report: &dyn Fn(StateChange),
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), String>;
}

/// A change of the state of a managed node, with labels as the node sends them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StateChange {
    /// The transition; stock nodes leave it empty.
    pub transition: String,
    /// The state before.
    pub start: String,
    /// The state after.
    pub goal: String,
    /// The reason why the node is not watched any longer, instead of a change.
    pub problem: Option<String>,
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

//! The places where the components of a container run: the trait through which the manager starts
//! components on an executor, on threads or in processes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::thread;

use feros::Context;
use feros::msgs::composition_interfaces::srv::LoadNode_Request;
use feros_component::Component;
use feros_component::library::LibraryError;
use feros_executor::panic_text;
use feros_sync::Mutex;

use crate::loader::{self, LoadError};
use crate::request;

/// Where the code of a component is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Code {
    /// In this library.
    Library(PathBuf),
    /// In this program, which ships the component.
    Shipped,
    /// In no library and not in this program, so only Python may have the component.
    Python {
        /// The error if Python does not have it either.
        otherwise: String,
    },
}

/// A request to start a component.
pub(crate) struct StartRequest {
    pub(crate) code: Code,
    pub(crate) request: Arc<LoadNode_Request>,
    /// Called with the reason when the component fails after its start.
    pub(crate) on_failure: Box<dyn FnOnce(String) + Send>,
}

/// Called once with the result of a start; the text of an error is what the client reads.
pub(crate) type Done = Box<dyn FnOnce(Result<Started, String>) + Send>;

/// Runs the components for one kind of container.
pub(crate) trait Placement: Send + Sync {
    /// Starts a component, in this process or in another process. Calls `done` from any thread,
    /// possibly before `start` returns.
    fn start(&self, start_request: StartRequest, done: Done);
}

/// Runs `work` on a new thread. If the thread of `what` cannot be started, `done` gets the reason.
pub(crate) fn on_thread(
    name: String,
    what: &str,
    done: Done,
    work: impl FnOnce(Done) + Send + 'static,
) {
    let done = Arc::new(Mutex::new(Some(done)));
    let inside = done.clone();
    let spawned = thread::Builder::new().name(name).spawn(move || {
        let done = inside.lock().take();
        work(done.expect("the thread is spawned once, and only its failure takes this before"));
    });
    let Err(error) = spawned else { return };
    let done = done.lock().take();
    if let Some(done) = done {
        done(Err(format!(
            "a thread for {what} could not be started: {error}; end other threads, or raise `ulimit -u`"
        )));
    }
}

/// A running component.
pub(crate) struct Started {
    /// The node's name, including the namespace.
    pub(crate) name: String,
    pub(crate) running: Box<dyn Running>,
}

/// The handle of a running component.
pub(crate) trait Running: Send {
    /// Ends the component; calls `done` when it has ended completely.
    fn stop(self: Box<Self>, done: Box<dyn FnOnce() + Send>);
}

/// Creates a component in this process. Errors have the wording of rclcpp where rclcpp has the same
/// error.
pub(crate) fn instantiate(
    context: &Context,
    code: &Code,
    request: &LoadNode_Request,
) -> Result<Box<dyn Component>, String> {
    let options = request::node_options(request)?;
    let plugin = &request.plugin_name;
    let constructor = match code {
        Code::Library(path) => loader::constructor(path, plugin).map_err(|e| refusal(&e))?,
        Code::Shipped => feros_robot_nodes::constructor(&request.package_name, plugin)
            .ok_or_else(|| format!("{NO_SUCH_CLASS} {plugin:?} is not shipped"))?,
        Code::Python { otherwise } => return Err(otherwise.clone()),
    };
    match catch_unwind(AssertUnwindSafe(|| constructor(context, options))) {
        Ok(Ok(component)) => Ok(component),
        Ok(Err(error)) => Err(format!("Component constructor threw an exception: {error}")),
        Err(payload) => Err(format!(
            "Component constructor threw an exception: it panicked: {}",
            panic_text(&*payload)
        )),
    }
}

/// The error that a client reads when a library cannot be used.
pub(crate) fn refusal(error: &LoadError) -> String {
    match error {
        LoadError::Library(error) => library_refusal(error),
        other => format!("Failed to load library: {other}"),
    }
}

/// The error that a client reads when a library's file cannot be used.
pub(crate) fn library_refusal(error: &LibraryError) -> String {
    match error {
        LibraryError::NoSuchPlugin { .. } => format!("{NO_SUCH_CLASS} {error}"),
        other => format!("Failed to load library: {other}"),
    }
}

/// The wording of `rclcpp_components/src/component_manager.cpp`.
pub(crate) const NO_SUCH_CLASS: &str = "Failed to find class with the requested plugin name.";

/// Drops a component, and catches a panic in its drop.
pub(crate) fn drop_catching_panic(name: &str, component: Box<dyn Component>) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(component))) {
        tracing::error!(
            "component {name} panicked while it was dropped: {}",
            panic_text(&*payload)
        );
    }
}

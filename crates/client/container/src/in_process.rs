//! Components in the container's process: either on the container's executor, or each component on
//! its own executor and thread.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use feros::{Context, Executor, Node, Stopper};
use feros_component::Component;
use feros_executor::panic_text;
use feros_sync::Mutex;

use crate::placement::{
    Done, Placement, Running, StartRequest, Started, drop_catching_panic, instantiate, on_thread,
};
use crate::request::apply_log_level;

/// Creates a component, and reports panics of its callbacks from then on. The component's node is
/// not on an executor yet.
fn begin(
    context: &Context,
    start_request: StartRequest,
) -> Result<(Box<dyn Component>, Node, String), String> {
    let component = instantiate(context, &start_request.code, &start_request.request)?;
    let node = component.node().clone();
    apply_log_level(&start_request.request, node.logger_name());
    let failed = start_request.on_failure;
    node.on_panic(move |text| failed(format!("a callback panicked: {text}")));
    let name = node.name().fully_qualified();
    Ok((component, node, name))
}

/// Runs all components on one executor, as in `component_container` and `component_container_mt`.
pub(crate) struct OnExecutor {
    pub(crate) context: Context,
    pub(crate) executor: Arc<Executor>,
}

impl Placement for OnExecutor {
    fn start(&self, start_request: StartRequest, done: Done) {
        let started = begin(&self.context, start_request).and_then(|(component, node, name)| {
            if let Err(error) = self.executor.add_node(&node) {
                drop_catching_panic(&name, component);
                return Err(error.to_string());
            }
            let executor = self.executor.clone();
            let running =
                Box::new(RunningOnExecutor { component, node, name: name.clone(), executor });
            Ok(Started { name, running })
        });
        done(started);
    }
}

struct RunningOnExecutor {
    component: Box<dyn Component>,
    node: Node,
    name: String,
    executor: Arc<Executor>,
}

impl Running for RunningOnExecutor {
    fn stop(self: Box<Self>, done: Box<dyn FnOnce() + Send>) {
        self.executor.remove_node(&self.node);
        drop(self.node);
        drop_catching_panic(&self.name, self.component);
        done();
    }
}

/// Runs each component on its own executor and thread, as in `component_container_isolated`.
pub(crate) struct Isolated {
    pub(crate) context: Context,
    /// Makes the executor of a component.
    pub(crate) new_executor: Arc<dyn Fn() -> Executor + Send + Sync>,
}

impl Placement for Isolated {
    fn start(&self, start_request: StartRequest, done: Done) {
        let (context, new_executor) = (self.context.clone(), self.new_executor.clone());
        // The system shows only the first 15 bytes of the name. There, the request's node name is
        // more informative than the plugin name.
        let request = &start_request.request;
        let name =
            if request.node_name.is_empty() { &request.plugin_name } else { &request.node_name };
        on_thread(name.replace('\0', ""), "the component", done, move |done| {
            run(&context, &*new_executor, start_request, done);
        });
    }
}

/// Runs an isolated component on its thread.
fn run(
    context: &Context,
    new_executor: &dyn Fn() -> Executor,
    start_request: StartRequest,
    done: Done,
) {
    let (component, node, name) = match begin(context, start_request) {
        Ok(begun) => begun,
        Err(text) => return done(Err(text)),
    };
    let executor = new_executor();
    if let Err(error) = executor.add_node(&node) {
        drop_catching_panic(&name, component);
        return done(Err(error.to_string()));
    }
    let ending = Arc::new(Mutex::new(Ending::Running));
    let running = RunningIsolated { stopper: executor.stopper(), ending: ending.clone() };
    done(Ok(Started { name: name.clone(), running: Box::new(running) }));
    // The node catches panics of callbacks. This call catches other panics, such as a panic of the
    // executor itself.
    match catch_unwind(AssertUnwindSafe(|| executor.spin())) {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::error!("component {name} cannot be spun: {error}"),
        Err(payload) => {
            tracing::error!("the executor of component {name} panicked: {}", panic_text(&*payload))
        }
    }
    executor.remove_node(&node);
    drop(executor);
    drop(node);
    drop_catching_panic(&name, component);
    let before = std::mem::replace(&mut *ending.lock(), Ending::Ended);
    if let Ending::StopRequested(done) = before {
        done();
    }
}

enum Ending {
    Running,
    StopRequested(Box<dyn FnOnce() + Send>),
    Ended,
}

struct RunningIsolated {
    stopper: Stopper,
    ending: Arc<Mutex<Ending>>,
}

impl Running for RunningIsolated {
    fn stop(self: Box<Self>, done: Box<dyn FnOnce() + Send>) {
        let mut ending = self.ending.lock();
        if matches!(*ending, Ending::Ended) {
            drop(ending);
            return done();
        }
        *ending = Ending::StopRequested(done);
        drop(ending);
        self.stopper.stop();
    }
}

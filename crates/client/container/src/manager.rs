//! The manager of a container: starts, ends and restarts components, which have unique ids. It
//! answers requests like rclcpp's ComponentManager (`rclcpp_components/src/component_manager.cpp`).

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use feros::engine::FailureCounter;
use feros::msgs::composition_interfaces::srv::LoadNode_Request;
use feros::{CreateError, GuardCondition, Node, NodeGuardCondition, NodeTimer};
use feros_component::index::{Index, IndexError};
use feros_component::library::Library;
use feros_component::remote::{ComponentState, Loaded};
use feros_sync::{Condvar, Mutex};

use crate::completion::Completion;
use crate::loader;
use crate::placement::{
    Code, NO_SUCH_CLASS, Placement, Running, StartRequest, Started, library_refusal, refusal,
};
use crate::restart::{Failures, RestartPolicy};

/// The time that the components may take to end when the container ends.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(15);

/// Receives the result of a request; the text of an error is what the client reads.
pub(crate) type Answer<T> = Box<dyn FnOnce(Result<T, String>) + Send>;

/// The components of a container. The container's services and the failures of components drive it.
pub(crate) struct Manager {
    node: Node,
    placement: Box<dyn Placement>,
    policy: RestartPolicy,
    state: Mutex<State>,
    /// Notified when a component has ended.
    ended: Condvar,
    /// Makes the container's executor call [`Manager::handle_failures`].
    wake: GuardCondition,
    itself: Weak<Self>,
    /// Counts the refused requests, so that not every refusal is logged.
    refused: Arc<FailureCounter>,
}

#[derive(Default)]
struct State {
    last_id: u64,
    slots: BTreeMap<u64, Slot>,
    failures: Vec<Failure>,
    ending: usize,
    is_closed: bool,
}

/// A component that is loaded or being loaded.
struct Slot {
    code: Code,
    request: Arc<LoadNode_Request>,
    /// The name of the node, once it is known.
    name: Option<String>,
    phase: Phase,
    /// The number of starts, so that a failure of an earlier start is not attributed to the present
    /// start.
    start: u32,
    started: Instant,
    failures: Failures,
    restarts: u32,
    /// Finished when the component has ended after its last failure.
    shutdown: Option<Arc<Completion>>,
}

enum Phase {
    Starting,
    Running(Box<dyn Running>),
    Failed(String),
    /// The timer restarts the component.
    RestartPending(
        String,
        #[expect(dead_code, reason = "it works as long as it is kept")] NodeTimer,
    ),
}

struct Failure {
    id: u64,
    start: u32,
    text: String,
}

impl Manager {
    /// Makes a manager whose log messages and timers belong to `node`. Keep the guard condition as
    /// long as the manager.
    pub(crate) fn new(
        node: &Node,
        placement: Box<dyn Placement>,
        policy: RestartPolicy,
    ) -> Result<(Arc<Self>, NodeGuardCondition), CreateError> {
        let place: Arc<Mutex<Weak<Self>>> = Arc::default();
        let inside = place.clone();
        let guard = node.create_guard_condition(move || {
            let manager = inside.lock().upgrade();
            if let Some(manager) = manager {
                manager.handle_failures();
            }
        })?;
        let manager = Arc::new_cyclic(|itself| Self {
            node: node.clone(),
            placement,
            policy,
            state: Mutex::default(),
            ended: Condvar::new(),
            wake: (*guard).clone(),
            itself: itself.clone(),
            refused: Arc::default(),
        });
        *place.lock() = Arc::downgrade(&manager);
        Ok((manager, guard))
    }

    /// Loads a component; answers when the component runs or has failed to start.
    pub(crate) fn load(&self, request: LoadNode_Request, answer: Answer<Loaded>) {
        let plugin = request.plugin_name.clone();
        let log_and_answer = {
            let (node, refused) = (self.node.clone(), self.refused.clone());
            move |result: Result<Loaded, String>| {
                match &result {
                    Ok(loaded) => {
                        feros::info!(
                            node,
                            "loaded {plugin} as {} ({})",
                            loaded.full_node_name,
                            loaded.unique_id
                        );
                    }
                    Err(text) => {
                        if let Some(so_far) = refused.so_far() {
                            feros::error!(node, "{plugin} was not loaded: {text}{so_far}");
                        }
                    }
                }
                answer(result);
            }
        };
        let code = match find(&request) {
            Ok(code) => code,
            Err(text) => return log_and_answer(Err(text)),
        };
        let id = {
            let mut state = self.state.lock();
            state.last_id += 1;
            let id = state.last_id;
            state.slots.insert(id, Slot::new(code, request));
            id
        };
        self.start(id, Box::new(log_and_answer));
    }

    /// Starts the component of a slot.
    fn start(&self, id: u64, answer: Answer<Loaded>) {
        let start_request = {
            let mut state = self.state.lock();
            let slot = state.slots.get_mut(&id);
            slot.map(|slot| {
                slot.start += 1;
                slot.phase = Phase::Starting;
                (slot.start, slot.code.clone(), slot.request.clone())
            })
        };
        let Some((start, code, request)) = start_request else {
            return answer(Err(not_found(id)));
        };
        let manager = self.itself.clone();
        let failed = move |text| {
            if let Some(manager) = manager.upgrade() {
                manager.state.lock().failures.push(Failure { id, start, text });
                manager.wake.trigger();
            }
        };
        let start_request = StartRequest { code, request, on_failure: Box::new(failed) };
        let manager = self.itself.clone();
        let done = move |result: Result<Started, String>| match manager.upgrade() {
            Some(manager) => answer(manager.started(id, result)),
            None => answer(Err("the container ends".into())),
        };
        self.placement.start(start_request, Box::new(done));
    }

    /// Records the result of a start.
    fn started(&self, id: u64, result: Result<Started, String>) -> Result<Loaded, String> {
        let mut state = self.state.lock();
        let started = match result {
            Ok(started) => started,
            Err(text) => {
                // A component that has run before stays loaded, and is reported as failed.
                if state.slots.get(&id).is_some_and(|slot| slot.name.is_none()) {
                    state.slots.remove(&id);
                }
                return Err(text);
            }
        };
        let refusal = if state.is_closed {
            Some("the container ends".to_owned())
        } else if !state.slots.contains_key(&id) {
            Some("the component was unloaded while it started".to_owned())
        } else {
            let mut others = state.slots.iter().filter(|(other, _)| **other != id);
            let namesake = others.find(|(_, slot)| slot.name.as_deref() == Some(&started.name));
            namesake.map(|(other, _)| {
                format!(
                    "component {other} of this container already has the node name {}: set another \
                     node_name or node_namespace",
                    started.name
                )
            })
        };
        if let Some(text) = refusal {
            state.slots.remove(&id);
            drop(state);
            self.end(started.running, || {});
            return Err(text);
        }
        let slot = state.slots.get_mut(&id).expect("found above, under the same lock");
        slot.name = Some(started.name.clone());
        slot.started = Instant::now();
        slot.phase = Phase::Running(started.running);
        Ok(Loaded { unique_id: id, full_node_name: started.name })
    }

    /// Unloads a component; answers when it has ended completely.
    pub(crate) fn unload(&self, id: u64, answer: Answer<()>) {
        let slot = {
            let mut state = self.state.lock();
            // Clients do not know the number of a component until its load has been answered.
            let is_known = state.slots.get(&id).is_some_and(|slot| slot.name.is_some());
            if is_known { state.slots.remove(&id) } else { None }
        };
        let Some(slot) = slot else {
            let text = not_found(id);
            if let Some(so_far) = self.refused.so_far() {
                feros::warn!(self.node, "{text}{so_far}");
            }
            return answer(Err(text));
        };
        let name = slot.name.unwrap_or_default();
        let node = self.node.clone();
        let done = move || {
            feros::info!(node, "unloaded {name} ({id})");
            answer(Ok(()));
        };
        match slot.phase {
            Phase::Running(running) => self.end(running, done),
            Phase::Starting | Phase::Failed(_) | Phase::RestartPending(..) => match slot.shutdown {
                Some(shutdown) => shutdown.then(done),
                None => done(),
            },
        }
    }

    fn end(&self, running: Box<dyn Running>, done: impl FnOnce() + Send + 'static) {
        self.state.lock().ending += 1;
        let manager = self.itself.clone();
        running.stop(Box::new(move || {
            done();
            if let Some(manager) = manager.upgrade() {
                manager.state.lock().ending -= 1;
                manager.ended.notify_all();
            }
        }));
    }

    /// The loaded components.
    pub(crate) fn list(&self) -> Vec<Loaded> {
        let state = self.state.lock();
        let named = state.slots.iter().filter_map(|(id, slot)| Some((*id, slot.name.clone()?)));
        named.map(|(unique_id, full_node_name)| Loaded { unique_id, full_node_name }).collect()
    }

    /// The states of the loaded components.
    pub(crate) fn states(&self) -> Vec<ComponentState> {
        let state = self.state.lock();
        let named = state.slots.iter().filter(|(_, slot)| slot.name.is_some());
        named
            .map(|(id, slot)| {
                let (word, detail) = match &slot.phase {
                    Phase::Running(_) if slot.restarts > 0 => {
                        ("running", format!("restarted {} times", slot.restarts))
                    }
                    Phase::Running(_) => ("running", String::new()),
                    Phase::Starting => ("restarting", String::new()),
                    Phase::Failed(text) => ("failed", text.clone()),
                    Phase::RestartPending(text, _) => ("restarting", text.clone()),
                };
                ComponentState { unique_id: *id, state: word.to_owned(), detail }
            })
            .collect()
    }

    /// Ends failed components and schedules their restarts; runs on the container's executor.
    fn handle_failures(&self) {
        let failures = std::mem::take(&mut self.state.lock().failures);
        for failure in failures {
            self.handle_failure(failure);
        }
    }

    fn handle_failure(&self, failure: Failure) {
        let Failure { id, start, text } = failure;
        let (name, ran, shutdown) = {
            let mut state = self.state.lock();
            let Some(slot) = state.slots.get_mut(&id).filter(|slot| slot.start == start) else {
                return;
            };
            if matches!(slot.phase, Phase::Starting) {
                // The component failed before another thread recorded its start: try again a little
                // later.
                state.failures.push(Failure { id, start, text });
                drop(state);
                std::thread::yield_now();
                self.wake.trigger();
                return;
            }
            let shutdown = match std::mem::replace(&mut slot.phase, Phase::Failed(text.clone())) {
                Phase::Running(running) => {
                    Some((running, slot.shutdown.insert(Arc::default()).clone()))
                }
                _ => None,
            };
            (slot.name.clone().unwrap_or_default(), slot.started.elapsed(), shutdown)
        };
        feros::error!(self.node, "component {name} ({id}) failed: {text}");
        if let Some((running, shutdown)) = shutdown {
            self.end(running, move || shutdown.finish());
        }
        self.restart_later(id, &name, text, ran);
    }

    fn restart_later(&self, id: u64, name: &str, text: String, ran: Duration) {
        let delay = {
            let mut state = self.state.lock();
            let is_closed = state.is_closed;
            let Some(slot) = state.slots.get_mut(&id) else { return };
            slot.failures.next_delay(self.policy, ran).filter(|_| !is_closed)
        };
        let Some(delay) = delay else {
            feros::info!(
                self.node,
                "component {name} ({id}) is not restarted: unload it, or load it again"
            );
            return;
        };
        feros::info!(self.node, "component {name} ({id}) restarts in {delay:?}");
        let manager = self.itself.clone();
        let timer = self.node.create_wall_timer(delay, move || {
            if let Some(manager) = manager.upgrade() {
                manager.restart(id);
            }
        });
        match timer {
            Ok(timer) => {
                if let Some(slot) = self.state.lock().slots.get_mut(&id) {
                    slot.phase = Phase::RestartPending(text, timer);
                }
            }
            Err(error) => {
                feros::error!(self.node, "component {name} ({id}) cannot be restarted: {error}")
            }
        }
    }

    fn restart(&self, id: u64) {
        let timer = {
            let mut state = self.state.lock();
            let Some(slot) = state.slots.get_mut(&id) else { return };
            if !matches!(slot.phase, Phase::RestartPending(..)) {
                return;
            }
            slot.restarts += 1;
            std::mem::replace(&mut slot.phase, Phase::Starting)
        };
        drop(timer); // outside of the lock
        let manager = self.itself.clone();
        let answer = move |result: Result<Loaded, String>| {
            let Some(manager) = manager.upgrade() else { return };
            match result {
                Ok(loaded) => {
                    feros::info!(
                        manager.node,
                        "component {} ({id}) runs again",
                        loaded.full_node_name
                    )
                }
                Err(text) => manager.restart_failed(id, &text),
            }
        };
        self.start(id, Box::new(answer));
    }

    /// Records another failure of a component that could not be restarted.
    fn restart_failed(&self, id: u64, text: &str) {
        let name = {
            let mut state = self.state.lock();
            let Some(slot) = state.slots.get_mut(&id) else { return };
            slot.phase = Phase::Failed(text.to_owned());
            slot.name.clone().unwrap_or_default()
        };
        feros::error!(self.node, "component {name} ({id}) could not be restarted: {text}");
        self.restart_later(id, &name, text.to_owned(), Duration::ZERO);
    }

    /// Ends all components, starting with the one loaded last, and waits for them. Returns true if
    /// all have ended in time.
    pub(crate) fn close(&self) -> bool {
        let slots = {
            let mut state = self.state.lock();
            state.is_closed = true;
            std::mem::take(&mut state.slots)
        };
        for slot in slots.into_values().rev() {
            if let Phase::Running(running) = slot.phase {
                self.end(running, || {});
            }
        }
        let waited = self
            .ended
            .wait_timeout_while(self.state.lock(), CLOSE_TIMEOUT, |state| state.ending > 0);
        waited.ending == 0
    }
}

impl Slot {
    fn new(code: Code, request: LoadNode_Request) -> Self {
        Self {
            code,
            request: Arc::new(request),
            name: None,
            phase: Phase::Starting,
            start: 0,
            started: Instant::now(),
            failures: Failures::default(),
            restarts: 0,
            shutdown: None,
        }
    }
}

/// The code of the component that a request names: in a library, else shipped, else in Python.
/// Components for rclcpp, which no container of Feros can load, hide no others.
fn find(request: &LoadNode_Request) -> Result<Code, String> {
    let (package, plugin) = (&request.package_name, &request.plugin_name);
    let is_shipped = feros_robot_nodes::constructor(package, plugin).is_some();
    let components = match Index::from_env().components(package) {
        Ok(components) => components,
        Err(IndexError::UnknownPackage { .. } | IndexError::OnlyCpp { .. }) if is_shipped => {
            return Ok(Code::Shipped);
        }
        Err(error @ (IndexError::UnknownPackage { .. } | IndexError::OnlyCpp { .. })) => {
            return Ok(Code::Python { otherwise: format!("{NOT_IN_INDEX}: {error}") });
        }
        Err(error @ IndexError::InvalidLine { .. }) => {
            return Err(format!("Invalid resource entry: {error}"));
        }
        Err(error) => return Err(format!("{NOT_IN_INDEX}: {error}")),
    };
    let Some(found) = components.iter().find(|entry| entry.plugin == *plugin) else {
        if is_shipped {
            return Ok(Code::Shipped);
        }
        let known: Vec<&str> = components.iter().map(|entry| entry.plugin.as_str()).collect();
        let known = known.join(", ");
        let otherwise = format!(
            "{NO_SUCH_CLASS} package {package} has no component {plugin:?}; it has {known}"
        );
        return Ok(Code::Python { otherwise });
    };
    let installed = found.installed_library();
    let path = installed.map_err(|error| format!("Failed to load library: {error}"))?;
    loader::check_program(&path).map_err(|error| refusal(&error))?;
    let checked = Library::read(&path).and_then(|library| library.check(plugin));
    checked.map(|()| Code::Library(path)).map_err(|error| library_refusal(&error))
}

/// The wording of `rclcpp_components/src/component_manager.cpp`.
const NOT_IN_INDEX: &str = "Could not find requested resource in ament index";

/// The wording of `rclcpp_components/src/component_manager.cpp`.
fn not_found(id: u64) -> String {
    format!("No node found with unique_id: {id}")
}

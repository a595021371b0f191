//! Executors for nodes: connects the executor of `feros-executor` with nodes and contexts.

mod builder;
mod isolated;

pub use builder::ExecutorBuilder;
pub use isolated::IsolatedExecutors;

use std::future::Future;
use std::time::Duration;

use feros_engine::FailureCounter;
use feros_executor::{AddError, Entity, EntityHandle, Outcome, SpinError, Stopper};
use feros_shm::{ProcessSegment, SharedDoorbell};
use feros_sync::Mutex;

use crate::callbacks::group::CallbackGroup;
use crate::context::{Context, ShutdownGuard};
use crate::node::{Node, WeakNode};

/// Runs the callbacks of its nodes, and sleeps while no callback is ready.
///
/// The callbacks run in turn, one at a time, on the thread that spins the executor, unless the
/// executor was [built](Executor::builder) with other options, such as several threads, another
/// order or real-time scheduling.
///
/// Nodes may be added and removed while the executor spins. Spinning ends when the context of one
/// of the nodes, or of the node of a separate callback group, is shut down.
///
/// ```no_run
/// use feros::{Context, Executor};
/// let context = Context::from_env()?;
/// let (camera, planner) = (context.create_node("camera")?, context.create_node("planner")?);
/// let executor = Executor::new();
/// executor.add_node(&camera)?;
/// executor.add_node(&planner)?;
/// executor.spin()?;
/// # Ok::<(), feros::Error>(())
/// ```
pub struct Executor {
    core: feros_executor::Executor,
    contexts: Mutex<Vec<(Context, ShutdownGuard)>>,
    nodes: Mutex<Vec<WeakNode>>,
    groups: Mutex<Vec<CallbackGroup>>,
}

/// The reason why a node cannot be added to an executor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddNodeError {
    /// The node is on an executor already; a node has one executor at a time.
    #[error("node {node} is already on an executor: remove it from that executor first")]
    OnAnotherExecutor {
        /// The node.
        node: String,
    },
    /// The system could not start a thread for the node.
    #[error(
        "the thread of node {node} cannot be started: {reason}; end other threads, or raise `ulimit -u`"
    )]
    Thread {
        /// The node.
        node: String,
        /// The system's error.
        reason: String,
    },
    /// The group is not separate from its node, so it cannot be added to an executor on its own.
    #[error(
        "the callback group belongs to the executor of its node: create it with \
         `create_separate_callback_group` to add it separately"
    )]
    GroupOfItsNode,
    /// The group is on an executor already; a group has one executor at a time.
    #[error("the callback group is already on an executor: remove it from that executor first")]
    GroupOnAnotherExecutor,
    /// The executor cannot take the node's entities, for example because it is full.
    #[error("node {node} cannot be added: {source}")]
    Executor {
        /// The node.
        node: String,
        /// The reason.
        source: AddError,
    },
}

impl Executor {
    /// Makes an executor without nodes, with one thread, that runs ready callbacks in turn.
    ///
    /// Publishers in other processes of this host can wake the executor, if the process has shared
    /// memory.
    pub fn new() -> Self {
        Self::builder().build()
    }

    /// Makes a builder for an executor with other options.
    pub fn builder() -> ExecutorBuilder {
        ExecutorBuilder::default()
    }

    /// The number of threads with which the executor spins.
    pub fn threads(&self) -> usize {
        self.core.threads()
    }

    /// The time that the threads have spent polling for work instead of sleeping, if [busy
    /// waiting](ExecutorBuilder::busy_wait) is enabled. The threads use the processor during this
    /// time, except when the system runs other threads instead.
    pub fn busy_waited(&self) -> Duration {
        self.core.busy_waited()
    }

    /// Makes the executor run all present and future callbacks of a node.
    ///
    /// # Errors
    /// When the node is on an executor already, or this executor is full.
    pub fn add_node(&self, node: &Node) -> Result<(), AddNodeError> {
        let name = || node.name().fully_qualified();
        match node.members().join(&self.core.handle()) {
            Ok(true) => {}
            Ok(false) => return Err(AddNodeError::OnAnotherExecutor { node: name() }),
            Err(source) => return Err(AddNodeError::Executor { node: name(), source }),
        }
        self.stop_with(node.context());
        let mut nodes = self.nodes.lock();
        nodes.retain(|known| known.upgrade().is_some());
        nodes.push(node.downgrade());
        Ok(())
    }

    /// Stops running the callbacks of a node, and waits for a callback that is running. After that,
    /// the node may be added to another executor.
    ///
    /// Do not call this function from a callback of the node, because the callback would lose its
    /// executor while it runs.
    pub fn remove_node(&self, node: &Node) {
        let mut nodes = self.nodes.lock();
        let before = nodes.len();
        nodes.retain(|known| known.upgrade().is_some_and(|known| !known.is_same(node)));
        let found = nodes.len() < before;
        drop(nodes);
        if found {
            node.members().leave();
        }
    }

    /// Makes the executor run all present and future callbacks of a
    /// [separate](Node::create_separate_callback_group) group. The group's node may be on another
    /// executor.
    ///
    /// # Errors
    /// When the group is not separate, the group is on an executor already, or this executor is
    /// full.
    pub fn add_callback_group(&self, group: &CallbackGroup) -> Result<(), AddNodeError> {
        match group.join(&self.core.handle()) {
            Ok(Some(true)) => {}
            Ok(None) => return Err(AddNodeError::GroupOfItsNode),
            Ok(Some(false)) => return Err(AddNodeError::GroupOnAnotherExecutor),
            Err(source) => {
                return Err(AddNodeError::Executor {
                    node: "of the callback group".to_owned(),
                    source,
                });
            }
        }
        if let Some(context) = group.context() {
            self.stop_with(context);
        }
        self.groups.lock().push(group.clone());
        Ok(())
    }

    /// Stops running the callbacks of a separate group, and waits for a callback that is running.
    pub fn remove_callback_group(&self, group: &CallbackGroup) {
        let mut groups = self.groups.lock();
        let before = groups.len();
        groups.retain(|known| !known.is_same(group));
        let found = groups.len() < before;
        drop(groups);
        if found {
            group.leave();
        }
    }

    fn stop_with(&self, context: &Context) {
        let mut contexts = self.contexts.lock();
        if !contexts.iter().any(|(known, _)| known.is_same(context)) {
            let stopper = self.core.stopper();
            contexts.push((context.clone(), context.on_shutdown(move || stopper.stop())));
        }
    }

    fn is_ok(&self) -> bool {
        let contexts = self.contexts.lock();
        contexts.iter().all(|(context, _)| context.is_ok())
    }

    /// Runs callbacks until a [`stopper`](Self::stopper) stops the executor, or until the context
    /// of one of its nodes or separate callback groups is shut down, for example by SIGINT.
    ///
    /// # Errors
    /// When another thread already spins the executor, or one of the executor's own callbacks calls
    /// this function.
    ///
    /// # Panics
    /// When a callback panics and the node does not catch the panic. The executor can be spun again
    /// afterwards.
    pub fn spin(&self) -> Result<(), SpinError> {
        if self.is_ok() { self.core.spin() } else { Ok(()) }
    }

    /// Runs one callback. If no callback is ready, waits for at most `timeout` until one is, or
    /// without limit if `timeout` is `None`.
    ///
    /// # Errors
    /// See [`Executor::spin`].
    ///
    /// # Panics
    /// See [`Executor::spin`].
    pub fn spin_once(&self, timeout: Option<Duration>) -> Result<Outcome, SpinError> {
        if self.is_ok() { self.core.spin_once(timeout) } else { Ok(Outcome::Stopped) }
    }

    /// Runs the callbacks that are ready now, without waiting and at most once per entity; returns
    /// their number. No callback begins after `max_duration`.
    ///
    /// # Errors
    /// See [`Executor::spin`].
    ///
    /// # Panics
    /// See [`Executor::spin`].
    pub fn spin_some(&self, max_duration: Duration) -> Result<usize, SpinError> {
        self.core.spin_some(max_duration)
    }

    /// Runs ready callbacks until no callback is ready, without waiting; returns their number. This
    /// includes callbacks that become ready during the call. No callback begins after
    /// `max_duration`.
    ///
    /// # Errors
    /// See [`Executor::spin`].
    ///
    /// # Panics
    /// See [`Executor::spin`].
    pub fn spin_all(&self, max_duration: Duration) -> Result<usize, SpinError> {
        self.core.spin_all(max_duration)
    }

    /// Runs callbacks until `predicate` holds, for at most `timeout`. The predicate is evaluated
    /// after each callback.
    ///
    /// # Errors
    /// See [`Executor::spin`].
    ///
    /// # Panics
    /// See [`Executor::spin`].
    pub fn spin_until(
        &self,
        timeout: Option<Duration>,
        predicate: impl FnMut() -> bool,
    ) -> Result<Outcome, SpinError> {
        if self.is_ok() { self.core.spin_until(timeout, predicate) } else { Ok(Outcome::Stopped) }
    }

    /// Runs callbacks until a future is complete, such as the response of a service, for at most
    /// `timeout`.
    ///
    /// # Errors
    /// See [`Executor::spin`].
    ///
    /// # Panics
    /// See [`Executor::spin`].
    pub fn spin_until_complete<F: Future>(
        &self,
        timeout: Option<Duration>,
        future: F,
    ) -> Result<Outcome<F::Output>, SpinError> {
        if self.is_ok() {
            self.core.spin_until_complete(timeout, future)
        } else {
            Ok(Outcome::Stopped)
        }
    }

    /// Returns a handle that can end the spinning from any thread.
    pub fn stopper(&self) -> Stopper {
        self.core.stopper()
    }

    /// Adds an entity that belongs to no node. An entity is a callback with its wake-up handle.
    ///
    /// # Errors
    /// When the executor is full.
    pub fn add_entity(&self, entity: Entity) -> Result<EntityHandle, AddError> {
        self.core.add(entity)
    }
}

impl Default for Executor {
    fn default() -> Self {
        Self::new()
    }
}

/// Makes a doorbell in the process's shared-memory segment, through which other processes wake the
/// executor. Without such a doorbell, subscriptions take the network transport and report the
/// reason.
fn shared_doorbell() -> Option<SharedDoorbell> {
    // One counter for all executors: a process may have hundreds.
    static FAILED: FailureCounter = FailureCounter::new();
    let segment = ProcessSegment::of_this_process().ok()?;
    let failed = |error| {
        if let Some(count) = FAILED.count() {
            tracing::warn!(target: "feros::shm", "an executor cannot be woken by other processes ({count} so far): {error}");
        }
    };
    segment.doorbell().map_err(failed).ok()
}

impl Drop for Executor {
    fn drop(&mut self) {
        let nodes = std::mem::take(&mut *self.nodes.lock());
        nodes.iter().filter_map(WeakNode::upgrade).for_each(|node| node.members().leave());
        let groups = std::mem::take(&mut *self.groups.lock());
        groups.iter().for_each(|group| group.leave());
    }
}

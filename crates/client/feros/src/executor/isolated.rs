//! Runs each node on its own executor and thread, so that no node waits for the callbacks of
//! another node.

use std::sync::Arc;
use std::thread::JoinHandle;

use feros_executor::Stopper;
use feros_sync::Mutex;

use super::{AddNodeError, Executor};
use crate::node::{Node, WeakNode};

/// Spins each node on a separate executor, on a thread with the node's name. Nodes may be added and
/// removed at any time; the remaining threads end when this value is dropped. Remove a node before
/// you drop it. Otherwise its thread ends only when the next node is added or removed.
///
/// ```no_run
/// # let (camera, planner): (feros::Node, feros::Node) = unimplemented!();
/// let executors = feros::IsolatedExecutors::new();
/// executors.add_node(&camera)?;
/// executors.add_node(&planner)?;
/// # Ok::<(), feros::Error>(())
/// ```
pub struct IsolatedExecutors {
    make: Box<dyn Fn(&Node) -> Executor + Send + Sync>,
    running: Mutex<Vec<Isolated>>,
}

struct Isolated {
    node: WeakNode,
    stopper: Stopper,
    thread: JoinHandle<()>,
}

impl Isolated {
    /// Ends the thread. After that, the node is on no executor.
    fn end(self) {
        self.stopper.stop();
        // If a callback of the node calls this function, the thread ends after the callback.
        if self.thread.thread().id() != std::thread::current().id() {
            let _ = self.thread.join(); // the panic hook has printed the reason
        }
    }
}

impl IsolatedExecutors {
    /// Spins nodes on executors with default options.
    pub fn new() -> Self {
        Self::with(|_| Executor::new())
    }

    /// Spins nodes on executors that the closure makes, for example with real-time scheduling for
    /// one of the nodes.
    pub fn with(make: impl Fn(&Node) -> Executor + Send + Sync + 'static) -> Self {
        Self { make: Box::new(make), running: Mutex::default() }
    }

    /// Ends the threads of nodes that no longer exist.
    fn forget_dropped_nodes(&self) {
        let mut running = self.running.lock();
        let (alive, dropped) = std::mem::take(&mut *running)
            .into_iter()
            .partition(|isolated| isolated.node.upgrade().is_some());
        *running = alive;
        drop(running);
        let dropped: Vec<Isolated> = dropped;
        dropped.into_iter().for_each(Isolated::end);
    }

    /// Spins a node until the node is removed or its context is shut down. A panic in one of its
    /// callbacks ends the spinning, unless the node [catches the panic](Node::on_panic).
    ///
    /// # Errors
    /// When the node is on an executor already, or the system cannot start a thread.
    pub fn add_node(&self, node: &Node) -> Result<(), AddNodeError> {
        self.forget_dropped_nodes();
        let executor = Arc::new((self.make)(node));
        executor.add_node(node)?;
        let stopper = executor.stopper();
        let name = node.name().fully_qualified();
        let spin = {
            let name = name.clone();
            move || {
                if let Err(error) = executor.spin() {
                    tracing::error!("node {name} cannot be spun any longer: {error}");
                }
            }
        };
        let thread = std::thread::Builder::new().name(node.name().name().to_owned()).spawn(spin);
        let thread = thread
            .map_err(|error| AddNodeError::Thread { node: name, reason: error.to_string() })?;
        let mut running = self.running.lock();
        running.push(Isolated { node: node.downgrade(), stopper, thread });
        Ok(())
    }

    /// Ends the node's thread; a callback that is running ends first. After that, the node may be
    /// added to another executor. Returns `false` if this value did not spin the node.
    pub fn remove_node(&self, node: &Node) -> bool {
        let mut running = self.running.lock();
        let is_it =
            |isolated: &Isolated| isolated.node.upgrade().is_some_and(|known| known.is_same(node));
        let found = running.iter().position(is_it).map(|place| running.swap_remove(place));
        drop(running);
        self.forget_dropped_nodes();
        found.map(Isolated::end).is_some()
    }

    /// The number of nodes that this value spins.
    pub fn len(&self) -> usize {
        self.running.lock().iter().filter(|isolated| isolated.node.upgrade().is_some()).count()
    }

    /// Whether this value spins no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Default for IsolatedExecutors {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for IsolatedExecutors {
    fn drop(&mut self) {
        let running = std::mem::take(&mut *self.running.lock());
        running.iter().for_each(|isolated| isolated.stopper.stop());
        running.into_iter().for_each(Isolated::end);
    }
}

//! The threads on which the nodes of a test are spun, one for each node, and the panics of their
//! callbacks.

use std::collections::VecDeque;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use feros::{AddNodeError, IsolatedExecutors, Node};
use feros_sync::Mutex;

use crate::error::ExpectError;

/// The pause between two looks at a condition.
const PAUSE: Duration = Duration::from_millis(5);

/// A panic of a callback: the node, and the text.
type Panic = (String, String);

/// Spins nodes until the end of the test.
#[derive(Default)]
pub(crate) struct Spinning {
    executors: IsolatedExecutors,
    nodes: Mutex<Vec<Node>>,
    /// The panics that no wait has returned yet, one for each node at most.
    panics: Arc<Mutex<VecDeque<Panic>>>,
}

impl Spinning {
    pub(crate) fn add(&self, node: &Node) -> Result<(), AddNodeError> {
        let (panics, name) = (Arc::clone(&self.panics), node.name().fully_qualified());
        node.on_panic(move |text| panics.lock().push_back((name, text.to_owned())));
        self.executors.add_node(node)?;
        self.nodes.lock().push(node.clone());
        Ok(())
    }

    /// The nodes that are spun.
    pub(crate) fn nodes(&self) -> Vec<Node> {
        self.nodes.lock().clone()
    }

    /// Calls `look` until it finds something.
    pub(crate) fn until<T>(
        &self,
        timeout: Duration,
        mut look: impl FnMut() -> Result<Option<T>, ExpectError>,
        missing: impl FnOnce() -> String,
    ) -> Result<T, ExpectError> {
        let began = Instant::now();
        loop {
            if let Some((node, text)) = self.panics.lock().pop_front() {
                return Err(ExpectError::Panicked { node, text });
            }
            if let Some(found) = look()? {
                return Ok(found);
            }
            if began.elapsed() >= timeout {
                return Err(ExpectError::Missing { missing: missing(), waited: timeout });
            }
            thread::sleep(PAUSE);
        }
    }

    /// Ends all threads; callbacks that are running end first.
    pub(crate) fn end(&self) {
        for node in self.nodes.lock().drain(..) {
            self.executors.remove_node(&node);
        }
    }

    /// Panics with a panic that no wait has returned, unless the test already panics.
    pub(crate) fn pass_on_panic(&self) {
        let panic = self.panics.lock().pop_front();
        if let Some((node, text)) = panic
            && !thread::panicking()
        {
            panic!("{}", ExpectError::Panicked { node, text });
        }
    }
}

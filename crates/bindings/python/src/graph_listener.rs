//! Waits for changes of the graph in an asyncio event loop: the next change wakes the loop.

use std::future::Future;
use std::pin::Pin;
use std::task::Context as Task;

use feros_sync::Mutex;
use pyo3::prelude::*;

use crate::detached::Detached;
use crate::wakeups::Wakeups;

/// Wakes a loop once: at the next change of the graph, or when the context is shut down. Does
/// nothing after it has been dropped.
#[pyclass(frozen, module = "feros._feros")]
pub(crate) struct GraphListener {
    _waiting: Detached<Mutex<Pin<Box<dyn Future<Output = ()> + Send>>>>,
}

impl GraphListener {
    /// Listens from now on.
    pub(crate) fn new(context: &feros::Context, wakeups: &Wakeups, token: u64) -> Self {
        let context = context.clone();
        let mut looks = 0;
        let is_woken = move || {
            looks += 1;
            looks > 1
        };
        let mut waiting: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(async move {
            let _ = context.wait_for_graph_async(|| "a change of the graph", is_woken).await;
        });
        // The first poll registers the waker. If the context has already been shut down, there is
        // nothing to wait for; callers check for this case.
        let _ = waiting.as_mut().poll(&mut Task::from_waker(&wakeups.waker(token)));
        Self { _waiting: Detached::new(Mutex::new(waiting)) }
    }
}

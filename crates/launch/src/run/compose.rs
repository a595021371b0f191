//! Loading components beside the supervisor: one thread for each container, so that one that never
//! comes delays no other.

use feros_sync::Mutex;
use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::{Composer, RunError};
use crate::plan::Component;

/// Results that wait to be told; the threads wait when there are more.
const MOST_RESULTS: usize = 64;

/// What became of loading a component.
pub(super) struct Loaded {
    pub(super) container: String,
    pub(super) plugin: String,
    /// The node's full name, or why there is none.
    pub(super) result: Result<String, String>,
    pub(super) was_cancelled: bool,
}

/// Components for one container, and the thread that loads them.
struct Queue {
    container: String,
    jobs: Arc<Mutex<VecDeque<Component>>>,
    is_cancelled: Arc<AtomicBool>,
    is_over: Arc<AtomicBool>,
}

pub(super) struct Composing {
    composer: Option<Arc<dyn Composer>>,
    queues: Vec<Queue>,
    /// Components that are neither loaded nor refused yet.
    open: usize,
    results: Receiver<Loaded>,
    sender: SyncSender<Loaded>,
    wake: UnixStream,
    waker: Arc<UnixStream>,
}

impl Composing {
    pub(super) fn new(composer: Option<Arc<dyn Composer>>) -> Result<Self, RunError> {
        let failed = |cause| RunError::System { what: "a pipe cannot be made", cause };
        let (wake, waker) = UnixStream::pair().map_err(failed)?;
        wake.set_nonblocking(true).map_err(failed)?;
        waker.set_nonblocking(true).map_err(failed)?;
        let (sender, results) = sync_channel(MOST_RESULTS);
        Ok(Self {
            composer,
            queues: Vec::new(),
            open: 0,
            results,
            sender,
            wake,
            waker: Arc::new(waker),
        })
    }

    /// What to wait for.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Whether nothing is to be loaded any more.
    pub(super) fn is_idle(&self) -> bool {
        self.open == 0
    }

    /// Has components be loaded, after those that wait for the same container.
    ///
    /// # Errors
    /// Why none of them can be.
    pub(super) fn load(&mut self, container: &str, components: &[Component]) -> Result<(), String> {
        let Some(composer) = self.composer.clone() else {
            return Err("components cannot be loaded here".to_owned());
        };
        let waiting =
            self.queues.iter().find(|queue| queue.container == container && !queue.is_cancelled());
        if let Some(queue) = waiting {
            let mut jobs = queue.jobs.lock();
            // The thread says that it is over while it holds the jobs, so either it takes these or
            // another is made.
            if !queue.is_over.load(Ordering::Relaxed) {
                jobs.extend(components.iter().cloned());
                self.open += components.len();
                return Ok(());
            }
        }
        self.start_thread(composer, container, components)?;
        self.open += components.len();
        Ok(())
    }

    fn start_thread(
        &mut self,
        composer: Arc<dyn Composer>,
        container: &str,
        components: &[Component],
    ) -> Result<(), String> {
        let queue = Queue {
            container: container.to_owned(),
            jobs: Arc::new(Mutex::new(components.iter().cloned().collect())),
            is_cancelled: Arc::new(AtomicBool::new(false)),
            is_over: Arc::new(AtomicBool::new(false)),
        };
        let (jobs, is_cancelled, is_over) =
            (Arc::clone(&queue.jobs), Arc::clone(&queue.is_cancelled), Arc::clone(&queue.is_over));
        let (sender, waker) = (self.sender.clone(), Arc::clone(&self.waker));
        let container = container.to_owned();
        let work = move || {
            let next = || {
                let mut jobs = jobs.lock();
                let job = jobs.pop_front();
                is_over.store(job.is_none(), Ordering::Relaxed);
                job
            };
            while let Some(component) = next() {
                let cancelled = || is_cancelled.load(Ordering::Relaxed);
                let result = if cancelled() {
                    Err("nobody waits for it any more".to_owned())
                } else {
                    composer.load(&container, &component, &cancelled)
                };
                let was_cancelled = result.is_err() && cancelled();
                let loaded = Loaded {
                    container: container.clone(),
                    plugin: component.plugin,
                    result,
                    was_cancelled,
                };
                if sender.send(loaded).is_err() {
                    return;
                }
                // A full pipe wakes as well.
                let _ = (&*waker).write(&[1]);
            }
        };
        std::thread::Builder::new()
            .name("feros-load".to_owned())
            .spawn(work)
            .map_err(|error| format!("no thread can be started: {error}"))?;
        self.queues.retain(|queue| !queue.is_over.load(Ordering::Relaxed));
        self.queues.push(queue);
        Ok(())
    }

    /// Nobody waits for the components of a container any more.
    pub(super) fn cancel(&self, container: &str) {
        for queue in self.queues.iter().filter(|queue| queue.container == container) {
            queue.is_cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Nobody waits for any component any more.
    pub(super) fn cancel_all(&self) {
        for queue in &self.queues {
            queue.is_cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// What was loaded or refused since the last time.
    pub(super) fn take_results(&mut self) -> Vec<Loaded> {
        let mut bytes = [0; 64];
        // What is read only says that there is something to look for.
        let _ = self.wake.read(&mut bytes);
        let results: Vec<Loaded> = self.results.try_iter().collect();
        self.open = self.open.saturating_sub(results.len());
        results
    }
}

impl Queue {
    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

//! The queue of components to load: one thread for each container, so that a container that never
//! starts delays no other.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::options::ComponentLoader;
use super::outcome::RunError;
use feros_sync::Mutex;

use crate::plan::Component;

/// The most results that wait for the supervisor; threads with more wait.
const MAX_RESULTS: usize = 64;

/// The result of loading a component.
pub(super) struct Loaded {
    pub(super) container: String,
    pub(super) plugin: String,
    /// The node's full name, or why there is none.
    pub(super) result: Result<String, String>,
    pub(super) was_cancelled: bool,
}

/// Components for one container, and the thread that loads them.
struct ContainerQueue {
    container: String,
    jobs: Arc<Mutex<VecDeque<Component>>>,
    is_cancelled: Arc<AtomicBool>,
    is_finished: Arc<AtomicBool>,
}

pub(super) struct LoadQueue {
    loader: Option<Arc<dyn ComponentLoader>>,
    queues: Vec<ContainerQueue>,
    /// Components without a result yet.
    pending: usize,
    results: Receiver<Loaded>,
    sender: SyncSender<Loaded>,
    wake: UnixStream,
    waker: Arc<UnixStream>,
}

impl LoadQueue {
    pub(super) fn new(loader: Option<Arc<dyn ComponentLoader>>) -> Result<Self, RunError> {
        let failed = |cause| RunError::System { what: "a pipe cannot be made", cause };
        let (wake, waker) = UnixStream::pair().map_err(failed)?;
        wake.set_nonblocking(true).map_err(failed)?;
        waker.set_nonblocking(true).map_err(failed)?;
        let (sender, results) = sync_channel(MAX_RESULTS);
        Ok(Self {
            loader,
            queues: Vec::new(),
            pending: 0,
            results,
            sender,
            wake,
            waker: Arc::new(waker),
        })
    }

    /// The descriptor that is readable when there are results.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Whether no component is queued or being loaded.
    pub(super) fn is_idle(&self) -> bool {
        self.pending == 0
    }

    /// Queues components behind those that wait for the same container.
    ///
    /// # Errors
    /// The reason why none of them can be loaded.
    pub(super) fn load(&mut self, container: &str, components: &[Component]) -> Result<(), String> {
        let Some(loader) = self.loader.clone() else {
            return Err("components cannot be loaded here".to_owned());
        };
        let waiting =
            self.queues.iter().find(|queue| queue.container == container && !queue.is_cancelled());
        if let Some(queue) = waiting {
            let mut jobs = queue.jobs.lock();
            // The thread says that it is finished while it holds the jobs, so either it takes these
            // or another is made.
            if !queue.is_finished.load(Ordering::Relaxed) {
                jobs.extend(components.iter().cloned());
                self.pending += components.len();
                return Ok(());
            }
        }
        self.start_thread(loader, container, components)?;
        self.pending += components.len();
        Ok(())
    }

    fn start_thread(
        &mut self,
        loader: Arc<dyn ComponentLoader>,
        container: &str,
        components: &[Component],
    ) -> Result<(), String> {
        let queue = ContainerQueue {
            container: container.to_owned(),
            jobs: Arc::new(Mutex::new(components.iter().cloned().collect())),
            is_cancelled: Arc::new(AtomicBool::new(false)),
            is_finished: Arc::new(AtomicBool::new(false)),
        };
        let (jobs, is_cancelled, is_finished) = (
            Arc::clone(&queue.jobs),
            Arc::clone(&queue.is_cancelled),
            Arc::clone(&queue.is_finished),
        );
        let (sender, waker) = (self.sender.clone(), Arc::clone(&self.waker));
        let container = container.to_owned();
        let work = move || {
            let next = || {
                let mut jobs = jobs.lock();
                let job = jobs.pop_front();
                is_finished.store(job.is_none(), Ordering::Relaxed);
                job
            };
            while let Some(component) = next() {
                let cancelled = || is_cancelled.load(Ordering::Relaxed);
                let result = if cancelled() {
                    Err("loading was cancelled".to_owned())
                } else {
                    loader.load(&container, &component, &cancelled)
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
        self.queues.retain(|queue| !queue.is_finished.load(Ordering::Relaxed));
        self.queues.push(queue);
        Ok(())
    }

    /// Cancels what is queued for a container.
    pub(super) fn cancel(&self, container: &str) {
        for queue in self.queues.iter().filter(|queue| queue.container == container) {
            queue.is_cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Cancels everything that is queued.
    pub(super) fn cancel_all(&self) {
        for queue in &self.queues {
            queue.is_cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// The results since the last call.
    pub(super) fn take_results(&mut self) -> Vec<Loaded> {
        let mut bytes = [0; 64];
        // The bytes only wake the supervisor; the results are in the channel.
        let _ = self.wake.read(&mut bytes);
        let results: Vec<Loaded> = self.results.try_iter().collect();
        self.pending = self.pending.saturating_sub(results.len());
        results
    }
}

impl ContainerQueue {
    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

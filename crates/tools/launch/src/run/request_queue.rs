//! Requests that take time: over ROS, and to the code of launch files. Each container, managed node
//! and timer in simulated time has a thread of its own, so that a node that never starts does not
//! delay the others; the reactions to events have one thread, in the order of the events.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::options::{LifecycleManager, RunOptions};
use super::outcome::RunError;
use feros_sync::Mutex;

use crate::plan::{Component, Delayed, Event, ProcessSignal, Reactions};

/// The limit on answers that wait for the supervisor; a thread with another answer blocks.
const MAX_ANSWERS: usize = 64;

/// A request to a node.
pub(super) enum Request {
    /// Load a component into a container.
    Load(Box<Component>),
    /// Configure and activate a managed node.
    Activate,
    /// Make a managed node do the transition with this number.
    Change(u8),
    /// Wait in simulated time, then perform the delayed steps.
    Wait(Box<Delayed>),
    /// Plan the reactions to an event.
    React(Arc<Reactions>, Box<Event>),
    /// Ask a function of the launch file, by its number, which processes a signal is for.
    Choose(Arc<Reactions>, u64, Box<ProcessSignal>),
}

impl Request {
    /// The text that reports a failed request.
    pub(super) fn undone(&self) -> String {
        match self {
            Self::Load(component) => format!("{} is not loaded", component.plugin),
            Self::Activate => "is not active".to_owned(),
            Self::Change(transition) => format!("has not done the transition {transition}"),
            Self::Wait(delayed) => format!("the timer at {} does not fire", delayed.at),
            Self::Choose(_, _, signal) => {
                format!("no process gets the signal of {}", signal.at)
            }
            Self::React(_, event) => format!("no reaction to {}", event.in_words()),
        }
    }
}

/// The result of a request.
pub(super) struct Answer {
    pub(super) node: String,
    pub(super) request: Request,
    /// The full name of the node (for a component, the new node); or the reason for the failure.
    pub(super) result: Result<String, String>,
    pub(super) was_cancelled: bool,
}

impl RunOptions {
    fn handle(
        &self,
        node: &str,
        request: &Request,
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<String, String> {
        match request {
            Request::Load(component) => match &self.component_loader {
                Some(loader) => loader.load(node, component, is_cancelled),
                None => Err("components cannot be loaded here".to_owned()),
            },
            Request::Activate => match &self.lifecycle_manager {
                Some(manager) => manager.activate(node, is_cancelled).map(|()| node.to_owned()),
                None => Err("nodes cannot be managed here".to_owned()),
            },
            Request::Change(transition) => match &self.lifecycle_manager {
                Some(manager) => {
                    manager.change(node, *transition, is_cancelled).map(|()| node.to_owned())
                }
                None => Err("nodes cannot be managed here".to_owned()),
            },
            Request::Wait(delayed) => match &self.simulated_clock {
                Some(clock) => clock.wait(delayed.delay, is_cancelled).map(|()| node.to_owned()),
                None => Err("simulated time is not available here".to_owned()),
            },
            Request::Choose(reactions, function, signal) => {
                reactions.choose(*function, signal).map(|()| node.to_owned())
            }
            Request::React(reactions, event) => reactions.react(event).map(|()| node.to_owned()),
        }
    }
}

/// The requests to one node, and the thread that makes them.
struct NodeQueue {
    node: String,
    jobs: Arc<Mutex<VecDeque<Request>>>,
    is_cancelled: Arc<AtomicBool>,
    is_finished: Arc<AtomicBool>,
}

pub(super) struct RequestQueue {
    options: Arc<RunOptions>,
    queues: Vec<NodeQueue>,
    /// The number of requests that have not been answered yet.
    pending: usize,
    answers: Receiver<Answer>,
    sender: SyncSender<Answer>,
    wake: UnixStream,
    waker: Arc<UnixStream>,
}

impl RequestQueue {
    pub(super) fn new(options: Arc<RunOptions>) -> Result<Self, RunError> {
        let failed = |cause| RunError::System { what: "a pipe cannot be made", cause };
        let (wake, waker) = UnixStream::pair().map_err(failed)?;
        wake.set_nonblocking(true).map_err(failed)?;
        waker.set_nonblocking(true).map_err(failed)?;
        let (sender, answers) = sync_channel(MAX_ANSWERS);
        Ok(Self {
            options,
            queues: Vec::new(),
            pending: 0,
            answers,
            sender,
            wake,
            waker: Arc::new(waker),
        })
    }

    /// What wakes the supervisor.
    pub(super) fn waker(&self) -> Arc<UnixStream> {
        Arc::clone(&self.waker)
    }

    /// What manages nodes.
    pub(super) fn lifecycle_manager(&self) -> Option<Arc<dyn LifecycleManager>> {
        self.options.lifecycle_manager.clone()
    }

    /// A descriptor that is readable when there are answers.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }

    /// Whether all requests have been answered.
    pub(super) fn is_idle(&self) -> bool {
        self.pending == 0
    }

    /// Queues requests after the pending requests to the same node.
    ///
    /// # Errors
    /// Returns the requests, with the reason why they cannot be made.
    pub(super) fn ask(
        &mut self,
        node: &str,
        requests: Vec<Request>,
    ) -> Result<(), (Vec<Request>, String)> {
        let count = requests.len();
        let waiting = self.queues.iter().find(|queue| queue.node == node && !queue.is_cancelled());
        if let Some(queue) = waiting {
            let mut jobs = queue.jobs.lock();
            // The thread marks itself as finished while it holds the lock on its jobs. So either it
            // takes these jobs, or another thread is started.
            if !queue.is_finished.load(Ordering::Relaxed) {
                jobs.extend(requests);
                self.pending += count;
                return Ok(());
            }
        }
        self.start_thread(node, requests)?;
        self.pending += count;
        Ok(())
    }

    fn start_thread(
        &mut self,
        node: &str,
        requests: Vec<Request>,
    ) -> Result<(), (Vec<Request>, String)> {
        let queue = NodeQueue {
            node: node.to_owned(),
            jobs: Arc::new(Mutex::new(requests.into())),
            is_cancelled: Arc::new(AtomicBool::new(false)),
            is_finished: Arc::new(AtomicBool::new(false)),
        };
        let (jobs, is_cancelled, is_finished) = (
            Arc::clone(&queue.jobs),
            Arc::clone(&queue.is_cancelled),
            Arc::clone(&queue.is_finished),
        );
        let (sender, waker) = (self.sender.clone(), Arc::clone(&self.waker));
        let (options, node) = (Arc::clone(&self.options), node.to_owned());
        let work = move || {
            let next = || {
                let mut jobs = jobs.lock();
                let job = jobs.pop_front();
                is_finished.store(job.is_none(), Ordering::Relaxed);
                job
            };
            while let Some(request) = next() {
                let cancelled = || is_cancelled.load(Ordering::Relaxed);
                let result = if cancelled() {
                    Err("it was cancelled".to_owned())
                } else {
                    options.handle(&node, &request, &cancelled)
                };
                let was_cancelled = result.is_err() && cancelled();
                let answer = Answer { node: node.clone(), request, result, was_cancelled };
                if sender.send(answer).is_err() {
                    return;
                }
                // The write fails if the pipe is full; then the supervisor wakes up anyway.
                let _ = (&*waker).write(&[1]);
            }
        };
        let thread = std::thread::Builder::new().name("feros-launch".to_owned()).spawn(work);
        if let Err(error) = thread {
            let requests = std::mem::take(&mut *queue.jobs.lock()).into();
            return Err((requests, format!("no thread can be started: {error}")));
        }
        self.queues.retain(|queue| !queue.is_finished.load(Ordering::Relaxed));
        self.queues.push(queue);
        Ok(())
    }

    /// Cancels the requests to a node.
    pub(super) fn cancel(&self, node: &str) {
        for queue in self.queues.iter().filter(|queue| queue.node == node) {
            queue.is_cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// Cancels all requests.
    pub(super) fn cancel_all(&self) {
        for queue in &self.queues {
            queue.is_cancelled.store(true, Ordering::Relaxed);
        }
    }

    /// The answers since the last call.
    pub(super) fn take_answers(&mut self) -> Vec<Answer> {
        let mut bytes = [0; 64];
        // The bytes only wake the supervisor; the answers are in the channel.
        let _ = self.wake.read(&mut bytes);
        let answers: Vec<Answer> = self.answers.try_iter().collect();
        self.pending = self.pending.saturating_sub(answers.len());
        answers
    }
}

impl NodeQueue {
    fn is_cancelled(&self) -> bool {
        self.is_cancelled.load(Ordering::Relaxed)
    }
}

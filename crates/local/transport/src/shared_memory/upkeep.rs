//! The thread that makes, opens and cleans up shared memory.
//!
//! This work takes locks that other processes may hold, and makes system calls that may take a long
//! time. So it is not done during a publish, during a take, or during the turn of an executor. A
//! thread that notices that there is such work asks for it, and one thread of the process does it.
//! That thread is started when there is work, and ends when it has been idle for some time. The
//! work never waits for an executor.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use feros_engine::{Ending, FailureCounter};
use feros_sync::{Condvar, Mutex};

/// How long the idle thread waits for work before it ends.
const PATIENCE: Duration = Duration::from_secs(2);

/// An endpoint whose shared memory needs upkeep.
pub(crate) trait KeepUp: Send + Sync {
    /// Does the work that is due. Returns the time when more work will be due, if this time is
    /// known.
    fn keep_up(&self) -> Option<Instant>;

    /// Does the work that is due although the session is about to end.
    fn keep_up_at_end(&self) {}
}

/// The upkeep of one endpoint, which is the work on the endpoint's shared memory, such as opening
/// and closing connections. All clones refer to the same task.
#[derive(Clone)]
pub(crate) struct Upkeep(Arc<Task>);

struct Task {
    /// The ending of the endpoint's session. No connections are made or closed for a session that
    /// is about to end.
    session: Ending,
    /// Whether the task is in the queue. Each task is in the queue at most once, which limits the
    /// length of the queue.
    is_asked: AtomicBool,
    has_ended: AtomicBool,
    /// The endpoint. It is locked during its upkeep. It is `None` before the upkeep has begun and
    /// after the upkeep has ended.
    endpoint: Mutex<Option<Weak<dyn KeepUp>>>,
}

impl Upkeep {
    /// Makes the upkeep for an endpoint of this session that does not exist yet.
    pub(crate) fn new(session: Ending) -> Self {
        let (is_asked, has_ended) = (AtomicBool::new(false), AtomicBool::new(false));
        Self(Arc::new(Task { session, is_asked, has_ended, endpoint: Mutex::new(None) }))
    }

    /// Begins the upkeep, and asks for a first run.
    pub(crate) fn begin(&self, endpoint: Weak<dyn KeepUp>) {
        *self.0.endpoint.lock() = Some(endpoint);
        self.ask();
    }

    /// Begins the upkeep without asking for a run. The first run happens after the next call of
    /// [`ask`](Self::ask).
    pub(crate) fn begin_when_asked(&self, endpoint: Weak<dyn KeepUp>) {
        *self.0.endpoint.lock() = Some(endpoint);
    }

    /// Makes the thread run the upkeep of the endpoint soon. Never blocks. This may be called on
    /// any thread.
    pub(crate) fn ask(&self) {
        if !self.0.is_asked.swap(true, Ordering::AcqRel) {
            WORKER.put(self.clone(), None);
        }
    }

    /// Makes the thread run the upkeep of the endpoint at this time. The time replaces the time of
    /// an earlier call.
    pub(crate) fn ask_at(&self, at: Instant) {
        WORKER.put(self.clone(), Some(at));
    }

    /// Ends the upkeep. After this returns, the thread does not use the endpoint any more.
    pub(crate) fn end(&self) {
        self.0.has_ended.store(true, Ordering::Relaxed);
        *self.0.endpoint.lock() = None;
    }

    /// Whether the upkeep is ending. If so, stop any work that takes long, because the thread that
    /// ends the upkeep waits for this work.
    pub(crate) fn has_ended(&self) -> bool {
        self.0.has_ended.load(Ordering::Relaxed)
    }

    fn run(&self) -> Option<Instant> {
        // This also reads the flag, so that what the thread that has set it wrote is visible.
        self.0.is_asked.swap(false, Ordering::AcqRel);
        let endpoint = self.0.endpoint.lock();
        let endpoint = endpoint.as_ref()?.upgrade()?;
        if self.0.session.has_begun() {
            endpoint.keep_up_at_end();
            return None;
        }
        endpoint.keep_up()
    }

    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

static WORKER: Worker = Worker { jobs: Mutex::new(Jobs::new()), changed: Condvar::new() };

struct Worker {
    jobs: Mutex<Jobs>,
    changed: Condvar,
}

struct Jobs {
    asked: VecDeque<Upkeep>,
    /// The upkeep that is due later. Each endpoint is in this list at most once.
    later: Vec<(Instant, Upkeep)>,
    has_thread: bool,
}

impl Jobs {
    const fn new() -> Self {
        Self { asked: VecDeque::new(), later: Vec::new(), has_thread: false }
    }

    /// The upkeep to run now.
    fn next(&mut self, now: Instant) -> Option<Upkeep> {
        let due = self.later.iter().position(|(at, _)| *at <= now);
        self.asked.pop_front().or_else(|| due.map(|index| self.later.swap_remove(index).1))
    }
}

impl Worker {
    fn put(&'static self, upkeep: Upkeep, at: Option<Instant>) {
        let mut jobs = self.jobs.lock();
        match at {
            None => jobs.asked.push_back(upkeep),
            Some(at) => {
                jobs.later.retain(|(_, known)| !known.is(&upkeep));
                jobs.later.push((at, upkeep));
            }
        }
        if jobs.has_thread {
            self.changed.notify_one();
            return;
        }
        let thread = std::thread::Builder::new().name("feros-links".into());
        match thread.spawn(|| self.work()) {
            Ok(_) => jobs.has_thread = true,
            Err(error) => {
                static FAILED: FailureCounter = FailureCounter::new();
                if let Some(so_far) = FAILED.so_far() {
                    tracing::error!(
                        target: "feros::shm",
                        "messages keep taking the network transport: the thread that opens shared \
                         memory cannot be started ({error}){so_far}; end other threads, or raise \
                         `ulimit -u`"
                    );
                }
            }
        }
    }

    fn work(&'static self) {
        let mut jobs = self.jobs.lock();
        let mut idle_since = Instant::now();
        loop {
            let now = Instant::now();
            if let Some(upkeep) = jobs.next(now) {
                drop(jobs);
                if let Some(at) = upkeep.run() {
                    self.put(upkeep, Some(at));
                }
                jobs = self.jobs.lock();
                idle_since = Instant::now();
                continue;
            }
            let next = jobs.later.iter().map(|(at, _)| *at).min();
            let until = next.unwrap_or(idle_since + PATIENCE);
            if next.is_none() && until <= now {
                jobs.has_thread = false;
                return;
            }
            let wait = until.saturating_duration_since(now);
            jobs = self.changed.wait_timeout(jobs, wait);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::sync::mpsc::{SyncSender, sync_channel};

    use super::*;

    struct Endpoint {
        runs: SyncSender<()>,
        again_in: Option<Duration>,
    }

    impl KeepUp for Endpoint {
        fn keep_up(&self) -> Option<Instant> {
            self.runs.try_send(()).ok()?;
            self.again_in.map(|wait| Instant::now() + wait)
        }
    }

    /// An endpoint that opens connections until its upkeep ends.
    struct Endless {
        upkeep: Upkeep,
        began: SyncSender<()>,
    }

    impl KeepUp for Endless {
        fn keep_up(&self) -> Option<Instant> {
            self.began.send(()).ok()?;
            while !self.upkeep.has_ended() {
                std::thread::yield_now();
            }
            None
        }
    }

    #[test]
    fn ending_the_upkeep_does_not_wait_for_its_work() {
        let (began, seen) = sync_channel(1);
        let upkeep = Upkeep::new(Ending::default());
        let endpoint = Arc::new(Endless { upkeep: upkeep.clone(), began });
        let weak: Weak<Endless> = Arc::downgrade(&endpoint);
        upkeep.begin(weak);
        seen.recv_timeout(Duration::from_secs(60)).unwrap();
        upkeep.end(); // this must return
        assert!(upkeep.has_ended());
    }

    #[test]
    fn a_request_leads_to_one_run_and_a_due_time_to_another() {
        let (runs, seen) = sync_channel(3);
        let endpoint: Arc<dyn KeepUp> =
            Arc::new(Endpoint { runs, again_in: Some(Duration::from_millis(1)) });
        let upkeep = Upkeep::new(Ending::default());
        upkeep.begin(Arc::downgrade(&endpoint));
        let watchdog = Duration::from_secs(60);
        for _ in 0..3 {
            seen.recv_timeout(watchdog).unwrap();
        }
        upkeep.end();
        while seen.try_recv().is_ok() {}
        upkeep.ask();
        assert!(seen.recv_timeout(Duration::from_millis(50)).is_err(), "it has ended");
        assert_eq!(Arc::strong_count(&endpoint), 1);
    }

    /// An endpoint that reports each upkeep.
    struct Ends(SyncSender<&'static str>);

    impl KeepUp for Ends {
        fn keep_up(&self) -> Option<Instant> {
            self.0.send("keep_up").ok()?;
            None
        }

        fn keep_up_at_end(&self) {
            self.0.send("keep_up_at_end").unwrap();
        }
    }

    #[test]
    fn a_session_that_is_about_to_end_has_only_the_upkeep_for_its_end() {
        let (ran, seen) = sync_channel(1);
        let session = Ending::default();
        let upkeep = Upkeep::new(session.clone());
        let endpoint: Arc<dyn KeepUp> = Arc::new(Ends(ran));
        upkeep.begin(Arc::downgrade(&endpoint));
        let watchdog = Duration::from_secs(60);
        assert_eq!(seen.recv_timeout(watchdog), Ok("keep_up"));
        session.begin();
        upkeep.ask();
        assert_eq!(seen.recv_timeout(watchdog), Ok("keep_up_at_end"));
        upkeep.end();
    }
}

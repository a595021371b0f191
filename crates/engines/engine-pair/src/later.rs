//! Notifies an endpoint when the wait for the first engine has ended. A *twin* is an endpoint on
//! the second engine that is also on the first engine. If only the second engine has found the
//! endpoint, it counts as a match after the first engine has had time to find it. The engines
//! cannot notify the endpoint of this, because they report events and not the passing of time.

use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Instant;

use feros_engine::engine::Gate;
use feros_engine::{FailureCounter, Notify};
use feros_sync::{AtomicBool, Condvar, Mutex, Ordering};

/// Whether matches may have changed since they were last examined, and the notification for such
/// changes.
pub(crate) struct Watch {
    has_changed: AtomicBool,
    changed: Gate,
}

impl Watch {
    pub(crate) fn new(notify: Option<Notify>) -> Arc<Self> {
        Arc::new(Self { has_changed: AtomicBool::new(true), changed: Gate::new(notify) })
    }

    /// Returns the notification that an engine calls.
    pub(crate) fn notifier(self: &Arc<Self>) -> Notify {
        let watch = self.clone();
        Arc::new(move || watch.notify())
    }

    pub(crate) fn notify(&self) {
        self.has_changed.store(true, Ordering::Release);
        self.changed.notify();
    }

    /// Returns whether the matches must be examined again. This is called before each message, and
    /// usually costs only one atomic load.
    pub(crate) fn take_change(&self) -> bool {
        self.has_changed.load(Ordering::Relaxed) && self.has_changed.swap(false, Ordering::AcqRel)
    }

    /// Closes the notification. After this function has returned, the notification does not run any
    /// more.
    pub(crate) fn close(&self) {
        self.changed.close();
    }
}

/// Notifies endpoints at given times. The first endpoint that must wait starts the thread.
#[derive(Default)]
pub(crate) struct Later {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct Shared {
    due: Mutex<Due>,
    changed: Condvar,
}

#[derive(Default)]
struct Due {
    watches: Vec<(Instant, Weak<Watch>)>,
    has_ended: bool,
}

impl Later {
    /// Notifies the endpoint at this time, unless a notification is already planned for an earlier
    /// time.
    pub(crate) fn notify_at(&self, at: Instant, watch: &Arc<Watch>) {
        let mut due = self.shared.due.lock();
        let of_watch = |(_, known): &&mut (Instant, Weak<Watch>)| {
            std::ptr::eq(known.as_ptr(), Arc::as_ptr(watch))
        };
        match due.watches.iter_mut().find(of_watch) {
            Some((known, _)) if *known <= at => return,
            Some((known, _)) => *known = at,
            None => due.watches.push((at, Arc::downgrade(watch))),
        }
        drop(due);
        self.shared.changed.notify_all();
        self.start();
    }

    fn start(&self) {
        let mut thread = self.thread.lock();
        if thread.is_some() {
            return;
        }
        let shared = self.shared.clone();
        let begun =
            std::thread::Builder::new().name("feros-pair".into()).spawn(move || shared.run());
        match begun {
            Ok(begun) => *thread = Some(begun),
            Err(error) => {
                static FAILED: FailureCounter = FailureCounter::new();
                if let Some(so_far) = FAILED.so_far() {
                    tracing::warn!(
                        "endpoints that only the second engine reaches are found late, because no \
                         thread can be started ({error}){so_far}; end other threads, or raise \
                         `ulimit -u`"
                    );
                }
            }
        }
    }
}

impl Shared {
    fn run(&self) {
        let mut due = self.due.lock();
        while !due.has_ended {
            let now = Instant::now();
            let (ripe, rest) = due.watches.drain(..).partition(|(at, _)| *at <= now);
            due.watches = rest;
            let ripe: Vec<(Instant, Weak<Watch>)> = ripe;
            if !ripe.is_empty() {
                drop(due);
                ripe.iter().filter_map(|(_, watch)| watch.upgrade()).for_each(|one| one.notify());
                due = self.due.lock();
                continue;
            }
            due = match due.watches.iter().map(|(at, _)| *at).min() {
                Some(next) => self.changed.wait_timeout(due, next.saturating_duration_since(now)),
                None => self.changed.wait(due),
            };
        }
    }
}

impl Drop for Later {
    fn drop(&mut self) {
        self.shared.due.lock().has_ended = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.lock().take()
            && thread.join().is_err()
        {
            tracing::error!("the thread feros-pair panicked");
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_watch_is_notified_once_and_not_after_it_was_closed() {
        let told = Arc::new(feros_sync::AtomicU64::new(0));
        let watch = |told: &Arc<feros_sync::AtomicU64>| {
            let told = told.clone();
            Watch::new(Some(Arc::new(move || {
                told.fetch_add(1, Ordering::AcqRel);
            })))
        };
        let later = Later::default();
        let [one, closed] = [(); 2].map(|()| watch(&told));
        closed.close();
        let soon = Instant::now() + Duration::from_millis(5);
        later.notify_at(soon + Duration::from_secs(3600), &one);
        later.notify_at(soon, &closed);
        later.notify_at(soon, &one);
        later.notify_at(soon + Duration::from_secs(1), &one);
        feros_test_support::until("the call", || told.load(Ordering::Acquire) == 1);
        drop(later);
        assert_eq!(told.load(Ordering::Acquire), 1);
        assert!(one.take_change() && !one.take_change());
    }
}

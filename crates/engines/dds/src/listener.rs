//! The parts of an endpoint that its listener in the library works on: the counts of events and
//! matches, and the notifications.

use std::fmt::Display;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use feros_engine::{FailureCounter, Notify};
use feros_sync::{Mutex, MutexGuard};

use crate::graph::IncompatibleType;
use crate::status::Status;

/// A callback that receives the samples of a reader, on a thread of the library. The callback must
/// not own an endpoint.
pub type OnSample<T> = Arc<dyn Fn(T) + Send + Sync>;

/// The notifications that an endpoint calls.
pub struct Notifications<T> {
    /// Called when there may be data to take.
    pub on_data: Option<Notify>,
    /// Receives each sample as it arrives; [`Reader::take`](crate::library::Reader::take) then
    /// returns nothing.
    pub on_sample: Option<OnSample<T>>,
    /// Called when there may be an event to take.
    pub on_event: Option<Notify>,
    /// Called when the matches have changed.
    pub on_match: Option<Notify>,
}

impl<T> Default for Notifications<T> {
    fn default() -> Self {
        Self { on_data: None, on_sample: None, on_event: None, on_match: None }
    }
}

impl<T> Clone for Notifications<T> {
    fn clone(&self) -> Self {
        Self {
            on_data: self.on_data.clone(),
            on_sample: self.on_sample.clone(),
            on_event: self.on_event.clone(),
            on_match: self.on_match.clone(),
        }
    }
}

/// The counters of an endpoint's listener, and the notifications that it calls.
pub struct ListenerState<S, T> {
    status: Mutex<S>,
    /// The number of endpoints that match now.
    matched: AtomicUsize,
    /// Incremented with each change of the matches, so that values derived from older matches are
    /// recognized as outdated.
    match_generation: AtomicU64,
    notifications: Notifications<T>,
    /// The endpoint in trace points, for libraries that record the trace points of a reader.
    pub traced: OnceLock<feros_trace::Endpoint>,
}

impl<S: Status, T> ListenerState<S, T> {
    /// Counts nothing yet.
    pub fn new(notifications: Notifications<T>) -> Arc<Self> {
        Arc::new(Self {
            status: Mutex::default(),
            matched: AtomicUsize::new(0),
            match_generation: AtomicU64::new(0),
            notifications,
            traced: OnceLock::new(),
        })
    }

    /// The counts of events. After a change, [`notify_event`](Self::notify_event) has to be called.
    pub fn status(&self) -> MutexGuard<'_, S> {
        self.status.lock()
    }

    /// Changes the counts of events and calls the notification after it has released the lock.
    pub fn change(&self, change: impl FnOnce(&mut S)) {
        change(&mut self.status());
        self.notify_event();
    }

    /// Sets the number of endpoints that match after a change.
    pub fn set_matched(&self, count: usize) {
        self.matched.store(count, Ordering::Release);
        self.match_generation.fetch_add(1, Ordering::Release);
    }

    /// The number of endpoints that match now.
    pub fn matched_count(&self) -> usize {
        self.matched.load(Ordering::Acquire)
    }

    /// A number that changes whenever the matches change.
    pub fn match_generation(&self) -> u64 {
        self.match_generation.load(Ordering::Acquire)
    }

    /// Passes each sample that `take` returns to `on_sample`, if that is set.
    pub fn hand_over<E: Display>(&self, mut take: impl FnMut() -> Result<Option<T>, E>) {
        let Some(on_sample) = &self.notifications.on_sample else { return };
        loop {
            match take() {
                Ok(Some(sample)) => on_sample(sample),
                Ok(None) => return,
                Err(code) => {
                    static UNTAKEN: FailureCounter = FailureCounter::new();
                    if let Some(so_far) = UNTAKEN.so_far() {
                        tracing::error!(
                            "received messages cannot be taken from the engine: {code}{so_far}"
                        );
                    }
                    return;
                }
            }
        }
    }

    /// Tells that there may be data to take.
    pub fn notify_data(&self) {
        wake(self.notifications.on_data.as_ref());
    }

    /// Tells that an event may have come.
    pub fn notify_event(&self) {
        wake(self.notifications.on_event.as_ref());
    }

    /// Tells that the matches have changed.
    pub fn notify_match(&self) {
        wake(self.notifications.on_match.as_ref());
    }
}

impl<S: Status, T> IncompatibleType for ListenerState<S, T> {
    fn incompatible_type(&self) {
        self.change(|status| status.shared().incompatible_type.total += 1);
    }
}

fn wake(notify: Option<&Notify>) {
    if let Some(notify) = notify {
        notify();
    }
}

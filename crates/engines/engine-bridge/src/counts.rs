//! The counts of a bridge, and the warnings that it has logged.

use feros_engine::SaidOnce;
use feros_sync::{AtomicU64, Ordering};

/// The traffic from one side to another, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of messages that were published on the other side.
    pub messages: u64,
    /// The number of calls that got a response.
    pub calls: u64,
    /// The number of messages and requests that were lost before they reached the bridge.
    pub lost: u64,
    /// The number of messages and responses that the other side refused, plus the number of calls
    /// that never got a response.
    pub failed: u64,
}

/// The counters behind [`Counts`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) messages: AtomicU64,
    pub(crate) calls: AtomicU64,
    pub(crate) lost: AtomicU64,
    pub(crate) failed: AtomicU64,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64, count: u64) {
        counter.fetch_add(count, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Counts {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            messages: get(&self.messages),
            calls: get(&self.calls),
            lost: get(&self.lost),
            failed: get(&self.failed),
        }
    }
}

/// Warnings that are logged only once.
#[derive(Debug, Default)]
pub(crate) struct Warnings(SaidOnce);

impl Warnings {
    pub(crate) fn warn_once(&self, text: String) {
        if self.0.is_new(&text) {
            tracing::warn!("{text}");
        }
    }
}

//! The counts of a bridge, and the warnings that it has logged.

use feros_engine::SaidOnce;
use feros_ros1::Lines;
use feros_sync::{AtomicU64, Ordering};

/// The counts of a bridge so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The number of messages from ROS 1 that were published in ROS 2.
    pub to_ros2: u64,
    /// The number of messages from ROS 2 that were published in ROS 1.
    pub to_ros1: u64,
    /// The number of calls that got a response, in both directions.
    pub calls: u64,
    /// The number of messages and calls whose bytes did not fit their type.
    pub malformed: u64,
    /// The number of messages that ROS 2 lost before the bridge received them.
    pub lost_in_ros2: u64,
    /// The number of messages that were dropped from the queues of ROS 1 subscribers, counted for
    /// each subscriber.
    pub dropped_for_ros1: u64,
    /// The number of messages that the other side refused, and of calls that failed.
    pub failed: u64,
}

impl Counts {
    /// The number of messages and calls that did not arrive.
    #[must_use]
    pub fn losses(&self) -> u64 {
        self.malformed + self.lost_in_ros2 + self.dropped_for_ros1 + self.failed
    }
}

/// The counters behind [`Counts`].
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) to_ros2: AtomicU64,
    pub(crate) to_ros1: AtomicU64,
    pub(crate) calls: AtomicU64,
    pub(crate) malformed: AtomicU64,
    pub(crate) lost_in_ros2: AtomicU64,
    pub(crate) dropped_for_ros1: AtomicU64,
    pub(crate) failed: AtomicU64,
    said: SaidOnce,
    lines: Lines,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// Undoes [`add`](Self::add).
    pub(crate) fn take_back(counter: &AtomicU64) {
        counter.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Counts {
        let get = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counts {
            to_ros2: get(&self.to_ros2),
            to_ros1: get(&self.to_ros1),
            calls: get(&self.calls),
            malformed: get(&self.malformed),
            lost_in_ros2: get(&self.lost_in_ros2),
            dropped_for_ros1: get(&self.dropped_for_ros1),
            failed: get(&self.failed),
        }
    }

    /// Counts a failure and warns of it once.
    pub(crate) fn fail(&self, text: String) {
        Self::add(&self.failed);
        self.warn_once(text);
    }

    /// Warns about the master or another node. The number of these warnings is limited.
    pub(crate) fn warn(&self, text: impl std::fmt::Display) {
        self.lines.warn(text);
    }

    /// Warns unless a warning with the same text was logged before.
    pub(crate) fn warn_once(&self, text: String) {
        if self.said.is_new(&text) {
            self.lines.warn(text);
        }
    }
}

//! The arrival times of messages, for the verbs that measure: in the time of this machine or of
//! `/clock`.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use feros::{Clock, MessageInfo, Node};

use crate::notices;

/// The clock that measures; clones share its state.
#[derive(Clone)]
pub(super) struct ArrivalClock {
    simulated: Option<Clock>,
    has_told: Arc<AtomicBool>,
}

impl ArrivalClock {
    pub(super) fn new(node: &Node, is_simulated: bool) -> Self {
        let simulated = is_simulated.then(|| node.clock().clone());
        Self { simulated, has_told: Arc::default() }
    }

    /// Returns the arrival time of a message. Returns `None`, with a single warning, until a time
    /// arrives on `/clock`.
    pub(super) fn arrival(&self, info: &MessageInfo) -> Option<Duration> {
        let Some(clock) = &self.simulated else {
            let arrival = info.received_timestamp.unwrap_or_else(SystemTime::now);
            return arrival.duration_since(SystemTime::UNIX_EPOCH).ok();
        };
        let now = u64::try_from(clock.now().as_nanos()).ok().filter(|nanos| *nanos > 0);
        if now.is_none() && !self.has_told.swap(true, Ordering::Relaxed) {
            notices::warn(
                "no time has come on /clock: messages are counted only after a time has come",
            );
        }
        now.map(Duration::from_nanos)
    }
}

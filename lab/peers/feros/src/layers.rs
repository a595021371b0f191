//! The trace points of each message, if the laboratory asks for layers (`FEROS_LAB_LAYERS=1`).
//! Otherwise nothing is recorded, so that tracing affects no other number.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use feros::trace::{self, Event};
use feros::{Gid, MessageInfo};
use feros_lab_contract::{Arguments, Output, Points, Role};

/// The number of events that each thread reserves for a message. It exceeds the number of events
/// that a message has.
const EVENTS_A_MESSAGE: u64 = 16;

/// The trace points of this run.
#[derive(Default)]
pub(crate) struct Layers {
    is_on: bool,
    own: Mutex<Vec<Gid>>,
    seen: Seen,
}

/// The numbers of received messages, by the stamp in their events.
#[derive(Clone, Default)]
pub(crate) struct Seen(Arc<Mutex<HashMap<i64, u64>>>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seen {
    pub(crate) fn note(&self, arguments: &Arguments, payload: &[u8], info: &MessageInfo) {
        if let (Some((_, number)), Some(stamp)) = (arguments.read_stamp(payload), info.stamp()) {
            lock(&self.0).insert(stamp.0, number);
        }
    }
}

impl Layers {
    /// Sets up tracing. This must run before anything else is created, since threads read the
    /// settings at their first event.
    pub(crate) fn new(arguments: &Arguments) -> Self {
        let is_asked = std::env::var("FEROS_LAB_LAYERS").is_ok_and(|value| value == "1");
        let has_points =
            matches!(arguments.role, Role::Talker | Role::Listener | Role::Pair | Role::Chain);
        if !(is_asked && has_points && arguments.keeps_samples) {
            return Self::default();
        }
        let unknown = (arguments.rate_hz * arguments.seconds) as u64 + arguments.warm_up;
        let events = arguments.messages().unwrap_or(unknown).saturating_mul(EVENTS_A_MESSAGE);
        trace::set_capacity(
            usize::try_from(events).unwrap_or(usize::MAX).max(trace::DEFAULT_CAPACITY),
        );
        trace::enable();
        Self { is_on: true, ..Self::default() }
    }

    /// Registers a publisher of this process; its messages have the numbers of its publications.
    pub(crate) fn publishes(&self, publisher: Gid) {
        lock(&self.own).push(publisher);
    }

    /// The table of message numbers, for a subscription to messages of another process.
    pub(crate) fn seen(&self, arguments: &Arguments) -> Option<Seen> {
        (self.is_on && arguments.role == Role::Listener).then(|| self.seen.clone())
    }

    /// Reports all points.
    pub(crate) fn tell(&self, output: &Output) {
        if !self.is_on {
            return;
        }
        trace::disable();
        let (own, seen) = (lock(&self.own), lock(&self.seen.0));
        let number = |event: &Event| {
            if own.contains(&Gid(event.message.publisher)) {
                // Publications are counted from 1, messages from 0.
                return event.message.number.checked_sub(1);
            }
            seen.get(&event.message.stamp).copied()
        };
        for series in feros_trace_analysis::series(&trace::drain(), number) {
            output.points(&Points {
                name: &series.name,
                by: series.by.as_deref(),
                of: series.of.as_deref(),
                transport: series.transport.as_deref(),
                numbers: &series.numbers,
                at_nanos: &series.at_nanos,
            });
        }
    }
}

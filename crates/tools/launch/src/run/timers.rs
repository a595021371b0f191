//! Delayed steps.

use std::time::Instant;

use crate::plan::{Delayed, Step};

/// The steps that wait for their time.
#[derive(Default)]
pub(super) struct Timers(Vec<Timer>);

struct Timer {
    due: Instant,
    delayed: Delayed,
}

impl Timers {
    /// Adds steps to perform after their delay.
    pub(super) fn add(&mut self, delayed: &Delayed) {
        self.0.push(Timer { due: Instant::now() + delayed.delay, delayed: delayed.clone() });
    }

    /// Removes and returns the steps of the first timer that is due.
    pub(super) fn take_due(&mut self, now: Instant) -> Option<Vec<Step>> {
        let timers = self.0.iter().enumerate().filter(|(_, timer)| timer.due <= now);
        let (index, _) = timers.min_by_key(|(_, timer)| timer.due)?;
        Some(self.0.remove(index).delayed.steps)
    }

    /// Removes and returns these timers.
    pub(super) fn cancel(&mut self, is_it: impl Fn(&Delayed) -> bool) -> Vec<Delayed> {
        let dropped = self.0.extract_if(.., |timer| is_it(&timer.delayed));
        dropped.map(|timer| timer.delayed).collect()
    }

    /// The time at which the next steps are due.
    pub(super) fn due(&self) -> Option<Instant> {
        self.0.iter().map(|timer| timer.due).min()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets all steps.
    pub(super) fn cancel_all(&mut self) {
        self.0.clear();
    }
}

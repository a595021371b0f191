//! Delayed steps.

use std::time::{Duration, Instant};

use crate::plan::Step;

/// The steps that wait for their time.
#[derive(Default)]
pub(super) struct Timers(Vec<Timer>);

struct Timer {
    due: Instant,
    steps: Vec<Step>,
}

impl Timers {
    /// Adds steps to perform after this delay.
    pub(super) fn add(&mut self, delay: Duration, steps: &[Step]) {
        self.0.push(Timer { due: Instant::now() + delay, steps: steps.to_vec() });
    }

    /// Removes and returns the steps that are due, in the order of their times.
    pub(super) fn take_due(&mut self, now: Instant) -> Vec<Step> {
        let (mut due, waiting): (Vec<Timer>, Vec<Timer>) =
            std::mem::take(&mut self.0).into_iter().partition(|timer| timer.due <= now);
        self.0 = waiting;
        due.sort_by_key(|timer| timer.due);
        due.into_iter().flat_map(|timer| timer.steps).collect()
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

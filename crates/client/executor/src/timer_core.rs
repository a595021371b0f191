//! The schedule of a timer. The timer's handles, its body, an executor's deadlines and wait sets
//! share it.

use crate::clock::{Clock, Time, TimeChange, TimeWatcher};
use feros_doorbell::{Ringer, Slot};
use feros_sync::{Arc, Mutex};
use feros_time::saturating_nanos;
use std::sync::{OnceLock, Weak};
use std::time::Duration;

/// The information that a timer's callback gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimerCall {
    /// The time at which the callback was due, on the timer's clock.
    pub expected: Time,
    /// The time at which the callback was called, on the same clock.
    pub actual: Time,
    /// The number of deadlines that passed before this late call and are skipped.
    pub missed: u64,
}

/// The part of a timer that its handles, its body and the executor's deadlines share.
pub(crate) struct TimerCore {
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) repeats: bool,
    /// The lock of the schedule is taken after a queue's lock, never before it.
    pub(crate) schedule: Mutex<Schedule>,
    /// Rings wait sets when the deadline changes and, on a simulated clock, when the deadline has
    /// come.
    ringer: Ringer,
    /// Set once the timer is registered with its clock, which happens when it is first added to a
    /// wait set.
    watches_clock: OnceLock<()>,
}

pub(crate) struct Schedule {
    pub(crate) period: Duration,
    pub(crate) last_call: Time,
    pub(crate) next: Option<Time>,
    pub(crate) canceled: bool,
    pub(crate) missed: u64,
    queue: Option<(Weak<dyn DeadlineQueue>, Slot)>,
}

/// The queue of an executor's deadlines that has an entry for a timer.
pub(crate) trait DeadlineQueue: Send + Sync {
    /// Reads the deadline of the timer in `slot` again.
    fn update(&self, slot: Slot, caller: Caller);
}

/// The thread that changes a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Caller {
    /// The thread that has run the timer's callback: it will check the deadlines before it sleeps.
    Spinning,
    Anybody,
}

impl TimerCore {
    pub(crate) fn new(clock: Arc<dyn Clock>, period: Duration, repeats: bool) -> Self {
        let now = clock.now();
        let schedule = Schedule {
            period,
            last_call: now,
            next: Some(now + period),
            canceled: false,
            missed: 0,
            queue: None,
        };
        let (schedule, ringer) = (Mutex::new(schedule), Ringer::new());
        Self { clock, repeats, schedule, ringer, watches_clock: OnceLock::new() }
    }

    /// The time until the deadline, on the timer's clock.
    pub(crate) fn time_until_next(&self) -> Option<Duration> {
        let next = self.schedule.lock().next?;
        Some(next.saturating_since(self.clock.now()))
    }

    /// The ringer that wait sets listen to.
    pub(crate) fn ringer(self: &Arc<Self>) -> &Ringer {
        self.watches_clock.get_or_init(|| {
            self.clock.watch(Arc::downgrade(self) as Weak<dyn TimeWatcher>);
        });
        &self.ringer
    }

    pub(crate) fn next(&self) -> Option<Time> {
        self.schedule.lock().next
    }

    pub(crate) fn set_queue(&self, queue: Option<(Weak<dyn DeadlineQueue>, Slot)>) {
        self.schedule.lock().queue = queue;
    }

    /// Makes the queue read `next` again. Of several concurrent updates, the last one reads the
    /// newest value.
    pub(crate) fn update_deadline(&self, caller: Caller) {
        let queue = self.schedule.lock().queue.clone();
        if let Some((queue, slot)) = queue
            && let Some(queue) = queue.upgrade()
        {
            queue.update(slot, caller);
        }
        if caller == Caller::Anybody {
            self.ringer.ring();
        }
    }

    /// If the deadline has come, moves on to the next deadline, and returns the information for the
    /// callback.
    pub(crate) fn begin_call(&self) -> Option<TimerCall> {
        let mut schedule = self.schedule.lock();
        let expected = schedule.next?;
        let actual = self.clock.now();
        if actual < expected {
            return None;
        }
        let mut missed = 0;
        schedule.last_call = actual;
        schedule.next = None;
        if self.repeats {
            (schedule.next, missed) = next_deadline(expected, actual, schedule.period);
            schedule.missed += missed;
        }
        Some(TimerCall { expected, actual, missed })
    }

    /// Adapts the deadline after the clock has been set, following the rules of rcl's timers.
    pub(crate) fn adapt_to(&self, change: &TimeChange) {
        let mut schedule = self.schedule.lock();
        let Some(next) = schedule.next else { return };
        let &TimeChange { before, after, source_changed } = change;
        if source_changed {
            // A time of zero stands for an unknown time, so no elapsed part of the period can be
            // carried over.
            if before != Time::ZERO && after != Time::ZERO {
                let shift = |time: Time| {
                    let offset = i128::from(after.as_nanos()) - i128::from(before.as_nanos());
                    let nanos = (i128::from(time.as_nanos()) + offset)
                        .clamp(i64::MIN.into(), i64::MAX.into());
                    Time::from_nanos(nanos as i64)
                };
                schedule.next = Some(shift(next));
                schedule.last_call = shift(schedule.last_call);
            }
        } else if after < schedule.last_call {
            schedule.next = Some(after + schedule.period);
            schedule.last_call = after;
        }
    }
}

/// Notifies wait sets. On an executor, the queue of the timer's clock adapts the deadlines instead.
impl TimeWatcher for TimerCore {
    fn time_changed(&self, change: &TimeChange) {
        if change.moves_deadlines() && self.schedule.lock().queue.is_none() {
            self.adapt_to(change);
        }
        if change.moves_deadlines() || self.next().is_some_and(|next| next <= change.after) {
            self.ringer.ring();
        }
    }
}

/// Returns the first deadline that is a whole number of periods after `expected` and not before
/// `now`, and the number of deadlines skipped.
fn next_deadline(expected: Time, now: Time, period: Duration) -> (Option<Time>, u64) {
    let period_nanos = saturating_nanos(period);
    let next = expected + period;
    let late_nanos = saturating_nanos(now.saturating_since(next));
    if period_nanos == 0 {
        return (Some(now), 0); // with a period of zero, no deadline can be missed
    }
    let skipped = (late_nanos as u64).div_ceil(period_nanos as u64);
    let skipped_nanos = skipped.saturating_mul(period_nanos as u64);
    (Some(next + Duration::from_nanos(skipped_nanos)), skipped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_deadline_stays_on_the_grid() {
        let cases = [
            // The columns: expected, now, period, next, skipped.
            (100, 100, 10, 110, 0),
            (100, 109, 10, 110, 0),
            (100, 110, 10, 110, 0),
            (100, 111, 10, 120, 1),
            (100, 120, 10, 120, 1),
            (100, 1_005, 10, 1_010, 90),
            (100, 500, 0, 500, 0),
            (i64::MAX - 5, i64::MAX - 1, 10, i64::MAX, 0),
        ];
        for (expected, now, period, next, skipped) in cases {
            let found = next_deadline(
                Time::from_nanos(expected),
                Time::from_nanos(now),
                Duration::from_nanos(period),
            );
            assert_eq!(found, (Some(Time::from_nanos(next)), skipped), "{expected} {now} {period}");
        }
    }
}

//! Timers: a callback at a time, once or periodically.
//!
//! A timer's own state says when it is due; the executor's deadlines are only hints for when to
//! look. So whatever happens to both at the same time, a timer never fires early and never twice
//! for one deadline.

use crate::attributes::{Attributes, Kind};
use crate::clock::{Clock, Time, TimeChange, saturating_nanos};
use crate::entity::{Entity, Executable, Progress};
use crate::timer_queue::{Caller, TimerQueue};
use feros_doorbell::Ringer;
use feros_doorbell::Slot;
use feros_sync::{Arc, Mutex};
use std::fmt;
use std::sync::Weak;
use std::time::Duration;

/// What a timer's callback is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimerCall {
    /// When the callback was due, on the timer's clock.
    pub expected: Time,
    /// When it was called.
    pub actual: Time,
    /// Deadlines that passed and are skipped because this call came so late.
    pub missed: u64,
}

/// A handle to a timer; clones are the same timer. The timer lives as long as its [`Entity`], not
/// as its handles.
///
/// A periodic timer does not drift: each deadline is the one before plus the period, however late
/// the callback ran. A call that comes a period late or more is made once; the deadlines it missed
/// are skipped and counted, not made up for in a burst.
///
/// When simulated time jumps back to before the last call, the timer waits for a full period from
/// there. When simulated time is turned on or off it waits for the rest of its period on the new
/// source.
///
/// ```
/// use feros_executor::{Executor, SteadyClock, Timer};
/// use std::{sync::Arc, time::Duration};
///
/// let executor = Executor::new();
/// let stopper = executor.stopper();
/// let (timer, entity) = Timer::periodic(Arc::new(SteadyClock), Duration::from_millis(1), move |call| {
///     assert!(call.actual >= call.expected);
///     stopper.stop();
/// });
/// let _entity = executor.add(entity)?;
/// executor.spin()?;
/// assert!(timer.time_until_next().is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Timer {
    core: Arc<TimerCore>,
}

impl Timer {
    /// A timer that calls `callback` every `period`, first one period from now.
    ///
    /// A period of zero means: whenever it is this entity's turn.
    pub fn periodic(
        clock: Arc<dyn Clock>,
        period: Duration,
        callback: impl FnMut(TimerCall) + Send + 'static,
    ) -> (Self, Entity) {
        Self::make(clock, period, true, callback)
    }

    /// A timer that calls `callback` once, after `delay`. [`reset`](Self::reset) makes it wait once
    /// more.
    pub fn one_shot(
        clock: Arc<dyn Clock>,
        delay: Duration,
        callback: impl FnMut(TimerCall) + Send + 'static,
    ) -> (Self, Entity) {
        Self::make(clock, delay, false, callback)
    }

    fn make(
        clock: Arc<dyn Clock>,
        period: Duration,
        repeats: bool,
        callback: impl FnMut(TimerCall) + Send + 'static,
    ) -> (Self, Entity) {
        let now = clock.now();
        let schedule = Schedule {
            period,
            last_call: now,
            next: Some(now + period),
            canceled: false,
            missed: 0,
            queue: None,
        };
        let ringer = Ringer::new();
        let core = Arc::new(TimerCore { clock, repeats, schedule: Mutex::new(schedule) });
        let body = TimerBody { core: Arc::clone(&core), callback };
        let attributes = Attributes { kind: Kind::Timer, ..Attributes::default() };
        let entity = Entity {
            timer: Some(Arc::clone(&core)),
            ..Entity::new(&ringer, body).with(attributes)
        };
        (Self { core }, entity)
    }

    /// Makes the timer fire no more, until it is reset. A callback that is running now goes on.
    pub fn cancel(&self) {
        let mut schedule = self.core.schedule.lock();
        schedule.canceled = true;
        schedule.next = None;
        drop(schedule);
        self.core.update_deadline(Caller::Anybody);
    }

    /// Starts a full period now; a canceled or finished timer runs again.
    pub fn reset(&self) {
        let mut schedule = self.core.schedule.lock();
        let now = self.core.clock.now();
        schedule.canceled = false;
        schedule.last_call = now;
        schedule.next = Some(now + schedule.period);
        drop(schedule);
        self.core.update_deadline(Caller::Anybody);
    }

    /// Changes the period (or delay) from the next deadline on, and returns the one before. The
    /// deadline that is being waited for stays; call [`reset`](Self::reset) to begin anew.
    pub fn exchange_period(&self, period: Duration) -> Duration {
        std::mem::replace(&mut self.core.schedule.lock().period, period)
    }

    /// The period, or the delay of a one-shot timer.
    pub fn period(&self) -> Duration {
        self.core.schedule.lock().period
    }

    /// Whether the timer was canceled and not reset since. A one-shot timer that has fired is not
    /// canceled.
    pub fn is_canceled(&self) -> bool {
        self.core.schedule.lock().canceled
    }

    /// Whether the deadline has come.
    pub fn is_ready(&self) -> bool {
        self.time_until_next() == Some(Duration::ZERO)
    }

    /// How long until the next call is due, on the timer's clock; zero if it is late. `None` if
    /// none will come: the timer is canceled, or has fired and was to fire once.
    pub fn time_until_next(&self) -> Option<Duration> {
        let next = self.core.schedule.lock().next?;
        Some(next.saturating_since(self.core.clock.now()))
    }

    /// Deadlines skipped since the timer was made, because calls came too late.
    pub fn missed(&self) -> u64 {
        self.core.schedule.lock().missed
    }
}

impl fmt::Debug for Timer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Timer")
            .field("period", &self.period())
            .field("repeats", &self.core.repeats)
            .field("time_until_next", &self.time_until_next())
            .finish_non_exhaustive()
    }
}

/// The part of a timer that its handles, its body and the executor's deadlines share.
pub(crate) struct TimerCore {
    pub(crate) clock: Arc<dyn Clock>,
    repeats: bool,
    /// Taken after a queue's lock, never before it.
    schedule: Mutex<Schedule>,
}

struct Schedule {
    period: Duration,
    last_call: Time,
    next: Option<Time>,
    canceled: bool,
    missed: u64,
    queue: Option<(Weak<TimerQueue>, Slot)>,
}

impl TimerCore {
    pub(crate) fn next(&self) -> Option<Time> {
        self.schedule.lock().next
    }

    pub(crate) fn set_queue(&self, queue: Option<(Weak<TimerQueue>, Slot)>) {
        self.schedule.lock().queue = queue;
    }

    /// Tells the queue to look at `next` anew. Of several updates at once the last to look sees the
    /// newest value.
    fn update_deadline(&self, caller: Caller) {
        let queue = self.schedule.lock().queue.clone();
        if let Some((queue, slot)) = queue
            && let Some(queue) = queue.upgrade()
        {
            queue.update(slot, caller);
        }
    }

    /// If the deadline has come: moves on to the next one and says what to tell the callback.
    fn begin_call(&self) -> Option<TimerCall> {
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

    /// Fits the deadline to a clock that was set; the rules are those that rcl applies to its
    /// timers.
    pub(crate) fn time_changed(&self, change: &TimeChange) {
        let mut schedule = self.schedule.lock();
        let Some(next) = schedule.next else { return };
        let &TimeChange { before, after, source_changed } = change;
        if source_changed {
            // Zero is "not known yet": there is no elapsed part of the period to carry over.
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

/// The deadline after `expected`, on its grid and not before `now`, and how many were skipped to
/// get there.
fn next_deadline(expected: Time, now: Time, period: Duration) -> (Option<Time>, u64) {
    let period_nanos = saturating_nanos(period);
    let next = expected + period;
    let late_nanos = saturating_nanos(now.saturating_since(next));
    if period_nanos == 0 {
        return (Some(now), 0); // there is no grid, hence nothing to miss
    }
    let skipped = (late_nanos as u64).div_ceil(period_nanos as u64);
    let skipped_nanos = skipped.saturating_mul(period_nanos as u64);
    (Some(next + Duration::from_nanos(skipped_nanos)), skipped)
}

struct TimerBody<F> {
    core: Arc<TimerCore>,
    callback: F,
}

impl<F: FnMut(TimerCall) + Send> Executable for TimerBody<F> {
    fn execute(&mut self) -> Progress {
        /// Hands the next deadline to the queue after the callback, also when that panics.
        struct Rearm<'a>(&'a TimerCore);
        impl Drop for Rearm<'_> {
            fn drop(&mut self) {
                self.0.update_deadline(Caller::Spinning);
            }
        }
        let _rearm = Rearm(&self.core);
        if let Some(call) = self.core.begin_call() {
            (self.callback)(call);
        }
        Progress::Done
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_deadline_stays_on_the_grid() {
        let cases = [
            // expected, now, period -> next, skipped
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

//! Timers, which call a callback once or periodically.
//!
//! A timer's own state determines when it is due. The deadlines in the executor's queue are only
//! hints for when to check that state. So whatever happens concurrently, a timer never fires early
//! and never fires twice for one deadline.

use crate::attributes::{Attributes, Kind};
use crate::clock::Clock;
use crate::entity::{Entity, Executable, Progress};
use crate::timer_core::{Caller, TimerCall, TimerCore};
use crate::waitable::Waitable;
use feros_doorbell::Ringer;
use feros_sync::Arc;
use std::fmt;
use std::time::Duration;

/// A handle to a timer; clones refer to the same timer. The timer lives as long as its [`Entity`],
/// independently of its handles.
///
/// A periodic timer does not drift: each deadline is the previous deadline plus the period, no
/// matter how late the callback ran. If a call is late by a period or more, the missed deadlines
/// are skipped and counted, and no burst of calls makes up for them.
///
/// When simulated time jumps back to before the last call, the timer waits for a full period from
/// the new time. When simulated time is turned on or off, the timer waits for the rest of its
/// period in the new time.
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
    /// Makes a timer that calls `callback` every `period`. The first call is one period from now.
    ///
    /// With a period of zero, the callback is called in each turn of the timer's entity.
    pub fn periodic(
        clock: Arc<dyn Clock>,
        period: Duration,
        callback: impl FnMut(TimerCall) + Send + 'static,
    ) -> (Self, Entity) {
        Self::make(clock, period, true, callback)
    }

    /// Makes a timer that calls `callback` once, after `delay`. [`reset`](Self::reset) makes the
    /// timer wait and fire once more.
    pub fn one_shot(
        clock: Arc<dyn Clock>,
        delay: Duration,
        callback: impl FnMut(TimerCall) + Send + 'static,
    ) -> (Self, Entity) {
        Self::make(clock, delay, false, callback)
    }

    /// Makes a timer that is due every `period`, for wait sets: code that finds the timer ready
    /// calls [`take_call`](Self::take_call).
    pub fn without_callback(clock: Arc<dyn Clock>, period: Duration) -> Self {
        Self { core: Arc::new(TimerCore::new(clock, period, true)) }
    }

    /// If the deadline has come, moves on to the next deadline, and returns the information that a
    /// callback would get.
    pub fn take_call(&self) -> Option<TimerCall> {
        let call = self.core.begin_call();
        if call.is_some() {
            self.core.update_deadline(Caller::Anybody);
        }
        call
    }

    fn make(
        clock: Arc<dyn Clock>,
        period: Duration,
        repeats: bool,
        callback: impl FnMut(TimerCall) + Send + 'static,
    ) -> (Self, Entity) {
        let ringer = Ringer::new();
        let core = Arc::new(TimerCore::new(clock, period, repeats));
        let body = TimerBody { core: Arc::clone(&core), callback };
        let attributes = Attributes { kind: Kind::Timer, ..Attributes::default() };
        let entity = Entity {
            timer: Some(Arc::clone(&core)),
            ..Entity::new(&ringer, body).with(attributes)
        };
        (Self { core }, entity)
    }

    /// Stops the timer until it is reset. A callback that is running now continues.
    pub fn cancel(&self) {
        let mut schedule = self.core.schedule.lock();
        schedule.canceled = true;
        schedule.next = None;
        drop(schedule);
        self.core.update_deadline(Caller::Anybody);
    }

    /// Starts a full period now. A timer that was canceled, or that has finished, runs again.
    pub fn reset(&self) {
        let mut schedule = self.core.schedule.lock();
        let now = self.core.clock.now();
        schedule.canceled = false;
        schedule.last_call = now;
        schedule.next = Some(now + schedule.period);
        drop(schedule);
        self.core.update_deadline(Caller::Anybody);
    }

    /// Changes the period (or delay) from the next deadline on, and returns the previous value. The
    /// current deadline stays; call [`reset`](Self::reset) to start a new period immediately.
    pub fn exchange_period(&self, period: Duration) -> Duration {
        std::mem::replace(&mut self.core.schedule.lock().period, period)
    }

    /// The period, or the delay of a one-shot timer.
    pub fn period(&self) -> Duration {
        self.core.schedule.lock().period
    }

    /// Whether the timer was canceled and has not been reset since. A one-shot timer that has fired
    /// is not canceled.
    pub fn is_canceled(&self) -> bool {
        self.core.schedule.lock().canceled
    }

    /// Whether the deadline has come.
    pub fn is_ready(&self) -> bool {
        self.time_until_next() == Some(Duration::ZERO)
    }

    /// The time until the next call is due, on the timer's clock; zero if it is overdue. `None` if
    /// no call will come, because the timer is canceled or is a one-shot timer that has fired.
    pub fn time_until_next(&self) -> Option<Duration> {
        self.core.time_until_next()
    }

    /// The number of deadlines that have been skipped since the timer was made, because calls came
    /// too late.
    pub fn missed(&self) -> u64 {
        self.core.schedule.lock().missed
    }
}

impl Waitable for Timer {
    fn ringer(&self) -> &Ringer {
        self.core.ringer()
    }

    fn is_ready(&self) -> bool {
        Timer::is_ready(self)
    }

    fn time_until_ready(&self) -> Option<Duration> {
        // With a simulated clock, there is no time to wait for: the timer's ringer rings when the
        // deadline has come.
        self.time_until_next().filter(|time| time.is_zero() || !self.core.clock.is_simulated())
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

struct TimerBody<F> {
    core: Arc<TimerCore>,
    callback: F,
}

impl<F: FnMut(TimerCall) + Send> Executable for TimerBody<F> {
    fn execute(&mut self) -> Progress {
        /// Passes the next deadline to the queue after the callback, even after a panic.
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

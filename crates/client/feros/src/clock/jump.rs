//! Jumps of a clock: calls callbacks before and after ROS time changes its source or leaps.

use std::fmt;
use std::sync::{Arc, Weak};
use std::time::Duration;

use feros_executor::{Clock as _, RosClock, Time, TimeChange, TimeWatcher};

/// The changes of a clock that count as jumps. By default, no change does.
///
/// While ROS time follows the system's clock, it never jumps. Each `/clock` message makes simulated
/// time leap by the difference between the new and the previous time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JumpThreshold {
    /// Whether turning simulated time on or off counts as a jump.
    pub on_clock_change: bool,
    /// The smallest leap forward that counts as a jump; `None` if no leap forward does.
    pub min_forward: Option<Duration>,
    /// The smallest leap backward that counts as a jump; `None` if no leap backward does.
    pub min_backward: Option<Duration>,
}

impl JumpThreshold {
    /// A threshold for every change of the source and every leap backward, which are the jumps that
    /// invalidate results computed with earlier times.
    pub fn any_discontinuity() -> Self {
        Self {
            on_clock_change: true,
            min_forward: None,
            min_backward: Some(Duration::from_nanos(1)),
        }
    }

    fn is_exceeded_by(&self, change: &TimeChange) -> bool {
        if change.source_changed {
            return self.on_clock_change;
        }
        let (forward, backward) = (
            change.after.saturating_since(change.before),
            change.before.saturating_since(change.after),
        );
        let exceeds = |leap: Duration, least: Option<Duration>| {
            !leap.is_zero() && least.is_some_and(|least| leap >= least)
        };
        exceeds(forward, self.min_forward) || exceeds(backward, self.min_backward)
    }
}

/// Whether and how a jump changes the clock's source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClockChange {
    /// The source did not change; the time leapt.
    None,
    /// Simulated time was turned on.
    SimulatedTimeOn,
    /// Simulated time was turned off.
    SimulatedTimeOff,
}

/// A jump of a clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeJump {
    /// Whether and how the source changed.
    pub clock_change: ClockChange,
    /// The time before the jump.
    pub before: Time,
    /// The time after the jump, which is from the new source if the source changed.
    pub after: Time,
}

impl TimeJump {
    /// The size of the leap in nanoseconds, which is negative for a leap backward. Zero if the
    /// source changed, as in `rcl/src/rcl/time.c`.
    pub fn delta_nanos(&self) -> i64 {
        match self.clock_change {
            ClockChange::None => self.after.as_nanos().saturating_sub(self.before.as_nanos()),
            ClockChange::SimulatedTimeOn | ClockChange::SimulatedTimeOff => 0,
        }
    }
}

/// Keeps the callbacks for a clock's jumps registered; dropping the guard removes them.
#[must_use = "the callbacks are forgotten when this is dropped"]
pub struct JumpGuard {
    /// `None` if the clock never jumps.
    _watcher: Option<Arc<dyn TimeWatcher>>,
}

impl JumpGuard {
    pub(super) fn of_no_jumps() -> Self {
        Self { _watcher: None }
    }

    pub(super) fn watch(
        clock: &Arc<RosClock>,
        threshold: JumpThreshold,
        before: impl Fn(&TimeJump) + Send + Sync + 'static,
        after: impl Fn(&TimeJump) + Send + Sync + 'static,
    ) -> Self {
        let watcher: Arc<dyn TimeWatcher> =
            Arc::new(JumpWatcher { clock: Arc::downgrade(clock), threshold, before, after });
        clock.watch(Arc::downgrade(&watcher));
        Self { _watcher: Some(watcher) }
    }
}

impl fmt::Debug for JumpGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JumpGuard").finish_non_exhaustive()
    }
}

struct JumpWatcher<B, A> {
    clock: Weak<RosClock>,
    threshold: JumpThreshold,
    before: B,
    after: A,
}

impl<B, A> JumpWatcher<B, A> {
    fn jump(&self, change: &TimeChange, is_over: bool) -> Option<TimeJump> {
        if !self.threshold.is_exceeded_by(change) {
            return None;
        }
        let is_simulated = self.clock.upgrade()?.is_simulated();
        let clock_change = match (change.source_changed, is_simulated == is_over) {
            (false, _) => ClockChange::None,
            (true, true) => ClockChange::SimulatedTimeOn,
            (true, false) => ClockChange::SimulatedTimeOff,
        };
        Some(TimeJump { clock_change, before: change.before, after: change.after })
    }
}

impl<B, A> TimeWatcher for JumpWatcher<B, A>
where
    B: Fn(&TimeJump) + Send + Sync,
    A: Fn(&TimeJump) + Send + Sync,
{
    fn time_will_change(&self, change: &TimeChange) {
        if let Some(jump) = self.jump(change, false) {
            (self.before)(&jump);
        }
    }

    fn time_changed(&self, change: &TimeChange) {
        if let Some(jump) = self.jump(change, true) {
            (self.after)(&jump);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_jump_is_at_least_as_large_as_its_threshold() {
        let nanos = Time::from_nanos;
        let leap = |before, after| TimeChange {
            before: nanos(before),
            after: nanos(after),
            source_changed: false,
        };
        let ten = Some(Duration::from_nanos(10));
        let forward = JumpThreshold { min_forward: ten, ..JumpThreshold::default() };
        let backward = JumpThreshold { min_backward: ten, ..JumpThreshold::default() };
        for (change, is_forward, is_backward) in [
            (leap(0, 9), false, false),
            (leap(0, 10), true, false),
            (leap(9, 0), false, false),
            (leap(10, 0), false, true),
            (leap(i64::MIN, i64::MAX), true, false),
            (TimeChange { source_changed: true, ..leap(0, 100) }, false, false),
        ] {
            assert_eq!(forward.is_exceeded_by(&change), is_forward, "{change:?}");
            assert_eq!(backward.is_exceeded_by(&change), is_backward, "{change:?}");
        }
        let any = JumpThreshold::any_discontinuity();
        assert!(any.is_exceeded_by(&leap(1, 0)) && !any.is_exceeded_by(&leap(0, 1)));
        assert!(any.is_exceeded_by(&TimeChange { source_changed: true, ..leap(0, 0) }));
    }
}

//! Clocks: the steady clock, the system's clock, and ROS time, which follows the system's clock
//! until simulated time is turned on and then stands still until it is told a new time.
//!
//! A clock that has to be told never makes anybody poll: it tells its watchers, one per executor
//! that has timers on it, and each of them looks at its earliest deadline.

use feros_sync::{Arc, AtomicBool, Mutex, Ordering};
use rustix::time::{ClockId, clock_gettime};
use std::fmt;
use std::ops::{Add, Sub};
use std::sync::Weak;
use std::sync::atomic::AtomicI64;
use std::time::Duration;

/// A point in time on some clock, in nanoseconds since that clock's epoch. Arithmetic saturates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time {
    nanos: i64,
}

impl Time {
    /// The clock's epoch. ROS time is zero while simulated time is on and none has been received
    /// yet.
    pub const ZERO: Self = Self { nanos: 0 };

    /// The time `nanos` nanoseconds after the epoch (before it if negative).
    pub const fn from_nanos(nanos: i64) -> Self {
        Self { nanos }
    }

    /// Nanoseconds since the epoch.
    pub const fn as_nanos(self) -> i64 {
        self.nanos
    }

    /// How long after `earlier` this is; zero if it is not after it.
    pub fn saturating_since(self, earlier: Self) -> Duration {
        Duration::from_nanos(u64::try_from(self.nanos.saturating_sub(earlier.nanos)).unwrap_or(0))
    }
}

impl Add<Duration> for Time {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Self { nanos: self.nanos.saturating_add(saturating_nanos(duration)) }
    }
}

impl Sub<Duration> for Time {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Self { nanos: self.nanos.saturating_sub(saturating_nanos(duration)) }
    }
}

pub(crate) fn saturating_nanos(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos()).unwrap_or(i64::MAX)
}

/// A source of time for timers.
///
/// `now` is called once per turn of an executor with timers on the clock, so it has to be cheap; it
/// must not block.
pub trait Clock: Send + Sync {
    /// The time on this clock.
    fn now(&self) -> Time;

    /// Whether the clock stands still until it is told (simulated time is on) rather than running
    /// by itself.
    fn is_simulated(&self) -> bool {
        false
    }

    /// Registers who is to be told of every change that is not the mere passing of time. Clocks
    /// that run by themselves need not keep it.
    fn watch(&self, watcher: Weak<dyn TimeWatcher>) {
        drop(watcher);
    }
}

/// Is told when a clock's time is set.
pub trait TimeWatcher: Send + Sync {
    /// Called on the thread that set the time, with no lock of the clock held.
    fn time_changed(&self, change: &TimeChange);
}

/// What happened to a clock that was told a new time or source of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeChange {
    /// The clock's time just before.
    pub before: Time,
    /// The clock's time just after. Earlier than `before` if time jumped back, as when a recording
    /// starts over.
    pub after: Time,
    /// Simulated time was turned on or off, so that `before` and `after` come from different
    /// sources.
    pub source_changed: bool,
}

impl TimeChange {
    /// Whether timers have to fit their deadlines to it. Time going forward moves none, and is what
    /// happens with every `/clock` message; when time jumps, or becomes known, all of them move.
    pub(crate) fn moves_deadlines(&self) -> bool {
        self.source_changed || self.after < self.before || self.before == Time::ZERO
    }
}

/// Time since some point in the past (on Linux the boot), never set, not running while the host is
/// suspended.
#[derive(Debug, Clone, Copy, Default)]
pub struct SteadyClock;

impl Clock for SteadyClock {
    fn now(&self) -> Time {
        read(ClockId::Monotonic)
    }
}

/// The host's wall time, since 1970. It may be set while timers wait: they then fire late by at
/// most their wait, because a sleep lasts as long as was computed when it began.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Time {
        read(ClockId::Realtime)
    }
}

fn read(id: ClockId) -> Time {
    let time = clock_gettime(id);
    Time::from_nanos(time.tv_sec.saturating_mul(1_000_000_000).saturating_add(time.tv_nsec))
}

/// ROS time: the system's wall time, or, once simulated time is on, what [`RosClock::set_time`] was
/// last told.
#[derive(Default)]
pub struct RosClock {
    simulated: AtomicBool,
    simulated_nanos: AtomicI64,
    /// Copied on (rare) registration, so that a `/clock` message only clones one pointer.
    watchers: Mutex<Arc<[Weak<dyn TimeWatcher>]>>,
}

impl RosClock {
    /// ROS time that follows the system's clock.
    pub fn new() -> Self {
        Self::default()
    }

    /// ROS time that stands at `time` until told otherwise.
    pub fn simulated_at(time: Time) -> Self {
        let clock = Self::new();
        clock.simulated_nanos.store(time.as_nanos(), Ordering::Relaxed);
        clock.simulated.store(true, Ordering::Release);
        clock
    }

    /// Turns simulated time on or off. Timers keep the rest of their wait across the change, unless
    /// either time is zero, that is, not known yet.
    pub fn set_simulated(&self, on: bool) {
        let before = self.now();
        if self.simulated.swap(on, Ordering::AcqRel) != on {
            self.tell(TimeChange { before, after: self.now(), source_changed: true });
        }
    }

    /// Sets the simulated time. It is kept for later, and nobody is told, while simulated time is
    /// off.
    ///
    /// Executors that have a timer whose deadline has come by this are woken; the others sleep on.
    /// To be called by one thread at a time: watchers would hear of two concurrent changes in any
    /// order.
    pub fn set_time(&self, time: Time) {
        let before = Time::from_nanos(self.simulated_nanos.swap(time.as_nanos(), Ordering::AcqRel));
        if self.is_simulated() && before != time {
            self.tell(TimeChange { before, after: time, source_changed: false });
        }
    }

    fn tell(&self, change: TimeChange) {
        let watchers = Arc::clone(&*self.watchers.lock());
        for watcher in watchers.iter().filter_map(Weak::upgrade) {
            watcher.time_changed(&change);
        }
    }
}

impl Clock for RosClock {
    fn now(&self) -> Time {
        if self.is_simulated() {
            Time::from_nanos(self.simulated_nanos.load(Ordering::Acquire))
        } else {
            SystemClock.now()
        }
    }

    fn is_simulated(&self) -> bool {
        self.simulated.load(Ordering::Acquire)
    }

    fn watch(&self, watcher: Weak<dyn TimeWatcher>) {
        let mut watchers = self.watchers.lock();
        let alive = watchers.iter().filter(|known| known.strong_count() > 0).cloned();
        *watchers = alive.chain([watcher]).collect();
    }
}

impl fmt::Debug for RosClock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RosClock")
            .field("now", &self.now())
            .field("simulated", &self.is_simulated())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default)]
    struct Heard(Mutex<Vec<TimeChange>>);

    impl TimeWatcher for Heard {
        fn time_changed(&self, change: &TimeChange) {
            self.0.lock().push(*change);
        }
    }

    #[test]
    fn ros_time_follows_the_system_until_simulated() {
        let clock = RosClock::new();
        let before = SystemClock.now();
        assert!(clock.now() >= before);
        clock.set_time(Time::from_nanos(7));
        assert!(clock.now() >= before, "told, but not simulated");
        clock.set_simulated(true);
        assert_eq!(clock.now(), Time::from_nanos(7));
    }

    #[test]
    fn watchers_hear_of_changes_only() {
        let clock = RosClock::simulated_at(Time::from_nanos(5));
        let heard = Arc::new(Heard::default());
        clock.watch(Arc::downgrade(&heard) as Weak<dyn TimeWatcher>);
        clock.set_time(Time::from_nanos(5));
        clock.set_simulated(true);
        assert_eq!(heard.0.lock().len(), 0);
        clock.set_time(Time::from_nanos(3));
        let expected = TimeChange {
            before: Time::from_nanos(5),
            after: Time::from_nanos(3),
            source_changed: false,
        };
        assert_eq!(*heard.0.lock(), [expected]);
        clock.set_simulated(false);
        assert!(heard.0.lock()[1].source_changed);
    }

    #[test]
    fn time_saturates_at_its_ends() {
        let last = Time::from_nanos(i64::MAX);
        assert_eq!(last + Duration::MAX, last);
        assert_eq!(Time::from_nanos(i64::MIN) - Duration::MAX, Time::from_nanos(i64::MIN));
        assert_eq!(
            last.saturating_since(Time::from_nanos(i64::MIN)),
            Duration::from_nanos(i64::MAX as u64)
        );
        assert_eq!(Time::ZERO.saturating_since(last), Duration::ZERO);
    }
}

//! Clocks: the steady clock, the system's clock, and ROS time, which follows the system's clock
//! until simulated time is turned on. From then on, ROS time moves only when it is set.
//!
//! No thread has to poll a clock that moves only when it is set: the clock notifies its watchers,
//! one per executor with timers on it, and each watcher checks its earliest deadline.

use feros_sync::{Arc, AtomicBool, Mutex, Ordering};
use rustix::time::{ClockId, clock_gettime};
use std::fmt;
use std::sync::Weak;
use std::sync::atomic::AtomicI64;

pub use feros_time::Time;

/// A source of time for timers.
///
/// `now` is called once per turn of an executor with timers on the clock, so it has to be cheap and
/// must not block.
pub trait Clock: Send + Sync {
    /// Returns the time on this clock.
    fn now(&self) -> Time;

    /// Whether simulated time is on: the clock does not run, and moves only when it is set.
    fn is_simulated(&self) -> bool {
        false
    }

    /// Registers a watcher that is notified of every change other than the passing of time. A clock
    /// that always runs need not store the watcher.
    fn watch(&self, watcher: Weak<dyn TimeWatcher>) {
        drop(watcher);
    }
}

/// A watcher that is notified when a clock's time is set.
pub trait TimeWatcher: Send + Sync {
    /// Called before the time changes, on the thread that is about to set it, with no lock of the
    /// clock held. The clock still shows the old time.
    fn time_will_change(&self, change: &TimeChange) {
        let _ = change;
    }

    /// Called after the time has changed, on the thread that set it, with no lock of the clock
    /// held.
    fn time_changed(&self, change: &TimeChange);
}

/// A change of a clock's time or of its source of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeChange {
    /// The clock's time just before.
    pub before: Time,
    /// The clock's time just after. It is earlier than `before` if time jumped back, for example
    /// because a recording starts over.
    pub after: Time,
    /// Whether simulated time was turned on or off, so that `before` and `after` come from
    /// different sources.
    pub source_changed: bool,
}

impl TimeChange {
    /// Whether timers have to adapt their deadlines. Deadlines stay the same when time goes
    /// forward, as it does with most `/clock` messages. All deadlines move when time jumps back or
    /// first becomes known.
    pub(crate) fn moves_deadlines(&self) -> bool {
        self.source_changed || self.after < self.before || self.before == Time::ZERO
    }
}

/// The time since some point in the past (on Linux, the boot). It is never set, and stands still
/// while the host is suspended.
#[derive(Debug, Clone, Copy, Default)]
pub struct SteadyClock;

impl Clock for SteadyClock {
    fn now(&self) -> Time {
        read(ClockId::Monotonic)
    }
}

/// The host's wall time, since 1970. This clock may be set while timers wait. The length of a wait
/// is computed when the sleep begins, so a timer can then fire late, by at most that length.
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

/// ROS time: the system's wall time or, while simulated time is on, the time that
/// [`RosClock::set_time`] last set.
#[derive(Default)]
pub struct RosClock {
    simulated: AtomicBool,
    simulated_nanos: AtomicI64,
    /// The list is copied at each registration, which is rare, so that a `/clock` message clones
    /// only one pointer.
    watchers: Mutex<Arc<[Weak<dyn TimeWatcher>]>>,
}

impl RosClock {
    /// Makes a clock whose ROS time follows the system's clock.
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a clock with simulated time, which stands at `time` until it is set.
    pub fn simulated_at(time: Time) -> Self {
        let clock = Self::new();
        clock.simulated_nanos.store(time.as_nanos(), Ordering::Relaxed);
        clock.simulated.store(true, Ordering::Release);
        clock
    }

    /// Turns simulated time on or off. Timers keep the rest of their wait across the change, unless
    /// the time before or after the change is zero, which stands for an unknown time.
    pub fn set_simulated(&self, on: bool) {
        if self.is_simulated() == on {
            return;
        }
        let before = self.now();
        let after = if on { self.simulated_time() } else { SystemClock.now() };
        self.announce(TimeChange { before, after, source_changed: true });
        if self.simulated.swap(on, Ordering::AcqRel) != on {
            self.notify_watchers(TimeChange { before, after: self.now(), source_changed: true });
        }
    }

    /// Sets the simulated time. While simulated time is off, the value is only stored for later,
    /// and no watcher is notified.
    ///
    /// Executors with a timer whose deadline has come are woken; the other executors stay asleep.
    /// Only one thread at a time may call this function, because watchers could see two concurrent
    /// changes in the wrong order.
    pub fn set_time(&self, time: Time) {
        let before = self.simulated_time();
        if self.is_simulated() && before != time {
            self.announce(TimeChange { before, after: time, source_changed: false });
        }
        let before = Time::from_nanos(self.simulated_nanos.swap(time.as_nanos(), Ordering::AcqRel));
        if self.is_simulated() && before != time {
            self.notify_watchers(TimeChange { before, after: time, source_changed: false });
        }
    }

    fn simulated_time(&self) -> Time {
        Time::from_nanos(self.simulated_nanos.load(Ordering::Acquire))
    }

    fn announce(&self, change: TimeChange) {
        self.for_each_watcher(|watcher| watcher.time_will_change(&change));
    }

    fn notify_watchers(&self, change: TimeChange) {
        self.for_each_watcher(|watcher| watcher.time_changed(&change));
    }

    fn for_each_watcher(&self, call: impl Fn(&dyn TimeWatcher)) {
        let watchers = Arc::clone(&*self.watchers.lock());
        watchers.iter().filter_map(Weak::upgrade).for_each(|watcher| call(&*watcher));
    }
}

impl Clock for RosClock {
    fn now(&self) -> Time {
        if self.is_simulated() { self.simulated_time() } else { SystemClock.now() }
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

    /// A watcher that records the announced changes, each with the clock's time at that moment.
    struct Announced(Arc<RosClock>, Mutex<Vec<(TimeChange, Time)>>);

    impl TimeWatcher for Announced {
        fn time_will_change(&self, change: &TimeChange) {
            self.1.lock().push((*change, self.0.now()));
        }

        fn time_changed(&self, _: &TimeChange) {}
    }

    #[test]
    fn changes_are_announced_while_the_clock_shows_the_time_before() {
        let nanos = Time::from_nanos;
        let clock = Arc::new(RosClock::simulated_at(nanos(5)));
        let announced = Arc::new(Announced(Arc::clone(&clock), Mutex::default()));
        clock.watch(Arc::downgrade(&announced) as Weak<dyn TimeWatcher>);
        clock.set_time(nanos(5));
        clock.set_time(nanos(9));
        let change = TimeChange { before: nanos(5), after: nanos(9), source_changed: false };
        assert_eq!(*announced.1.lock(), [(change, nanos(5))]);
        clock.set_simulated(false);
        let (change, then) = announced.1.lock()[1];
        assert!(change.source_changed && then == nanos(9) && change.after > nanos(9), "{change:?}");
    }

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
}

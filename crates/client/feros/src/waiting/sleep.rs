//! Sleeps until a clock shows a time. This also works with simulated time.

use std::sync::{Arc, Weak};
use std::time::Duration;

use feros_executor::{Clock as ClockSource, Time, TimeChange, TimeWatcher};
use feros_sync::{Condvar, Mutex};

use crate::clock::Clock;
use crate::context::Context;

/// The limit on one uninterrupted sleep. If the system's clock is set while a thread sleeps until a
/// time of that clock, the thread notices the change only when its present sleep ends.
const LONGEST_NAP: Duration = Duration::from_secs(1);

/// Wakes a sleeping thread early, when the clock changes or the context is shut down.
#[derive(Default)]
struct Sleeper {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The number of wake-ups, so that a thread misses no wake-up between its check and its sleep.
    events: u64,
    source_changed: bool,
}

impl Sleeper {
    fn wake(&self, source_changed: bool) {
        let mut state = self.state.lock();
        state.events += 1;
        state.source_changed |= source_changed;
        drop(state);
        self.changed.notify_all();
    }
}

impl TimeWatcher for Sleeper {
    fn time_changed(&self, change: &TimeChange) {
        self.wake(change.source_changed);
    }
}

/// # Sleeping
impl Clock {
    /// Blocks this thread until the clock shows the time `until`. Returns `false` if the context is
    /// shut down, or simulated time is turned on or off, before that.
    ///
    /// With simulated time, this sleeps until `/clock` reaches the time, which may never happen.
    pub fn sleep_until(&self, until: Time, context: &Context) -> bool {
        sleep_until(&self.source(), until, context)
    }

    /// Blocks this thread for a duration on this clock, like [`Clock::sleep_until`].
    pub fn sleep_for(&self, duration: Duration, context: &Context) -> bool {
        self.sleep_until(self.now() + duration, context)
    }
}

fn sleep_until(clock: &Arc<dyn ClockSource>, until: Time, context: &Context) -> bool {
    let sleeper = Arc::new(Sleeper::default());
    let watcher: Arc<dyn TimeWatcher> = sleeper.clone();
    clock.watch(Arc::downgrade(&watcher));
    let weak: Weak<Sleeper> = Arc::downgrade(&sleeper);
    let _guard = context.on_shutdown(move || {
        if let Some(sleeper) = weak.upgrade() {
            sleeper.wake(false);
        }
    });
    loop {
        let seen = {
            let state = sleeper.state.lock();
            if state.source_changed {
                return false;
            }
            state.events
        };
        if !context.is_ok() {
            return false;
        }
        let left = until.saturating_since(clock.now());
        if left.is_zero() {
            return true;
        }
        let state = sleeper.state.lock();
        let nothing_new = |state: &mut State| state.events == seen;
        if clock.is_simulated() {
            drop(sleeper.changed.wait_while(state, nothing_new));
        } else {
            let nap = left.min(LONGEST_NAP);
            drop(sleeper.changed.wait_timeout_while(state, nap, nothing_new));
        }
    }
}

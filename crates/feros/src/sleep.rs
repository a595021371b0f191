//! Sleeping by a clock, simulated time included.

use std::sync::{Arc, Weak};
use std::time::Duration;

use feros_executor::{Clock as ClockSource, Time, TimeChange, TimeWatcher};
use feros_sync::{Condvar, Mutex};

use crate::clock::Clock;
use crate::context::Context;

/// The system's clock may be set while a thread sleeps by it: the thread notices that within this
/// time.
const LONGEST_NAP: Duration = Duration::from_secs(1);

/// The events that wake a thread before its time.
#[derive(Default)]
struct Sleeper {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// The number of events, so that none is missed between a check and a nap.
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
    /// Blocks this thread until the clock shows a time; returns whether it does. It does not if the
    /// context is shut down, or simulated time is turned on or off meanwhile.
    ///
    /// With simulated time it sleeps until `/clock` reaches the time, which may never happen.
    pub fn sleep_until(&self, until: Time, context: &Context) -> bool {
        sleep_until(&self.source(), until, context)
    }

    /// Blocks this thread for a duration of this clock, like [`Clock::sleep_until`].
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

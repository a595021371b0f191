//! Who is told when a clock jumps: caches of what happened at times that are no longer in the past.

use std::sync::{Arc, Weak};

use feros_executor::{Clock as ClockSource, TimeChange, TimeWatcher};

/// A listener to the jumps of a clock; it is called no more when this is dropped.
#[must_use = "a listener is called no more when this is dropped"]
pub struct JumpListener {
    _watcher: Arc<Watcher>,
}

struct Watcher(Box<dyn Fn(&TimeChange) + Send + Sync>);

impl TimeWatcher for Watcher {
    fn time_changed(&self, change: &TimeChange) {
        if change.source_changed || change.after < change.before {
            (self.0)(change);
        }
    }
}

impl JumpListener {
    pub(super) fn watch(
        clock: &dyn ClockSource,
        listener: impl Fn(&TimeChange) + Send + Sync + 'static,
    ) -> Self {
        let watcher = Arc::new(Watcher(Box::new(listener)));
        let known: Weak<dyn TimeWatcher> = Arc::downgrade(&watcher) as Weak<dyn TimeWatcher>;
        clock.watch(known);
        Self { _watcher: watcher }
    }
}

#[cfg(test)]
mod tests {
    use feros_executor::{RosClock, Time};
    use feros_sync::Mutex;

    use super::*;

    #[test]
    fn steps_back_and_changes_of_the_source_are_jumps_and_steps_forward_are_none() {
        let clock = RosClock::simulated_at(Time::from_nanos(5));
        let heard: Arc<Mutex<Vec<TimeChange>>> = Arc::default();
        let inside = heard.clone();
        let listener = JumpListener::watch(&clock, move |change| inside.lock().push(*change));
        clock.set_time(Time::from_nanos(7));
        assert!(heard.lock().is_empty(), "{:?}", heard.lock());
        clock.set_time(Time::from_nanos(3));
        assert_eq!(heard.lock().len(), 1);
        assert_eq!(heard.lock()[0].after, Time::from_nanos(3));
        clock.set_simulated(false);
        assert!(heard.lock()[1].source_changed);
        drop(listener);
        clock.set_simulated(true);
        assert_eq!(heard.lock().len(), 2, "told after the listener was dropped");
    }
}

//! Routes feedback to the closures that take it, by goal.

use std::collections::HashMap;

use feros_message::GoalId;
use feros_sync::Mutex;

/// A closure that takes the feedback of one goal.
pub(super) type Callback<T> = Box<dyn FnMut(T) + Send>;

/// The closures, by goal. The subscription that receives feedback calls `deliver` on one thread at
/// a time.
pub struct FeedbackRouter<T>(Mutex<HashMap<GoalId, Slot<T>>>);

/// A closure, or `None` while the closure runs.
type Slot<T> = Option<Callback<T>>;

impl<T> FeedbackRouter<T> {
    pub(super) fn new() -> Self {
        Self(Mutex::default())
    }

    /// Registers a closure for the feedback of a goal.
    pub(super) fn enter(&self, goal: GoalId, callback: Callback<T>) {
        let former = self.0.lock().insert(goal, Some(callback));
        drop(former); // outside the lock
    }

    /// Removes the closure of a goal. A closure that is running completes its call, and is dropped
    /// then.
    pub(super) fn leave(&self, goal: &GoalId) {
        let former = self.0.lock().remove(goal);
        drop(former); // outside the lock: dropping its captures may run any code
    }

    /// Passes feedback to the closure of its goal, if there is one. No lock is held during the
    /// call, because the closure may drop the goal's handle.
    pub(super) fn deliver(&self, goal: &GoalId, feedback: T) {
        let callback = self.0.lock().get_mut(goal).and_then(Option::take);
        let Some(mut callback) = callback else { return };
        callback(feedback);
        let mut slots = self.0.lock();
        match slots.get_mut(goal) {
            Some(slot @ None) => *slot = Some(callback),
            // The closure was removed during its call.
            _ => {
                drop(slots);
                drop(callback);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn feedback_goes_to_its_goal_until_that_is_given_up_even_by_itself() {
        let (router, count) = (Arc::new(FeedbackRouter::new()), Arc::new(AtomicUsize::new(0)));
        let (inside, counted) = (router.clone(), count.clone());
        router.enter(
            [1; 16],
            Box::new(move |last: bool| {
                counted.fetch_add(1, Ordering::Relaxed);
                if last {
                    inside.leave(&[1; 16]);
                }
            }),
        );
        router.deliver(&[2; 16], false);
        router.deliver(&[1; 16], false);
        router.deliver(&[1; 16], true);
        router.deliver(&[1; 16], false);
        assert_eq!(count.load(Ordering::Relaxed), 2);
        assert_eq!(Arc::strong_count(&count), 1, "the closure is gone");
    }
}

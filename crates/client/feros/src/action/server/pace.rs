//! When an action server publishes the statuses of its goals.
//!
//! Each message has the statuses of all goals that the server knows, as in `rcl_action`. So with a
//! message for each change, many goals cost the square of their number. A server that knows few
//! goals publishes each change at once, as `rclcpp_action` does (`rclcpp_action/src/server.cpp`).
//! A server that knows many goals publishes once for several changes: when enough changes have
//! come, or when a timer fires a little later.

use std::sync::OnceLock;
use std::time::Duration;

use feros_executor::{Entity, Timer, TimerCall};
use feros_sync::Mutex;

use crate::clock::{Clock, ClockType};

/// The number of statuses that each change allows the server to publish at once. A server that
/// knows at most this number of goals publishes each change at once.
pub(super) const STATUSES_PER_CHANGE: usize = 32;

/// The time after which the timer publishes, of a server that knows few goals.
const DELAY: Duration = Duration::from_millis(20);
/// The additional time for each goal that the server knows.
const DELAY_PER_GOAL: Duration = Duration::from_micros(10);
/// The limit on the time after which the timer publishes.
const LONGEST_DELAY: Duration = Duration::from_secs(1);

/// Decides when statuses are published, and ensures that one thread at a time publishes, so that
/// the last message, which late subscriptions get, has the latest statuses.
#[derive(Default)]
pub(super) struct StatusPace {
    turn: Mutex<Turn>,
    timer: OnceLock<Timer>,
}

#[derive(Default)]
struct Turn {
    /// Whether a thread publishes now. That thread also publishes the changes that other threads
    /// make in the meantime.
    is_taken: bool,
    /// Whether there are changes that no message has.
    is_outdated: bool,
    /// Whether these changes wait no longer.
    is_due: bool,
    /// Whether the timer is going to fire.
    is_timer_set: bool,
    /// The number of statuses that may be published at once.
    allowed: usize,
}

impl StatusPace {
    /// Makes the timer, as an entity for the executor. It calls `complete`, which calls
    /// [`complete`](Self::complete).
    pub(super) fn timer(&self, mut complete: impl FnMut() + Send + 'static) -> Entity {
        let clock = Clock::new(ClockType::Steady).source();
        let (timer, entity) = Timer::one_shot(clock, DELAY, move |_: TimerCall| complete());
        timer.cancel(); // it is started when a change has to wait
        self.timer.get_or_init(|| timer);
        entity
    }

    /// Notes a change, and calls `publish` if it is time to publish. `known` returns the number of
    /// goals that the server knows.
    pub(super) fn changed(&self, known: impl Fn() -> usize, publish: impl FnMut()) {
        {
            let mut turn = self.turn.lock();
            turn.is_outdated = true;
            turn.allowed = turn.allowed.saturating_add(STATUSES_PER_CHANGE);
        }
        self.publish_in_turn(known, publish);
    }

    /// Calls `publish` if there are changes that no message has.
    pub(super) fn complete(&self, known: impl Fn() -> usize, publish: impl FnMut()) {
        {
            let mut turn = self.turn.lock();
            turn.is_due = turn.is_outdated;
            turn.is_timer_set = false;
        }
        self.publish_in_turn(known, publish);
    }

    fn publish_in_turn(&self, known: impl Fn() -> usize, mut publish: impl FnMut()) {
        /// Allows other threads to publish again if a subscription that the publisher calls panics.
        struct Taken<'a>(&'a Mutex<Turn>);
        impl Drop for Taken<'_> {
            fn drop(&mut self) {
                self.0.lock().is_taken = false;
            }
        }
        let is_taken = std::mem::replace(&mut self.turn.lock().is_taken, true);
        if is_taken {
            return;
        }
        let taken = Taken(&self.turn);
        while self.begins_message(known()) {
            publish();
        }
        std::mem::forget(taken); // the turn has ended; another thread may now publish
    }

    /// Returns whether a message with the statuses of `known` goals is to be published now.
    /// Otherwise the turn ends, and changes that no message has wait for the timer.
    fn begins_message(&self, known: usize) -> bool {
        let mut turn = self.turn.lock();
        if turn.is_outdated && (turn.is_due || known <= turn.allowed) {
            (turn.is_outdated, turn.is_due) = (false, false);
            turn.allowed = turn.allowed.saturating_sub(known).min(STATUSES_PER_CHANGE);
            return true;
        }
        turn.is_taken = false;
        let sets_timer = turn.is_outdated && !std::mem::replace(&mut turn.is_timer_set, true);
        drop(turn);
        if sets_timer && let Some(timer) = self.timer.get() {
            timer.exchange_period(delay(known));
            timer.reset();
        }
        false
    }
}

fn delay(known: usize) -> Duration {
    let of_goals = DELAY_PER_GOAL.saturating_mul(u32::try_from(known).unwrap_or(u32::MAX));
    (DELAY + of_goals).min(LONGEST_DELAY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn a_server_of_few_goals_publishes_each_change() {
        let (pace, published) = (StatusPace::default(), Cell::new(0));
        for _ in 0..1_000 {
            pace.changed(|| STATUSES_PER_CHANGE, || published.set(published.get() + 1));
        }
        assert_eq!(published.get(), 1_000);
        pace.complete(|| STATUSES_PER_CHANGE, || unreachable!("nothing has changed"));
    }

    #[test]
    fn many_goals_do_not_cost_the_square_of_their_number() {
        let (pace, known) = (StatusPace::default(), Cell::new(0));
        let (changes, shown, cost) = (Cell::new(0_usize), Cell::new(0), Cell::new(0));
        let publish = || {
            shown.set(changes.get());
            cost.set(cost.get() + known.get());
        };
        for goal in 1..=1_000 {
            known.set(goal);
            for _ in 0..2 {
                changes.set(changes.get() + 1);
                pace.changed(|| known.get(), publish);
                assert!(cost.get() <= STATUSES_PER_CHANGE * changes.get());
                // Few goals are shown at once, and many are not forgotten for long.
                assert!(changes.get() - shown.get() <= goal / STATUSES_PER_CHANGE);
            }
        }
        let before = cost.get();
        pace.complete(|| known.get(), publish);
        assert_eq!((shown.get(), cost.get()), (2_000, before + 1_000), "the timer shows the rest");
        pace.complete(|| known.get(), publish);
        assert_eq!(cost.get(), before + 1_000);
        // The allowance that is left over does not add up.
        known.set(1);
        for _ in 0..1_000 {
            pace.changed(|| known.get(), publish);
        }
        known.set(10 * STATUSES_PER_CHANGE);
        let before = cost.get();
        (0..5).for_each(|_| pace.changed(|| known.get(), publish));
        assert_eq!(cost.get(), before);
    }

    #[test]
    fn a_change_during_a_message_is_in_the_next_message() {
        let (pace, published) = (StatusPace::default(), RefCell::new(Vec::new()));
        let status = Cell::new(1);
        pace.changed(
            || 1,
            || {
                published.borrow_mut().push(status.get());
                if status.replace(2) == 1 {
                    pace.changed(|| 1, || unreachable!("another thread publishes now"));
                }
            },
        );
        assert_eq!(*published.borrow(), [1, 2]);
    }

    #[test]
    fn the_turn_ends_with_a_panic() {
        let (pace, published) = (StatusPace::default(), Cell::new(0));
        let panics = AssertUnwindSafe(|| pace.changed(|| 1, || panic!("as wanted by the test")));
        assert!(catch_unwind(panics).is_err());
        pace.changed(|| 1, || published.set(published.get() + 1));
        assert_eq!(published.get(), 1);
    }

    #[test]
    fn the_timer_waits_longer_for_many_goals_but_not_for_ever() {
        assert_eq!(delay(0), DELAY);
        assert_eq!(delay(10_000), DELAY + Duration::from_millis(100));
        assert_eq!(delay(usize::MAX), LONGEST_DELAY);
    }
}

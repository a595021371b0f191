//! Loops that run with a fixed period of a clock.

use std::time::Duration;

use feros_executor::Time;

use crate::clock::{Clock, ClockType};
use crate::context::Context;
use crate::node::Node;

/// Runs your own loop at a fixed rate, like `rclcpp::Rate`. For periodic callbacks, use timers.
///
/// ```no_run
/// # let node: feros::Node = unimplemented!();
/// use feros::Rate;
/// use std::time::Duration;
/// let mut rate = Rate::new(&node, Duration::from_millis(10));
/// while node.context().is_ok() {
///     // ... one round of work ...
///     rate.sleep();
/// }
/// ```
pub struct Rate {
    clock: Clock,
    context: Context,
    period: Duration,
    last: Time,
}

impl Rate {
    /// Starts a rate with one round per `period` of the node's ROS time. The first round begins
    /// now.
    pub fn new(node: &Node, period: Duration) -> Self {
        Self::on(node.clock(), node.context(), period)
    }

    /// Starts a rate with one round per `period` of the steady clock. The first round begins now.
    pub fn wall(context: &Context, period: Duration) -> Self {
        Self::on(&Clock::new(ClockType::Steady), context, period)
    }

    /// Starts a rate with one round per `period` of a clock. The first round begins now.
    pub fn on(clock: &Clock, context: &Context, period: Duration) -> Self {
        Self { clock: clock.clone(), context: context.clone(), period, last: clock.now() }
    }

    /// Sleeps until the end of the round. Returns `false` if the round was already over, the
    /// context was shut down, or the clock's source changed.
    ///
    /// A round that takes too long shortens the next round. After a round that took longer than two
    /// periods, a new round of full length begins immediately.
    pub fn sleep(&mut self) -> bool {
        let (last, until) = next_round(self.last, self.clock.now(), self.period);
        self.last = last;
        until.is_some_and(|until| self.clock.sleep_until(until, &self.context))
    }

    /// Begins a new round now.
    pub fn reset(&mut self) {
        self.last = self.clock.now();
    }

    /// The length of a round.
    pub fn period(&self) -> Duration {
        self.period
    }
}

/// Returns the start of the next round, and the time until which to sleep; `None` if no sleep is
/// needed.
fn next_round(last: Time, now: Time, period: Duration) -> (Time, Option<Time>) {
    // If time has jumped back, a round begins now.
    let next = last.min(now) + period;
    if now < next {
        (next, Some(next))
    } else if now > next + period {
        (now, None)
    } else {
        (next, None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_keep_their_beat_until_one_takes_too_long() {
        let at = Time::from_nanos;
        let mut last = at(100);
        for (now, expected) in [
            (105, Some(110)), // on time
            (119, Some(120)), // barely on time
            (133, None),      // late: the round ended at 130
            (135, Some(140)), // and the next round is shorter
            (171, None),      // so late that a new round begins now
            (172, Some(181)),
            (50, Some(60)), // time has jumped back
            (60, Some(70)),
        ] {
            let (next, until) = next_round(last, at(now), Duration::from_nanos(10));
            assert_eq!(until, expected.map(at), "at {now}");
            last = next;
        }
    }
}

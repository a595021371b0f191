//! Action servers that execute their goals step by step with a timer, so that ten servers need no
//! separate threads.
//!
//! Each server computes Fibonacci numbers, one per step, for goals of
//! `example_interfaces/action/Fibonacci`.

use feros_sync::Mutex;
use std::sync::Arc;

use example_composition::{Parts, log_failure};
use feros::msgs::example_interfaces::action::{
    Fibonacci, Fibonacci_Feedback, Fibonacci_Goal, Fibonacci_Result,
};
use feros::{CancelResponse, Error, GoalId, GoalResponse, ServerGoalHandle};

/// The steps per second of a running goal.
const STEP_HZ: f64 = 10.0;
/// The limit on goals that a server executes at the same time; it rejects further goals.
const MOST_GOALS: usize = 16;
/// The highest order; the Fibonacci numbers after it do not fit into 32 bits.
const GREATEST_ORDER: i32 = 45;

/// A goal that is being executed.
struct Work {
    goal: ServerGoalHandle<Fibonacci>,
    sequence: Vec<i32>,
}

impl Work {
    /// Executes one step; returns whether more steps follow.
    fn step(&mut self) -> bool {
        let sequence = self.sequence.clone();
        if self.goal.is_canceling() {
            log_failure(self.goal.canceled(Fibonacci_Result { sequence }));
            return false;
        }
        if is_reached(&self.sequence, self.goal.goal()) {
            log_failure(self.goal.succeed(Fibonacci_Result { sequence }));
            return false;
        }
        self.sequence.push(next(&self.sequence));
        let sequence = self.sequence.clone();
        log_failure(self.goal.publish_feedback(Fibonacci_Feedback { sequence }));
        true
    }
}

fn is_reachable(goal: &Fibonacci_Goal) -> bool {
    (0..=GREATEST_ORDER).contains(&goal.order)
}

fn is_reached(sequence: &[i32], goal: &Fibonacci_Goal) -> bool {
    usize::try_from(goal.order).is_ok_and(|order| sequence.len() > order)
}

/// The next Fibonacci number; valid only up to [`GREATEST_ORDER`].
fn next(sequence: &[i32]) -> i32 {
    match *sequence {
        [.., a, b] => a + b,
        _ => i32::from(!sequence.is_empty()),
    }
}

/// Adds an action server to a node.
///
/// # Errors
/// If one of the server's endpoints cannot be made.
pub fn serve(parts: &mut Parts, action: &str) -> Result<(), Error> {
    let works: Arc<Mutex<Vec<Work>>> = Arc::default();
    let (known, accepted) = (works.clone(), works.clone());
    let decide = move |_: &GoalId, goal: &Fibonacci_Goal| {
        let is_wanted = is_reachable(goal) && known.lock().len() < MOST_GOALS;
        if is_wanted { GoalResponse::AcceptAndExecute } else { GoalResponse::Reject }
    };
    let cancel = |_: &ServerGoalHandle<Fibonacci>| CancelResponse::Accept;
    let begin = move |goal: ServerGoalHandle<Fibonacci>| {
        accepted.lock().push(Work { goal, sequence: Vec::new() });
    };
    let callbacks = (decide, cancel, begin);
    let server = parts.node().create_action_server::<Fibonacci, _>(action, callbacks)?;
    parts.keep(server);
    parts.at_rate(STEP_HZ, move || {
        // Feedback and results are sent without holding the lock.
        let mut stepped = std::mem::take(&mut *works.lock());
        stepped.retain_mut(Work::step);
        works.lock().append(&mut stepped);
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_goal_is_reached_and_its_numbers_fit() {
        let goal = Fibonacci_Goal { order: GREATEST_ORDER };
        let mut sequence = Vec::new();
        while !is_reached(&sequence, &goal) {
            sequence.push(next(&sequence));
        }
        assert_eq!(sequence[..8], [0, 1, 1, 2, 3, 5, 8, 13]);
        assert_eq!((sequence.len(), sequence[45]), (46, 1_134_903_170));
    }

    #[test]
    fn goals_that_cannot_be_reached_are_known() {
        for order in [-1, i32::MIN, GREATEST_ORDER + 1, i32::MAX] {
            assert!(!is_reachable(&Fibonacci_Goal { order }), "{order}");
        }
        assert!(is_reachable(&Fibonacci_Goal { order: 0 }));
    }
}

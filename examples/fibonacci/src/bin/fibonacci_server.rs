//! A server of the action `fibonacci`: it executes one goal after another, publishes the progress
//! of the goal, and ends a goal when its client cancels it.
//!
//! ```sh
//! cargo run --bin fibonacci_server
//! feros action send_goal /fibonacci example_interfaces/action/Fibonacci '{order: 8}' -f
//! ```

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::time::Duration;

use feros::msgs::example_interfaces::action::{
    Fibonacci, Fibonacci_Feedback, Fibonacci_Goal, Fibonacci_Result,
};
use feros::{
    ActionCallbacks, CancelResponse, Context, Error, GoalId, GoalResponse, Parameter,
    ServerGoalHandle, warn,
};

/// The limit on waiting goals; further goals are canceled immediately.
const WAITING: usize = 8;
/// The highest order: the next Fibonacci number does not fit into an `i32`.
const LARGEST_ORDER: i32 = 46;

/// Hands accepted goals to the thread that executes them.
struct Queue(SyncSender<ServerGoalHandle<Fibonacci>>);

impl ActionCallbacks<Fibonacci> for Queue {
    fn handle_goal(&mut self, _: &GoalId, goal: &Fibonacci_Goal) -> GoalResponse {
        let is_possible = (0..=LARGEST_ORDER).contains(&goal.order);
        if is_possible { GoalResponse::AcceptAndDefer } else { GoalResponse::Reject }
    }

    fn handle_cancel(&mut self, _: &ServerGoalHandle<Fibonacci>) -> CancelResponse {
        CancelResponse::Accept
    }

    fn handle_accepted(&mut self, goal: ServerGoalHandle<Fibonacci>) {
        // If the queue is full, `try_send` returns the goal, and dropping the goal cancels it.
        drop(self.0.try_send(goal));
    }
}

fn main() -> Result<(), Error> {
    let context = Context::from_env()?;
    let node = context.create_node("fibonacci_server")?;
    let step = node.declare_parameter("step", 0.5)?; // seconds
    let (sender, goals) = sync_channel(WAITING);
    let server = node.create_action_server::<Fibonacci, _>("fibonacci", Queue(sender))?;
    let logger = node.clone();
    let work = std::thread::Builder::new()
        .name("fibonacci".into())
        .spawn(move || work(&goals, &step, |text| warn!(logger, "{text}")))
        .map_err(Error::other)?;
    feros::spin(&node)?;
    drop(server); // aborts the remaining goals, and ends the queue
    drop(work.join());
    Ok(())
}

fn work(
    goals: &Receiver<ServerGoalHandle<Fibonacci>>,
    step: &Parameter<f64>,
    warn: impl Fn(String),
) {
    for goal in goals {
        if let Err(error) = reach(&goal, step) {
            warn(error.to_string());
        }
    }
}

fn reach(goal: &ServerGoalHandle<Fibonacci>, step: &Parameter<f64>) -> Result<(), Error> {
    let order = usize::try_from(goal.goal().order).unwrap_or_default();
    let mut sequence = vec![0, 1];
    // This fails if the goal was canceled while it was waiting.
    let mut may_go_on = goal.execute().is_ok();
    while may_go_on && sequence.len() <= order {
        std::thread::sleep(Duration::from_secs_f64(step.get().clamp(0.0, 60.0)));
        sequence.push(sequence[sequence.len() - 2] + sequence[sequence.len() - 1]);
        goal.publish_feedback(Fibonacci_Feedback { sequence: sequence.clone() })?;
        may_go_on = goal.is_executing();
    }
    let result = Fibonacci_Result { sequence };
    if may_go_on {
        goal.succeed(result)?
    } else {
        goal.canceled(result)?
    }
    Ok(())
}

//! Actions: goals that take some time, with feedback during the work, a result at the end, and a
//! way to cancel.
//!
//! On the network an action is three services and two topics (`names`), as in `rcl_action`. The
//! states of a goal and the transitions between them are in `state`; `server` keeps goals, and
//! `client` asks for them.
//!
//! A server decides in three callbacks, which together are [`ActionCallbacks`]; a closure that
//! takes accepted goals is enough:
//!
//! ```no_run
//! # let node: feros::Node = unimplemented!();
//! use feros::ServerGoalHandle;
//! use feros::msgs::example_interfaces::action::{Fibonacci, Fibonacci_Result};
//!
//! let server = node.create_action_server::<Fibonacci, _>(
//!     "fibonacci",
//!     |goal: ServerGoalHandle<Fibonacci>| {
//!         // Long work has a thread of its own: meanwhile the executor serves other goals.
//!         std::thread::spawn(move || goal.succeed(Fibonacci_Result { sequence: vec![0, 1] }));
//!     },
//! )?;
//! # Ok::<(), feros::Error>(())
//! ```
//!
//! A client awaits, or blocks with `wait`:
//!
//! ```no_run
//! # let node: feros::Node = unimplemented!();
//! use feros::msgs::example_interfaces::action::{Fibonacci, Fibonacci_Feedback, Fibonacci_Goal};
//! use std::time::Duration;
//!
//! let client = node.create_action_client::<Fibonacci>("fibonacci")?;
//! client.wait_for_server(Duration::from_secs(5))?;
//! let goal = client
//!     .send_goal_with_feedback(Fibonacci_Goal { order: 5 }, |feedback: Fibonacci_Feedback| {
//!         println!("{:?}", feedback.sequence)
//!     })?
//!     .wait(Duration::from_secs(1))?;
//! let outcome = goal.get_result()?.wait(Duration::from_secs(60))?;
//! println!("{}: {:?}", outcome.status, outcome.result.sequence);
//! # Ok::<(), feros::Error>(())
//! ```
//!
//! # No client waits in vain
//!
//! A goal handle of a server that is dropped before the goal has ended cancels the goal, and aborts
//! it when a panic drops it; a server that is dropped aborts its goals. In each case the clients
//! get a result. A client whose server left or was killed gets [`CallError::ServerLeft`].
//!
//! [`CallError::ServerLeft`]: crate::CallError::ServerLeft

mod client;
mod creation;
mod events;
mod names;
mod serialized;
mod server;
mod state;

pub use client::{
    ActionClient, ActionClientOptions, ActionForm, CancelError, CancelFuture, ClientGoalHandle,
    GenericActionClient, GoalResult, GoalResultError, ResultFuture, SendGoalError, SendGoalFuture,
};
pub use names::ActionIdentity;
pub use serialized::Serialized;
pub use server::{
    ActionCallbacks, ActionServer, ActionServerForm, ActionServerOptions, CancelResponse,
    FeedbackError, GenericActionServer, GoalResponse, ServerGoalHandle, SetResultError,
};
pub use state::{GoalEvent, GoalStatus, GoalTransitionError};

pub use feros_message::GoalId;

use feros_executor::Time;
use feros_msgs::builtin_interfaces::msg::Time as TimeMessage;

/// The id of a goal in the form that people read.
pub(crate) fn hex(id: &GoalId) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A time in the form of messages. Seconds out of the range of the message saturate.
fn to_message(time: Time) -> TimeMessage {
    let nanos = time.as_nanos();
    let sec = i32::try_from(nanos.div_euclid(1_000_000_000));
    let sec = sec.unwrap_or(if nanos < 0 { i32::MIN } else { i32::MAX });
    let nanosec = u32::try_from(nanos.rem_euclid(1_000_000_000)).unwrap_or_default();
    TimeMessage { sec, nanosec }
}

/// The time in a message.
fn from_message(time: &TimeMessage) -> Time {
    Time::from_nanos(i64::from(time.sec) * 1_000_000_000 + i64::from(time.nanosec))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_come_back_from_messages() {
        for nanos in [0, 1, -1, 1_500_000_000, -1_500_000_000, i64::from(i32::MAX) * 1_000_000_000]
        {
            let time = Time::from_nanos(nanos);
            assert_eq!(from_message(&to_message(time)), time);
        }
        assert_eq!(to_message(Time::from_nanos(i64::MAX)).sec, i32::MAX);
        assert_eq!(to_message(Time::from_nanos(i64::MIN)).sec, i32::MIN);
        let hostile = TimeMessage { sec: i32::MIN, nanosec: u32::MAX };
        assert!(from_message(&hostile) < Time::ZERO);
    }

    #[test]
    fn ids_are_shown_as_ros2_shows_them() {
        let mut id = [0; 16];
        (id[0], id[15]) = (0xab, 0x01);
        assert_eq!(hex(&id), "ab000000000000000000000000000001");
    }
}

//! Actions: goals that take some time. The client of a goal gets feedback during the work and a
//! result at the end, and may cancel the goal.
//!
//! On the network an action consists of three services and two topics (`names`), as in
//! `rcl_action`. The module `state` has the states of a goal and the transitions between them;
//! `server` accepts goals and keeps track of them, and `client` sends goals.
//!
//! A server calls three callbacks, which form the trait [`ActionCallbacks`]. A closure that takes
//! accepted goals is enough:
//!
//! ```no_run
//! # let node: feros::Node = unimplemented!();
//! use feros::ServerGoalHandle;
//! use feros::msgs::example_interfaces::action::{Fibonacci, Fibonacci_Result};
//!
//! let server = node.create_action_server::<Fibonacci, _>(
//!     "fibonacci",
//!     |goal: ServerGoalHandle<Fibonacci>| {
//!         // Long work runs on its own thread, so that the executor can serve other goals.
//!         std::thread::spawn(move || goal.succeed(Fibonacci_Result { sequence: vec![0, 1] }));
//!     },
//! )?;
//! # Ok::<(), feros::Error>(())
//! ```
//!
//! A client awaits the futures, or blocks with `wait`:
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
//! # Every goal ends
//!
//! If the server's last handle of a goal is dropped before the goal has ended, the goal is
//! canceled, or aborted if a panic dropped the handle. A server that is dropped aborts its goals.
//! In each case the clients get a result. A client whose server left or was killed gets
//! [`CallError::ServerLeft`].
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
#[doc(hidden)] // for the bindings
pub use server::GoalStatuses;
pub use server::{
    ActionCallbacks, ActionServer, ActionServerForm, ActionServerOptions, CancelResponse,
    FeedbackError, GenericActionServer, GoalResponse, ServerGoalHandle, SetResultError,
};
pub use state::{GoalEvent, GoalStatus, GoalTransitionError};

pub use feros_message::GoalId;

use feros_executor::Time;
use feros_msgs::builtin_interfaces::msg::Time as TimeMessage;

/// Formats the id of a goal for people.
pub(crate) fn hex(id: &GoalId) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Converts a time for a message. Seconds outside the range of the message saturate.
fn to_message(time: Time) -> TimeMessage {
    let nanos = time.as_nanos();
    let sec = i32::try_from(nanos.div_euclid(1_000_000_000));
    let sec = sec.unwrap_or(if nanos < 0 { i32::MIN } else { i32::MAX });
    let nanosec = u32::try_from(nanos.rem_euclid(1_000_000_000)).unwrap_or_default();
    TimeMessage { sec, nanosec }
}

/// Converts the time in a message.
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

//! The client's handle of an accepted goal.

use std::fmt;
use std::sync::Arc;

use feros_executor::Time;
use feros_message::cdr::Reader;
use feros_message::{Decode as _, DecodeError, GoalId};
use feros_msgs::builtin_interfaces::msg::Time as TimeMessage;

use super::ActionForm;
use super::error::{CancelError, GoalResultError};
use super::futures::{CancelFuture, ResultFuture};
use super::goals::SentGoal;
use crate::action::state::GoalStatus;
use crate::action::{from_message, hex};

/// A goal that a server has accepted. Clones refer to the same goal, and may be stored anywhere and
/// used from any thread. Dropping all handles does not affect the goal itself, but the client no
/// longer follows it.
pub struct ClientGoalHandle<F: ActionForm> {
    sent: Arc<SentGoal<F>>,
    accepted_at: Time,
}

impl<F: ActionForm> Clone for ClientGoalHandle<F> {
    fn clone(&self) -> Self {
        Self { sent: self.sent.clone(), accepted_at: self.accepted_at }
    }
}

impl<F: ActionForm> fmt::Debug for ClientGoalHandle<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientGoalHandle")
            .field("goal_id", &hex(&self.goal_id()))
            .field("status", &self.status())
            .finish()
    }
}

impl<F: ActionForm> ClientGoalHandle<F> {
    pub(super) fn new(sent: SentGoal<F>, accepted_at: Time) -> Self {
        Self { sent: Arc::new(sent), accepted_at }
    }

    /// The goal's id.
    pub fn goal_id(&self) -> GoalId {
        self.sent.id()
    }

    /// The time at which the server accepted the goal, by the server's clock. Zero with `rclcpp`
    /// servers, which do not report the time.
    pub fn accepted_at(&self) -> Time {
        self.accepted_at
    }

    /// The last known status of the goal. If no executor spins the client's node, status messages
    /// are not received, and this is the status from the server's last response.
    pub fn status(&self) -> GoalStatus {
        self.sent.status()
    }

    /// Requests the result, which arrives when the goal has ended. Await the future, or block with
    /// [`ResultFuture::wait`]. The result may be requested several times.
    ///
    /// # Errors
    /// When the server has left, or the request cannot be sent.
    pub fn get_result(&self) -> Result<ResultFuture<F>, GoalResultError> {
        self.sent.client().clone().get_result(self.goal_id(), Some(self.sent.clone()))
    }

    /// Asks the server to cancel the goal. Await the future to learn whether the server accepts
    /// this, or block with [`CancelFuture::wait`]. The goal has ended only when its result arrives.
    ///
    /// # Errors
    /// When the server has left, or the request cannot be sent.
    pub fn cancel(&self) -> Result<CancelFuture, CancelError> {
        self.sent.client().cancel(&self.goal_id(), Time::ZERO)
    }
}

/// Decodes the server's response to a goal: whether the goal was accepted, and when.
pub(super) fn open_goal_response(response: &[u8]) -> Result<(bool, Time), DecodeError> {
    let mut reader = Reader::new(response)?;
    let accepted = bool::decode(&mut reader)?;
    Ok((accepted, from_message(&TimeMessage::decode(&mut reader)?)))
}

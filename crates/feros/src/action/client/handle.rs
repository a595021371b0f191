//! The handle of a goal that was accepted.

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

/// A goal that a server has accepted. Clones are the same goal; they may be kept anywhere and used
/// from any thread. Dropping them leaves the goal alone: it goes on without being followed.
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

    /// What identifies the goal.
    pub fn goal_id(&self) -> GoalId {
        self.sent.id()
    }

    /// When the server accepted the goal, by the server's clock. Zero from servers of `rclcpp`,
    /// which do not say it.
    pub fn accepted_at(&self) -> Time {
        self.accepted_at
    }

    /// What the server said last of the goal. Without an executor that spins the client's node,
    /// that is what its answers said.
    pub fn status(&self) -> GoalStatus {
        self.sent.status()
    }

    /// Asks for the result, which comes when the goal has ended. It is awaited, or waited for with
    /// [`ResultFuture::wait`]; asking again is allowed.
    ///
    /// # Errors
    /// When the server has left, or cannot be asked.
    pub fn get_result(&self) -> Result<ResultFuture<F>, GoalResultError> {
        self.sent.client().clone().get_result(self.goal_id(), Some(self.sent.clone()))
    }

    /// Asks the server to cancel the goal. That it does is awaited, or waited for with
    /// [`CancelFuture::wait`]; the goal's result says when it has ended.
    ///
    /// # Errors
    /// When the server has left, or cannot be asked.
    pub fn cancel(&self) -> Result<CancelFuture, CancelError> {
        self.sent.client().cancel(&self.goal_id(), Time::ZERO)
    }
}

/// What the server answers to a goal: whether it was accepted, and when.
pub(super) fn open_goal_response(response: &[u8]) -> Result<(bool, Time), DecodeError> {
    let mut reader = Reader::new(response)?;
    let accepted = bool::decode(&mut reader)?;
    Ok((accepted, from_message(&TimeMessage::decode(&mut reader)?)))
}

//! The handle with which the user's code works on one goal of a server.

use std::fmt;
use std::sync::{Arc, Weak};

use feros_executor::Time;
use feros_message::{EncodeError, GoalId};

use super::form::{ActionServerForm, Unserializable};
use super::goals::Goal;
use super::server_core::ServerCore;
use crate::action::hex;
use crate::action::state::{GoalEvent, GoalStatus, GoalTransitionError};
use crate::publish_error::PublishError;

/// The reason why a goal could not be ended.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SetResultError {
    /// The goal cannot end this way from its present status.
    #[error(transparent)]
    Transition(#[from] GoalTransitionError),
    /// The result violates its type, for example because it exceeds a bound. The goal is still
    /// active.
    #[error(
        "the result of goal {} of {action} cannot be serialized: {source}; end the goal with another result",
        hex(.goal_id)
    )]
    Encode {
        /// The action.
        action: String,
        /// The goal.
        goal_id: GoalId,
        /// The reason.
        source: EncodeError,
    },
    /// The result was given as bytes that are not a serialized message. The goal has not ended.
    #[error(
        "the result of goal {} of {action} is not a serialized message: {reason}; end the goal with another result",
        hex(.goal_id)
    )]
    NotSerialized {
        /// The action.
        action: String,
        /// The goal.
        goal_id: GoalId,
        /// The reason.
        reason: &'static str,
    },
}

/// The reason why feedback was not published.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum FeedbackError {
    /// The publisher could not publish the feedback.
    #[error(transparent)]
    Publish(#[from] PublishError),
    /// The server was dropped and has aborted its goals.
    #[error(
        "goal {} can publish no more feedback, because the server of {action} was dropped; end the \
         work for the goal",
        hex(.goal_id)
    )]
    ServerDropped {
        /// The action.
        action: String,
        /// The goal.
        goal_id: GoalId,
    },
}

/// A goal that a server has accepted. Clones refer to the same goal. They may be stored anywhere,
/// outlive the callback, and be used from any thread.
///
/// The code that works on the goal ends it with [`succeed`](Self::succeed), [`abort`](Self::abort)
/// or [`canceled`](Self::canceled). If the last clone is dropped before that, the goal is canceled
/// as in `rclcpp_action` (`rclcpp_action/include/rclcpp_action/server_goal_handle.hpp`), or aborted
/// if a panic dropped the clone, so that its clients always get a result.
pub struct ServerGoalHandle<F: ActionServerForm>(Arc<HandleInner<F>>);

pub(super) struct HandleInner<F: ActionServerForm> {
    goal: Arc<Goal>,
    request: F::Goal,
    server: Arc<ServerCore<F>>,
}

impl<F: ActionServerForm> Clone for ServerGoalHandle<F> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<F: ActionServerForm> fmt::Debug for ServerGoalHandle<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerGoalHandle")
            .field("goal_id", &hex(&self.goal_id()))
            .field("status", &self.status())
            .field("goal", &self.0.request)
            .finish()
    }
}

impl<F: ActionServerForm> ServerGoalHandle<F> {
    pub(super) fn new(server: &Arc<ServerCore<F>>, goal: Arc<Goal>, request: F::Goal) -> Self {
        Self(Arc::new(HandleInner { goal, request, server: server.clone() }))
    }

    pub(super) fn downgrade(&self) -> WeakHandle<F> {
        WeakHandle(Arc::downgrade(&self.0))
    }

    /// The goal's id.
    pub fn goal_id(&self) -> GoalId {
        self.0.goal.id
    }

    /// The goal as the client requested it.
    pub fn goal(&self) -> &F::Goal {
        &self.0.request
    }

    /// The time at which the goal was accepted, by the node's clock.
    pub fn accepted_at(&self) -> Time {
        self.0.goal.accepted_at
    }

    /// The status of the goal.
    pub fn status(&self) -> GoalStatus {
        self.0.goal.status()
    }

    /// Whether the goal has not ended.
    pub fn is_active(&self) -> bool {
        self.status().is_active()
    }

    /// Whether the goal is executing.
    pub fn is_executing(&self) -> bool {
        self.status() == GoalStatus::Executing
    }

    /// Whether the goal is canceling. If so, stop the work on the goal, then call
    /// [`canceled`](Self::canceled).
    pub fn is_canceling(&self) -> bool {
        self.status() == GoalStatus::Canceling
    }

    /// Sets the status of a goal that was accepted with
    /// [`AcceptAndDefer`](super::GoalResponse::AcceptAndDefer) to executing.
    ///
    /// # Errors
    /// When the status of the goal is no longer accepted; for example, it may be canceling.
    pub fn execute(&self) -> Result<(), GoalTransitionError> {
        self.0.server.advance(&self.0.goal, GoalEvent::Execute)?;
        self.0.server.publish_status();
        Ok(())
    }

    /// Publishes feedback about the work to clients.
    ///
    /// # Errors
    /// When the feedback cannot be published, or the server was dropped.
    pub fn publish_feedback(&self, feedback: F::Feedback) -> Result<(), FeedbackError> {
        let Some(ends) = self.0.server.ends() else {
            let (action, goal_id) = (self.0.server.action().to_string(), self.goal_id());
            return Err(FeedbackError::ServerDropped { action, goal_id });
        };
        Ok(F::publish_feedback(&ends.feedback, self.goal_id(), feedback)?)
    }

    /// Ends the goal with the status succeeded.
    ///
    /// # Errors
    /// When the goal is neither executing nor canceling, or the result cannot be serialized.
    pub fn succeed(&self, result: F::Result) -> Result<(), SetResultError> {
        self.end(GoalEvent::Succeed, GoalStatus::Succeeded, result)
    }

    /// Ends the goal with the status aborted, because it cannot be reached.
    ///
    /// # Errors
    /// See [`succeed`](Self::succeed).
    pub fn abort(&self, result: F::Result) -> Result<(), SetResultError> {
        self.end(GoalEvent::Abort, GoalStatus::Aborted, result)
    }

    /// Ends the goal with the status canceled, after a client's request to cancel was accepted.
    ///
    /// # Errors
    /// When the goal is not canceling, or the result cannot be serialized.
    pub fn canceled(&self, result: F::Result) -> Result<(), SetResultError> {
        self.end(GoalEvent::Canceled, GoalStatus::Canceled, result)
    }

    fn end(
        &self,
        event: GoalEvent,
        status: GoalStatus,
        result: F::Result,
    ) -> Result<(), SetResultError> {
        let response = F::close_result(status, result).map_err(|fault| {
            let (action, goal_id) = (self.0.server.action().to_string(), self.goal_id());
            match fault {
                Unserializable::Encode(source) => {
                    SetResultError::Encode { action, goal_id, source }
                }
                Unserializable::NotSerialized(reason) => {
                    SetResultError::NotSerialized { action, goal_id, reason }
                }
            }
        })?;
        Ok(self.0.server.end(&self.0.goal, event, response)?)
    }
}

impl<F: ActionServerForm> Drop for HandleInner<F> {
    fn drop(&mut self) {
        if !self.goal.is_active() {
            return;
        }
        let (server, panics) = (&self.server, std::thread::panicking());
        let status = if panics { GoalStatus::Aborted } else { GoalStatus::Canceled };
        if server.abandon(&self.goal, status) {
            if let Some(so_far) = server.count_dropped() {
                tracing::warn!(
                    ros_logger = &**server.logger(),
                    "goal {} of {} is {status}: its handle was dropped by {} before the goal had \
                     ended{so_far}",
                    hex(&self.goal.id),
                    server.action(),
                    if panics { "a panic" } else { "the program" },
                );
            }
            server.publish_status();
        }
    }
}

/// A weak reference to a handle, which does not keep the goal from ending when the handles are
/// dropped.
pub(super) struct WeakHandle<F: ActionServerForm>(Weak<HandleInner<F>>);

impl<F: ActionServerForm> WeakHandle<F> {
    pub(super) fn upgrade(&self) -> Option<ServerGoalHandle<F>> {
        self.0.upgrade().map(ServerGoalHandle)
    }

    pub(super) fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }
}

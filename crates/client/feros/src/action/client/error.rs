//! Errors of an action client: why a goal was not accepted, has no result, or is not canceled.

use feros_message::GoalId;

use crate::action::hex;
use crate::services::client::CallError;

/// The reason why a goal was not accepted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SendGoalError {
    /// The goal was not sent, because there is no server that could answer.
    #[error(
        "the action {action} has no server that is ready for goals: start it, and wait for it with `wait_for_server`"
    )]
    NoServer {
        /// The action.
        action: String,
    },
    /// The server rejected the goal.
    #[error("goal {} was rejected by the server of {action}", hex(.goal_id))]
    Rejected {
        /// The action.
        action: String,
        /// The goal.
        goal_id: GoalId,
    },
    /// The request could not be sent, or the server did not answer.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// The reason why a goal has no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GoalResultError {
    /// The server does not know the goal.
    #[error(
        "the server of {action} does not know goal {}: it never accepted the goal, was restarted, \
         or no longer keeps the result; request the result before the goal ends, or raise the \
         server's result timeout",
        hex(.goal_id)
    )]
    UnknownGoal {
        /// The action.
        action: String,
        /// The goal.
        goal_id: GoalId,
    },
    /// The request could not be sent, or the server did not answer.
    #[error(transparent)]
    Call(#[from] CallError),
}

/// The reason why a request to cancel did not cancel any goal.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CancelError {
    /// The server rejected the request.
    #[error("the server of {action} rejected the request to cancel")]
    Rejected {
        /// The action.
        action: String,
    },
    /// The server does not know the goal.
    #[error(
        "the server of {action} does not know a goal with this id: it may have forgotten a goal that ended"
    )]
    UnknownGoal {
        /// The action.
        action: String,
    },
    /// The goal has ended or is already canceling.
    #[error("the goal at the server of {action} has ended or is canceling already")]
    GoalTerminated {
        /// The action.
        action: String,
    },
    /// The server gave an unknown reason.
    #[error(
        "the server of {action} canceled nothing, and gave reason number {code}, which \
         action_msgs/srv/CancelGoal does not define; check that both sides use the same definition"
    )]
    Unknown {
        /// The action.
        action: String,
        /// The return code of the response.
        code: i8,
    },
    /// The request could not be sent, or the server did not answer.
    #[error(transparent)]
    Call(#[from] CallError),
}

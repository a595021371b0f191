//! The futures for the result and the cancellation of goals.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use feros_message::{DecodeError, GoalId};
use feros_msgs::action_msgs::srv::CancelGoal_Response;

use super::call_end::{Call, CallEnd};
use super::error::{CancelError, GoalResultError};
use super::goals::SentGoal;
use super::{ActionForm, Inner};
use crate::action::state::GoalStatus;
use crate::messages::forms::SerializedMessage;
use crate::messages::identity::ServiceIdentity;
use crate::services::client::CallError;

/// Makes the error for a malformed response.
pub(super) fn malformed(
    service: &CallEnd,
    identity: &ServiceIdentity,
    source: DecodeError,
) -> CallError {
    let (service, type_name) = (service.service_name().to_owned(), identity.name.clone());
    CallError::Response { service, type_name, source }
}

/// How a goal ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GoalResult<R> {
    /// The goal's id.
    pub goal_id: GoalId,
    /// How the goal ended: succeeded, canceled or aborted.
    pub status: GoalStatus,
    /// The result. If the server gave no result, its fields have default values.
    pub result: R,
}

/// A future for the result of a goal. Await it on any async runtime, or block with
/// [`wait`](Self::wait).
///
/// # Cancel safety
/// Dropping the future drops the result; the result may be requested again.
#[must_use = "the result is lost when this is dropped"]
pub struct ResultFuture<F: ActionForm> {
    response: Call,
    client: Arc<Inner<F>>,
    goal_id: GoalId,
    /// The goal, if this client sent it.
    sent: Option<Arc<SentGoal<F>>>,
}

impl<F: ActionForm> ResultFuture<F> {
    pub(super) fn new(
        response: Call,
        client: Arc<Inner<F>>,
        goal_id: GoalId,
        sent: Option<Arc<SentGoal<F>>>,
    ) -> Self {
        Self { response, client, goal_id, sent }
    }

    /// Blocks until the result arrives, for at most `timeout`.
    ///
    /// # Errors
    /// See [`GoalResultError`].
    pub fn wait(self, timeout: Duration) -> Result<GoalResult<F::Result>, GoalResultError> {
        let Self { response, client, goal_id, sent } = self;
        ended(&client, goal_id, sent.as_deref(), response.wait(timeout))
    }
}

impl<F: ActionForm> Future for ResultFuture<F> {
    type Output = Result<GoalResult<F::Result>, GoalResultError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let result = Pin::new(&mut self.response).poll(task);
        result.map(|result| ended(&self.client, self.goal_id, self.sent.as_deref(), result))
    }
}

fn ended<F: ActionForm>(
    client: &Inner<F>,
    goal_id: GoalId,
    sent: Option<&SentGoal<F>>,
    response: Result<SerializedMessage, CallError>,
) -> Result<GoalResult<F::Result>, GoalResultError> {
    let opened = F::open_result(response?);
    let (number, result) = opened
        .map_err(|source| malformed(&client.get_result, &client.identity.get_result, source))?;
    let status = GoalStatus::from_number(number);
    if !status.is_terminal() {
        return Err(GoalResultError::UnknownGoal { action: client.action.clone(), goal_id });
    }
    if let Some(sent) = sent {
        sent.has_become(status);
    }
    Ok(GoalResult { goal_id, status, result })
}

/// A future for the ids of the goals that a request cancels. Await it on any async runtime, or
/// block with [`wait`](Self::wait).
///
/// # Cancel safety
/// Dropping the future drops the response; the server still handles the request.
#[must_use = "the response is lost when this is dropped"]
pub struct CancelFuture {
    response: Call,
    action: String,
    /// The goal that the request names, if any.
    named: Option<GoalId>,
}

impl CancelFuture {
    pub(super) fn new(response: Call, action: String, named: Option<GoalId>) -> Self {
        Self { response, action, named }
    }

    /// Blocks until the response arrives, for at most `timeout`, and returns the goals that are
    /// canceling now.
    ///
    /// # Errors
    /// See [`CancelError`].
    pub fn wait(self, timeout: Duration) -> Result<Vec<GoalId>, CancelError> {
        canceling(&self.action, self.named, self.response.wait(timeout))
    }
}

impl Future for CancelFuture {
    type Output = Result<Vec<GoalId>, CancelError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let result = Pin::new(&mut self.response).poll(task);
        result.map(|result| canceling(&self.action, self.named, result))
    }
}

fn canceling(
    action: &str,
    named: Option<GoalId>,
    response: Result<SerializedMessage, CallError>,
) -> Result<Vec<GoalId>, CancelError> {
    let response: CancelGoal_Response =
        response?.decode().map_err(|source| CallError::Response {
            service: format!("{action}/_action/cancel_goal"),
            type_name: "action_msgs/srv/CancelGoal".to_owned(),
            source,
        })?;
    let action = action.to_owned();
    match response.return_code {
        CancelGoal_Response::ERROR_NONE => {
            let goals = response.goals_canceling.iter().map(|goal| goal.goal_id.uuid);
            let goals: Vec<GoalId> = goals.collect();
            // An rclpy server rejects the cancellation of a goal by omitting the goal from the
            // response.
            match named {
                Some(named) if !goals.contains(&named) => Err(CancelError::Rejected { action }),
                _ => Ok(goals),
            }
        }
        CancelGoal_Response::ERROR_REJECTED => Err(CancelError::Rejected { action }),
        CancelGoal_Response::ERROR_UNKNOWN_GOAL_ID => Err(CancelError::UnknownGoal { action }),
        CancelGoal_Response::ERROR_GOAL_TERMINATED => Err(CancelError::GoalTerminated { action }),
        code => Err(CancelError::Unknown { action, code }),
    }
}

//! The future for the acceptance of a goal.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use feros_message::GoalId;

use super::ActionForm;
use super::call_end::Call;
use super::error::SendGoalError;
use super::futures::malformed;
use super::goals::SentGoal;
use super::handle::{ClientGoalHandle, open_goal_response};
use crate::action::state::GoalStatus;
use crate::messages::forms::SerializedMessage;
use crate::services::client::CallError;

/// A future for the acceptance or rejection of a goal. Await it on any async runtime, or block with
/// [`wait`](Self::wait).
///
/// # Cancel safety
/// After the future is dropped, the client no longer follows the goal; the server may still accept
/// it.
#[must_use = "the goal is not followed when this is dropped"]
pub struct SendGoalFuture<F: ActionForm> {
    response: Call,
    /// The goal; moved into the handle when the future completes.
    sent: Option<SentGoal<F>>,
    id: GoalId,
}

impl<F: ActionForm> SendGoalFuture<F> {
    pub(super) fn new(response: Call, sent: SentGoal<F>) -> Self {
        let id = sent.id();
        Self { response, sent: Some(sent), id }
    }

    /// The goal's id.
    pub fn goal_id(&self) -> GoalId {
        self.id
    }

    /// Blocks until the server has answered, for at most `timeout`.
    ///
    /// # Errors
    /// See [`SendGoalError`].
    pub fn wait(self, timeout: Duration) -> Result<ClientGoalHandle<F>, SendGoalError> {
        accepted(self.sent, self.response.wait(timeout))
    }
}

impl<F: ActionForm> Future for SendGoalFuture<F> {
    type Output = Result<ClientGoalHandle<F>, SendGoalError>;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let result = Pin::new(&mut self.response).poll(task);
        result.map(|result| accepted(self.sent.take(), result))
    }
}

fn accepted<F: ActionForm>(
    sent: Option<SentGoal<F>>,
    response: Result<SerializedMessage, CallError>,
) -> Result<ClientGoalHandle<F>, SendGoalError> {
    let sent = sent.expect("a future is not polled after its end");
    let client = sent.client();
    let opened = open_goal_response(&response?);
    let (accepted, stamp) = opened
        .map_err(|source| malformed(&client.send_goal, &client.identity.send_goal, source))?;
    if !accepted {
        return Err(SendGoalError::Rejected { action: client.action.clone(), goal_id: sent.id() });
    }
    sent.has_become(GoalStatus::Accepted);
    Ok(ClientGoalHandle::new(sent, stamp))
}

//! The goals of a server, without a wire: their progress, who waits for their results, which of
//! them a request cancels, and when they are forgotten.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use feros_executor::Time;
use feros_message::GoalId;
use feros_msgs::action_msgs::msg::{GoalInfo, GoalStatus as StatusMessage, GoalStatusArray};
use feros_msgs::action_msgs::srv::{CancelGoal_Request, CancelGoal_Response};
use feros_msgs::unique_identifier_msgs::msg::UUID;
use feros_rmw::RequestId;
use feros_sync::Mutex;

use crate::action::state::{GoalEvent, GoalStatus};
use crate::action::{from_message, to_message};

/// Requests that may wait for the result of one goal. A client that asks again and again leaves old
/// ones behind, so the oldest go first.
const WAITING_LIMIT: usize = 128;

/// A serialized response with status and result.
pub(super) type ResultBytes = Arc<[u8]>;

/// A goal that was accepted.
pub(super) struct Goal {
    pub(super) id: GoalId,
    pub(super) accepted_at: Time,
    progress: Mutex<Progress>,
}

struct Progress {
    status: GoalStatus,
    /// Who waits for the result.
    waiting: VecDeque<RequestId>,
    end: Option<End>,
}

struct End {
    at: Time,
    result: ResultBytes,
}

/// What is to be done for a request for a result.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ResultRequest {
    /// The goal has ended: respond with this.
    Respond(ResultBytes),
    /// The request waits for the end.
    Waits,
    /// The request waits for the end, and one that has waited longest no more.
    Displaces(RequestId),
}

impl Goal {
    pub(super) fn new(id: GoalId, accepted_at: Time) -> Self {
        let status = GoalStatus::Accepted;
        let progress = Mutex::new(Progress { status, waiting: VecDeque::new(), end: None });
        Self { id, accepted_at, progress }
    }

    pub(super) fn status(&self) -> GoalStatus {
        self.progress.lock().status
    }

    pub(super) fn is_active(&self) -> bool {
        self.status().is_active()
    }

    /// Goes on to a status that is not the end; where that is not allowed, says what the goal is.
    pub(super) fn advance(&self, event: GoalEvent) -> Result<(), GoalStatus> {
        let mut progress = self.progress.lock();
        let next = progress.status.after(event).filter(|next| !next.is_terminal());
        progress.status = next.ok_or(progress.status)?;
        Ok(())
    }

    /// Ends the goal, and returns who waits for the result; where that is not allowed, says what
    /// the goal is.
    pub(super) fn end(
        &self,
        event: GoalEvent,
        result: ResultBytes,
        at: Time,
    ) -> Result<VecDeque<RequestId>, GoalStatus> {
        let mut progress = self.progress.lock();
        let next = progress.status.after(event).filter(|next| next.is_terminal());
        let next = next.ok_or(progress.status)?;
        Ok(progress.end_as(next, End { at, result }))
    }

    /// Ends the goal whatever it was, unless it has ended: nobody works for it any more. Returns
    /// who waits for the result.
    pub(super) fn abandon(
        &self,
        status: GoalStatus,
        result: ResultBytes,
        at: Time,
    ) -> Option<VecDeque<RequestId>> {
        let mut progress = self.progress.lock();
        let is_active = progress.status.is_active();
        is_active.then(|| progress.end_as(status, End { at, result }))
    }

    /// A client asks for the result.
    pub(super) fn request_result(&self, request: RequestId) -> ResultRequest {
        let mut progress = self.progress.lock();
        if let Some(end) = &progress.end {
            return ResultRequest::Respond(end.result.clone());
        }
        let displaced = (progress.waiting.len() >= WAITING_LIMIT)
            .then(|| progress.waiting.pop_front())
            .flatten();
        progress.waiting.push_back(request);
        displaced.map_or(ResultRequest::Waits, ResultRequest::Displaces)
    }

    /// When the goal ended.
    fn ended_at(&self) -> Option<Time> {
        self.progress.lock().end.as_ref().map(|end| end.at)
    }

    /// What messages say of the goal.
    pub(super) fn info(&self) -> GoalInfo {
        GoalInfo { goal_id: UUID { uuid: self.id }, stamp: to_message(self.accepted_at) }
    }
}

impl Progress {
    fn end_as(&mut self, status: GoalStatus, end: End) -> VecDeque<RequestId> {
        (self.status, self.end) = (status, Some(end));
        std::mem::take(&mut self.waiting)
    }
}

/// The goals of a server, in the order of their acceptance.
#[derive(Default)]
pub(super) struct GoalTable(Vec<Arc<Goal>>);

impl GoalTable {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn find(&self, id: &GoalId) -> Option<&Arc<Goal>> {
        self.0.iter().find(|goal| goal.id == *id)
    }

    /// Takes in a new goal.
    pub(super) fn insert(&mut self, goal: Arc<Goal>) {
        self.0.push(goal);
    }

    pub(super) fn active(&self) -> Vec<Arc<Goal>> {
        self.0.iter().filter(|goal| goal.is_active()).cloned().collect()
    }

    /// The goals that a request asks to cancel, and the code of the response unless the server
    /// refuses: one by its id, all up to a time, both, or all.
    pub(super) fn to_cancel(&self, request: &CancelGoal_Request) -> (Vec<Arc<Goal>>, i8) {
        let id = request.goal_info.goal_id.uuid;
        let (names_goal, until) = (id != [0; 16], from_message(&request.goal_info.stamp));
        if names_goal && until == Time::ZERO {
            return match self.find(&id) {
                None => (Vec::new(), CancelGoal_Response::ERROR_UNKNOWN_GOAL_ID),
                Some(goal) if goal.status().is_cancelable() => {
                    (vec![goal.clone()], CancelGoal_Response::ERROR_NONE)
                }
                Some(_) => (Vec::new(), CancelGoal_Response::ERROR_GOAL_TERMINATED),
            };
        }
        let all = !names_goal && until == Time::ZERO;
        let is_meant = |goal: &&Arc<Goal>| all || goal.accepted_at <= until || goal.id == id;
        let meant = self.0.iter().filter(is_meant).filter(|goal| goal.status().is_cancelable());
        (meant.cloned().collect(), CancelGoal_Response::ERROR_NONE)
    }

    /// Forgets goals that ended so long ago. Says how long until the next is to be forgotten.
    pub(super) fn expire(&mut self, now: Time, timeout: Duration) -> Option<Duration> {
        self.0.retain(|goal| goal.ended_at().is_none_or(|ended| ended + timeout > now));
        let ends = self.0.iter().filter_map(|goal| goal.ended_at());
        // The time may have jumped back: nothing is kept longer than said from now on.
        ends.map(|ended| (ended + timeout).saturating_since(now).min(timeout)).min()
    }

    /// What the status topic says.
    pub(super) fn statuses(&self) -> GoalStatusArray {
        let status = |goal: &Arc<Goal>| StatusMessage {
            goal_info: goal.info(),
            status: goal.status().number(),
        };
        GoalStatusArray { status_list: self.0.iter().map(status).collect() }
    }
}

#[cfg(test)]
mod tests;

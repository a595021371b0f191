//! The goals of a server, independent of its endpoints: decides which goals a request cancels, and
//! when goals are forgotten.

use std::ops::Deref;
use std::sync::Arc;
use std::time::Duration;

use feros_executor::Time;
use feros_message::GoalId;
use feros_msgs::action_msgs::msg::{GoalInfo, GoalStatus as StatusMessage, GoalStatusArray};
use feros_msgs::action_msgs::srv::{CancelGoal_Request, CancelGoal_Response};
use feros_msgs::unique_identifier_msgs::msg::UUID;

use super::progress::Progress;
use crate::action::{from_message, to_message};
use crate::services::service::PendingRequest;

/// A goal that was accepted.
pub(super) struct Goal {
    pub(super) id: GoalId,
    pub(super) accepted_at: Time,
    progress: Progress<PendingRequest, Time>,
}

impl Deref for Goal {
    type Target = Progress<PendingRequest, Time>;

    fn deref(&self) -> &Progress<PendingRequest, Time> {
        &self.progress
    }
}

impl Goal {
    pub(super) fn new(id: GoalId, accepted_at: Time) -> Self {
        Self { id, accepted_at, progress: Progress::new() }
    }

    pub(super) fn is_active(&self) -> bool {
        self.status().is_active()
    }

    /// The goal's id and acceptance time, in the form of messages.
    pub(super) fn info(&self) -> GoalInfo {
        GoalInfo { goal_id: UUID { uuid: self.id }, stamp: to_message(self.accepted_at) }
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

    pub(super) fn insert(&mut self, goal: Arc<Goal>) {
        self.0.push(goal);
    }

    pub(super) fn active(&self) -> Vec<Arc<Goal>> {
        self.0.iter().filter(|goal| goal.is_active()).cloned().collect()
    }

    /// Selects the goals that a request asks to cancel: the goal with the given id, the goals
    /// accepted up to the given time, both, or all goals. Also returns the code of the response,
    /// which applies unless the server's callback rejects the request.
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

    /// Forgets goals that ended at least `timeout` ago. Returns the time until the next goal is
    /// due.
    pub(super) fn expire(&mut self, now: Time, timeout: Duration) -> Option<Duration> {
        self.0.retain(|goal| goal.ended_at().is_none_or(|ended| ended + timeout > now));
        let ends = self.0.iter().filter_map(|goal| goal.ended_at());
        // Time may have jumped back, so the wait is limited to `timeout` from now.
        ends.map(|ended| (ended + timeout).saturating_since(now).min(timeout)).min()
    }

    /// Makes the message for the status topic.
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

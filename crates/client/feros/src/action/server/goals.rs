//! The goals of a server, independent of its endpoints: decides which goals a request cancels, and
//! when goals are forgotten.

use std::collections::{BTreeMap, BTreeSet, HashMap};
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
pub(super) struct GoalTable {
    goals: BTreeMap<u64, Arc<Goal>>,
    numbers: HashMap<GoalId, u64>,
    accepted: u64,
    /// The goals whose ends no status message has reported yet.
    unshown: Vec<u64>,
    /// The other goals that have ended, by the time of their ends.
    ended: BTreeSet<(Time, u64)>,
}

impl GoalTable {
    pub(super) fn len(&self) -> usize {
        self.goals.len()
    }

    pub(super) fn find(&self, id: &GoalId) -> Option<&Arc<Goal>> {
        self.goals.get(self.numbers.get(id)?)
    }

    pub(super) fn insert(&mut self, goal: Arc<Goal>) {
        self.numbers.insert(goal.id, self.accepted);
        self.goals.insert(self.accepted, goal);
        self.accepted += 1;
    }

    /// Notes that a goal has ended. It is forgotten some time after a status message has had its
    /// end.
    pub(super) fn has_ended(&mut self, id: &GoalId) {
        self.unshown.extend(self.numbers.get(id));
    }

    pub(super) fn active(&self) -> Vec<Arc<Goal>> {
        self.goals.values().filter(|goal| goal.is_active()).cloned().collect()
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
        let meant =
            self.goals.values().filter(is_meant).filter(|goal| goal.status().is_cancelable());
        (meant.cloned().collect(), CancelGoal_Response::ERROR_NONE)
    }

    /// Forgets goals that ended at least `timeout` ago. Returns the time until the next goal is
    /// due.
    pub(super) fn expire(&mut self, now: Time, timeout: Duration) -> Option<Duration> {
        while let Some((ended, number)) = self.ended.first().copied() {
            let due = ended + timeout;
            if due > now {
                // Time may have jumped back, so the wait is limited to `timeout` from now.
                return Some(due.saturating_since(now).min(timeout));
            }
            self.ended.pop_first();
            if let Some(goal) = self.goals.remove(&number) {
                self.numbers.remove(&goal.id);
            }
        }
        None
    }

    /// Makes the message for the status topic.
    pub(super) fn statuses(&mut self) -> GoalStatusArray {
        for number in self.unshown.drain(..) {
            let ended = self.goals.get(&number).and_then(|goal| goal.ended_at());
            self.ended.extend(ended.map(|ended| (ended, number)));
        }
        let status = |goal: &Arc<Goal>| StatusMessage {
            goal_info: goal.info(),
            status: goal.status().number(),
        };
        GoalStatusArray { status_list: self.goals.values().map(status).collect() }
    }
}

#[cfg(test)]
mod tests;

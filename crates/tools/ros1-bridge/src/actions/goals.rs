//! The goals that clients of actionlib have sent to a ROS 2 server, and their states.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use feros::action::Serialized;
use feros::{ClientGoalHandle, GoalStatus};
use feros_ros1::{Ros1GoalId, Ros1GoalStatus};

use super::MOST_GOALS;

/// A goal that the ROS 2 server has accepted.
pub(super) type Goal = ClientGoalHandle<Serialized>;

/// How long the status of a goal is published after its end, as an actionlib server does.
const KEPT: Duration = Duration::from_secs(5);

/// All goals, by their ROS 1 names.
#[derive(Default)]
pub(super) struct Goals {
    all: BTreeMap<String, Entry>,
    named: u64,
}

struct Entry {
    about: Ros1GoalStatus,
    handle: Option<Goal>,
    ended: Option<Instant>,
}

impl Goals {
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn has(&self, id: &str) -> bool {
        self.all.contains_key(id)
    }

    /// Returns a name for a goal without a name.
    pub(super) fn new_name(&mut self) -> String {
        self.named += 1;
        format!("unnamed-{}", self.named)
    }

    pub(super) fn insert(&mut self, goal_id: &Ros1GoalId) {
        let about = Ros1GoalStatus { goal_id: goal_id.clone(), ..Ros1GoalStatus::default() };
        self.all.insert(goal_id.id.clone(), Entry { about, handle: None, ended: None });
    }

    /// Records that the server has accepted a goal; returns whether a client has already asked to
    /// cancel it.
    pub(super) fn accepted(&mut self, id: &str, handle: Goal) -> bool {
        let Some(entry) = self.all.get_mut(id) else { return false };
        entry.handle = Some(handle);
        entry.about.status == Ros1GoalStatus::RECALLING
    }

    /// Records the end of a goal. If there are many goals, a refused new goal is not stored.
    pub(super) fn end(&mut self, about: Ros1GoalStatus) {
        let id = about.goal_id.id.clone();
        if self.all.len() >= 2 * MOST_GOALS && !self.all.contains_key(&id) {
            return;
        }
        self.all.insert(id, Entry { about, handle: None, ended: Some(Instant::now()) });
    }

    /// Cancels the goals that a request selects: the goal with its name, the goals that are not
    /// newer than its time, or all goals if it has neither. Returns the accepted goals, for the
    /// caller to cancel; goals that are not accepted yet are only marked.
    pub(super) fn cancel(&mut self, wish: &Ros1GoalId) -> Vec<Goal> {
        let is_all = wish.id.is_empty() && wish.stamp == (0, 0);
        let mut handles = Vec::new();
        for entry in self.all.values_mut().filter(|entry| entry.ended.is_none()) {
            let goal_id = &entry.about.goal_id;
            let is_old = wish.stamp != (0, 0) && goal_id.stamp <= wish.stamp;
            if !is_all && !is_old && (wish.id.is_empty() || goal_id.id != wish.id) {
                continue;
            }
            match &entry.handle {
                Some(handle) => handles.push(handle.clone()),
                None => entry.about.status = Ros1GoalStatus::RECALLING,
            }
        }
        handles
    }

    /// Returns the state of a goal.
    pub(super) fn status(&mut self, id: &str) -> Option<Ros1GoalStatus> {
        let entry = self.all.get_mut(id)?;
        entry.look();
        Some(entry.about.clone())
    }

    /// Returns the states of all goals. Forgets the goals that ended some time ago.
    pub(super) fn statuses(&mut self) -> Vec<Ros1GoalStatus> {
        self.all.retain(|_, entry| entry.ended.is_none_or(|at| at.elapsed() < KEPT));
        let look = |entry: &mut Entry| {
            entry.look();
            entry.about.clone()
        };
        self.all.values_mut().map(look).collect()
    }
}

impl Entry {
    /// Updates the state from the handle. The end of a goal is recorded when its result arrives.
    fn look(&mut self) {
        let Some(handle) = self.handle.as_ref().filter(|_| self.ended.is_none()) else { return };
        self.about.status = match handle.status() {
            GoalStatus::Unknown | GoalStatus::Accepted => Ros1GoalStatus::PENDING,
            GoalStatus::Canceling => Ros1GoalStatus::PREEMPTING,
            _ => Ros1GoalStatus::ACTIVE,
        };
    }
}

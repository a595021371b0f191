//! The statuses of goals that the program keeps itself, for action servers in other languages.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Weak};

use feros_engine::FailureCounter;
use feros_executor::Kind;
use feros_message::{GoalId, to_vec};
use feros_msgs::action_msgs::msg::{GoalInfo, GoalStatus as StatusMessage, GoalStatusArray};
use feros_sync::Mutex;

use super::pace::StatusPace;
use crate::action::state::GoalStatus;
use crate::callbacks::group::CallbackOptions;
use crate::callbacks::node_members::Member;
use crate::create_error::CreateError;
use crate::publish_error::PublishError;
use crate::topics::publisher::GenericPublisher;

/// Publishes the statuses of goals on the status topic of an action, at the same pace as an
/// [`ActionServer`](super::ActionServer). Each message has the statuses of all goals.
#[must_use = "statuses are published until this is dropped"]
pub struct GoalStatuses {
    board: Arc<Board>,
    _member: Member,
}

struct Board {
    publisher: GenericPublisher,
    logger: Arc<str>,
    table: Mutex<Table>,
    pace: StatusPace,
    /// Counts messages that could not be published. Their goals were not affected.
    unpublished: FailureCounter,
}

/// The goals in the order in which they became known.
#[derive(Default)]
struct Table {
    goals: BTreeMap<u64, Known>,
    numbers: HashMap<GoalId, u64>,
    next_number: u64,
}

struct Known {
    status: StatusMessage,
    /// Whether a message has had this status.
    is_shown: bool,
    /// Whether the goal is forgotten as soon as a message has had its status.
    is_leaving: bool,
}

impl GoalStatuses {
    /// Publishes statuses through this publisher of the status topic. The executor of the
    /// publisher's node publishes the statuses that are not published at once.
    ///
    /// # Errors
    /// When the executor is full or frozen.
    pub fn new(publisher: GenericPublisher) -> Result<Self, CreateError> {
        let node = publisher.node().clone();
        let board = Arc::new(Board {
            logger: node.logger().clone(),
            table: Mutex::default(),
            pace: StatusPace::default(),
            unpublished: FailureCounter::new(),
            publisher,
        });
        let weak: Weak<Board> = Arc::downgrade(&board);
        let timer = board.pace.timer(move || {
            if let Some(board) = weak.upgrade() {
                board.complete();
            }
        });
        let topic = board.publisher.topic_name();
        let member =
            node.add_member_with(topic, timer, Kind::Timer, &CallbackOptions::default())?;
        Ok(Self { board, _member: member })
    }

    /// Sets the status of a goal, which becomes known if it was not. Several threads may change a
    /// goal; the caller ensures that the last call has the latest status.
    pub fn set(&self, goal: GoalInfo, status: GoalStatus) {
        self.board.table.lock().set(goal, status);
    }

    /// Forgets a goal, after a message has had its last status.
    pub fn forget(&self, id: &GoalId) {
        self.board.table.lock().forget(id);
    }

    /// Publishes the statuses after a change, at once or a little later.
    pub fn publish(&self) {
        self.board.pace.changed(|| self.board.known(), || self.board.publish());
    }

    /// Publishes the changes that have not been published.
    pub fn complete(&self) {
        self.board.complete();
    }
}

impl Board {
    fn known(&self) -> usize {
        self.table.lock().goals.len()
    }

    fn complete(&self) {
        self.pace.complete(|| self.known(), || self.publish());
    }

    fn publish(&self) {
        let statuses = self.table.lock().show();
        let serialized = to_vec(&statuses).map_err(|source| {
            let topic = self.publisher.topic_name().to_owned();
            PublishError::Encode { topic, source }
        });
        let published = serialized.and_then(|bytes| self.publisher.publish_serialized(&bytes));
        if let Err(error) = published
            && let Some(so_far) = self.unpublished.so_far()
        {
            tracing::warn!(ros_logger = &*self.logger, "{error}{so_far}");
        }
    }
}

impl Table {
    fn set(&mut self, goal: GoalInfo, status: GoalStatus) {
        let id = goal.goal_id.uuid;
        let number = *self.numbers.entry(id).or_insert(self.next_number);
        self.next_number = self.next_number.max(number + 1);
        let status = StatusMessage { goal_info: goal, status: status.number() };
        self.goals.insert(number, Known { status, is_shown: false, is_leaving: false });
    }

    fn forget(&mut self, id: &GoalId) {
        let Some(number) = self.numbers.get(id).copied() else { return };
        let Some(known) = self.goals.get_mut(&number) else { return };
        known.is_leaving = true;
        if known.is_shown {
            self.goals.remove(&number);
            self.numbers.remove(id);
        }
    }

    /// Makes the message for the status topic, and forgets the goals that were leaving.
    fn show(&mut self) -> GoalStatusArray {
        let status_list = self.goals.values().map(|known| known.status.clone()).collect();
        let numbers = &mut self.numbers;
        self.goals.retain(|_, known| {
            known.is_shown = true;
            if known.is_leaving {
                numbers.remove(&known.status.goal_info.goal_id.uuid);
            }
            !known.is_leaving
        });
        GoalStatusArray { status_list }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal(id: u8) -> GoalInfo {
        let mut goal = GoalInfo::default();
        goal.goal_id.uuid = [id; 16];
        goal
    }

    fn shown(table: &mut Table) -> Vec<(u8, i8)> {
        let statuses = table.show().status_list.into_iter();
        statuses.map(|one| (one.goal_info.goal_id.uuid[0], one.status)).collect()
    }

    #[test]
    fn a_goal_is_forgotten_when_its_end_has_been_shown() {
        let mut table = Table::default();
        for id in [3, 1, 2] {
            table.set(goal(id), GoalStatus::Executing);
        }
        table.set(goal(1), GoalStatus::Succeeded);
        assert_eq!(shown(&mut table), [(3, 2), (1, 4), (2, 2)]);
        table.forget(&[1; 16]);
        table.set(goal(2), GoalStatus::Aborted);
        table.forget(&[2; 16]);
        table.forget(&[9; 16]);
        assert_eq!(shown(&mut table), [(3, 2), (2, 6)], "the end of the second is shown once");
        assert_eq!(shown(&mut table), [(3, 2)]);
        assert_eq!((table.goals.len(), table.numbers.len()), (1, 1));
        // A goal with an id that was forgotten is another goal, behind the others.
        table.set(goal(1), GoalStatus::Executing);
        table.forget(&[1; 16]);
        table.set(goal(1), GoalStatus::Canceling);
        assert_eq!(shown(&mut table), [(3, 2), (1, 3)]);
        assert_eq!(shown(&mut table), [(3, 2), (1, 3)], "it came back before it was forgotten");
    }
}

//! The goals that a client has sent: their last known statuses, and the registrations for their
//! feedback and status, which end when the last handle is dropped.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicI8, AtomicU64, Ordering};

use feros_message::GoalId;
use feros_msgs::action_msgs::msg::GoalStatusArray;
use feros_sync::Mutex;

use super::feedback::Callback;
use super::{ActionForm, Inner};
use crate::action::state::GoalStatus;

/// The last known statuses of the goals that the client follows.
#[derive(Default)]
pub(super) struct StatusBoard(Mutex<HashMap<GoalId, Arc<AtomicI8>>>);

impl StatusBoard {
    /// Updates the statuses from a message of a server. A status never returns to an earlier one,
    /// so an outdated message changes nothing.
    pub(super) fn update(&self, array: &GoalStatusArray) {
        let goals = self.0.lock();
        for said in &array.status_list {
            if let Some(status) = goals.get(&said.goal_info.goal_id.uuid) {
                let number = GoalStatus::from_number(said.status).number();
                status.fetch_max(number, Ordering::Relaxed);
            }
        }
    }
}

/// A goal that was sent. The client follows its feedback and status until this value is dropped.
pub(super) struct SentGoal<F: ActionForm> {
    client: Arc<Inner<F>>,
    id: GoalId,
    status: Arc<AtomicI8>,
}

impl<F: ActionForm> SentGoal<F> {
    pub(super) fn new(
        client: &Arc<Inner<F>>,
        id: GoalId,
        on_feedback: Option<Callback<F::Feedback>>,
    ) -> Self {
        let status = Arc::new(AtomicI8::new(GoalStatus::Unknown.number()));
        client.statuses.0.lock().insert(id, status.clone());
        if let Some(on_feedback) = on_feedback {
            client.router.enter(id, on_feedback);
        }
        Self { client: client.clone(), id, status }
    }

    pub(super) fn id(&self) -> GoalId {
        self.id
    }

    pub(super) fn client(&self) -> &Arc<Inner<F>> {
        &self.client
    }

    pub(super) fn status(&self) -> GoalStatus {
        GoalStatus::from_number(self.status.load(Ordering::Relaxed))
    }

    /// Updates the status from a response of the server.
    pub(super) fn has_become(&self, status: GoalStatus) {
        self.status.fetch_max(status.number(), Ordering::Relaxed);
    }
}

impl<F: ActionForm> Drop for SentGoal<F> {
    fn drop(&mut self) {
        self.client.statuses.0.lock().remove(&self.id);
        self.client.router.leave(&self.id);
    }
}

/// Makes an id that no other goal has: a random UUID of version 4.
pub(super) fn new_goal_id() -> GoalId {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // Each `RandomState` has random keys from the system.
    let half = |which: u8| RandomState::new().hash_one((count, which)).to_le_bytes();
    let mut id = [0; 16];
    id[..8].copy_from_slice(&half(0));
    id[8..].copy_from_slice(&half(1));
    id[6] = id[6] & 0x0f | 0x40;
    id[8] = id[8] & 0x3f | 0x80;
    id
}

#[cfg(test)]
mod tests {
    use super::*;
    use feros_msgs::action_msgs::msg::GoalStatus as Message;
    use std::collections::HashSet;

    #[test]
    fn ids_differ() {
        let ids: HashSet<GoalId> = (0..10_000).map(|_| new_goal_id()).collect();
        assert_eq!(ids.len(), 10_000);
        assert!(ids.iter().all(|id| id[6] >> 4 == 4 && id[8] >> 6 == 2));
    }

    #[test]
    fn a_status_never_goes_back() {
        let (board, status) = (StatusBoard::default(), Arc::new(AtomicI8::new(0)));
        board.0.lock().insert([1; 16], status.clone());
        for (said, expected) in [(1, 1), (4, 4), (2, 4), (100, 4), (-3, 4)] {
            let mut message = Message { status: said, ..Message::default() };
            message.goal_info.goal_id.uuid = [1; 16];
            let stranger = Message { status: 6, ..Message::default() };
            board.update(&GoalStatusArray { status_list: vec![stranger, message] });
            assert_eq!(status.load(Ordering::Relaxed), expected, "after {said}");
        }
    }
}

//! The progress of a goal. Several threads may change it: through the goal's handles, by requests
//! for the result, and when the server ends. A goal ends exactly once, and each request that waits
//! for the result is answered exactly once. Loom checks both (`tests/goals_under_loom`).

use std::collections::VecDeque;
use std::sync::Arc;

use feros_sync::Mutex;

use crate::action::state::{GoalEvent, GoalStatus};

/// The limit on the requests that wait for the result of one goal. The oldest are dropped first,
/// because a client that asks repeatedly no longer waits for the responses to its old requests.
pub(super) const WAITING_LIMIT: usize = 128;

/// A serialized response with the status and the result.
pub(super) type ResultBytes = Arc<[u8]>;

/// The progress of one goal. `R` is the type of the requests that wait for its result, and `T` is
/// the type of the time of its end.
pub(super) struct Progress<R, T>(Mutex<State<R, T>>);

struct State<R, T> {
    status: GoalStatus,
    /// The requests that wait for the result.
    waiting: VecDeque<R>,
    end: Option<End<T>>,
}

struct End<T> {
    at: T,
    result: ResultBytes,
}

/// The outcome of a request for a result.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ResultRequest<R> {
    /// The goal has ended: respond with this result.
    Respond(ResultBytes),
    /// The request waits for the end of the goal.
    Waits,
    /// The request waits for the end of the goal, and replaces the request that has waited longest.
    Displaces(R),
}

impl<R, T: Copy> Progress<R, T> {
    /// The progress of a goal that has been accepted.
    pub(super) fn new() -> Self {
        let status = GoalStatus::Accepted;
        Self(Mutex::new(State { status, waiting: VecDeque::new(), end: None }))
    }

    pub(super) fn status(&self) -> GoalStatus {
        self.0.lock().status
    }

    /// Changes the status after an event that does not end the goal. If the event is not allowed,
    /// the error is the present status.
    pub(super) fn advance(&self, event: GoalEvent) -> Result<(), GoalStatus> {
        let mut state = self.0.lock();
        let next = state.status.after(event).filter(|next| !next.is_terminal());
        state.status = next.ok_or(state.status)?;
        Ok(())
    }

    /// Ends the goal and returns the requests that wait for the result. If the event is not
    /// allowed, the error is the present status.
    pub(super) fn end(
        &self,
        event: GoalEvent,
        result: ResultBytes,
        at: T,
    ) -> Result<VecDeque<R>, GoalStatus> {
        let mut state = self.0.lock();
        let next = state.status.after(event).filter(|next| next.is_terminal());
        let next = next.ok_or(state.status)?;
        Ok(state.end_as(next, End { at, result }))
    }

    /// Ends the goal from any active status, because no code works on it anymore. Returns the
    /// requests that wait for the result; `None` if the goal has already ended.
    pub(super) fn abandon(
        &self,
        status: GoalStatus,
        result: ResultBytes,
        at: T,
    ) -> Option<VecDeque<R>> {
        let mut state = self.0.lock();
        let is_active = state.status.is_active();
        is_active.then(|| state.end_as(status, End { at, result }))
    }

    /// Handles a client's request for the result.
    pub(super) fn request_result(&self, request: R) -> ResultRequest<R> {
        let mut state = self.0.lock();
        if let Some(end) = &state.end {
            return ResultRequest::Respond(end.result.clone());
        }
        let displaced =
            (state.waiting.len() >= WAITING_LIMIT).then(|| state.waiting.pop_front()).flatten();
        state.waiting.push_back(request);
        displaced.map_or(ResultRequest::Waits, ResultRequest::Displaces)
    }

    /// The time at which the goal ended; `None` if it has not ended.
    pub(super) fn ended_at(&self) -> Option<T> {
        self.0.lock().end.as_ref().map(|end| end.at)
    }
}

impl<R, T> State<R, T> {
    fn end_as(&mut self, status: GoalStatus, end: End<T>) -> VecDeque<R> {
        (self.status, self.end) = (status, Some(end));
        std::mem::take(&mut self.waiting)
    }
}

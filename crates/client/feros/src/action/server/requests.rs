//! The executor's side of a server: handles one request per call, from the three services in
//! rotation.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Arc;

use feros_engine::{FailureCounter, Sample};
use feros_executor::{Executable, Progress, Time};
use feros_message::{GoalId, from_bytes};
use feros_msgs::action_msgs::srv::{CancelGoal_Request, CancelGoal_Response};
use feros_msgs::unique_identifier_msgs::msg::UUID;

use super::callbacks::{ActionCallbacks, CancelResponse, GoalResponse};
use super::form::{ActionServerForm, goal_response};
use super::handle::{ServerGoalHandle, WeakHandle};
use super::request_end::RequestEnd;
use super::server_core::{ServerCore, ServerEnds};
use crate::action::hex;
use crate::action::state::GoalEvent;
use crate::logging;
use crate::publish_error::PublishError;
use crate::services::service::PendingRequest;

/// Takes the requests of a server, and calls the server's callbacks to decide.
pub(super) struct Requests<F: ActionServerForm, Form, C> {
    core: Arc<ServerCore<F>>,
    ends: Arc<ServerEnds<F>>,
    callbacks: C,
    handles: Handles<F>,
    /// The index of the service that is checked first. It rotates, so that no service starves.
    first: usize,
    /// A request that was taken in advance, because some executor policies take the inputs of all
    /// entities before they run the first entity.
    taken: Option<Taken>,
    /// Counts goals that were rejected because another goal had the same id.
    known_goals: FailureCounter,
    form: PhantomData<fn() -> Form>,
}

#[derive(Clone, Copy)]
enum Kind {
    Goal,
    Cancel,
    Result,
}

impl Kind {
    const ALL: [Self; 3] = [Self::Goal, Self::Cancel, Self::Result];
}

struct Taken {
    kind: Kind,
    request: PendingRequest,
    sample: Sample,
}

impl<F, Form, C> Executable for Requests<F, Form, C>
where
    F: ActionServerForm,
    Form: 'static,
    C: ActionCallbacks<F, Form>,
{
    fn execute(&mut self) -> Progress {
        let Some(taken) = self.taken.take().or_else(|| self.take_next()) else {
            return Progress::Done;
        };
        let _logger = logging::enter_logger(self.core.logger());
        match taken.kind {
            Kind::Goal => self.take_goal(taken.request, taken.sample),
            Kind::Cancel => self.cancel(taken.request, taken.sample),
            Kind::Result => self.give_result(taken.request, taken.sample),
        }
        if self.ends.may_have_request() { Progress::More } else { Progress::Done }
    }

    fn take(&mut self) {
        if self.taken.is_none() {
            self.taken = self.take_next();
        }
    }
}

impl<F: ActionServerForm, Form, C: ActionCallbacks<F, Form>> Requests<F, Form, C> {
    pub(super) fn new(core: Arc<ServerCore<F>>, ends: Arc<ServerEnds<F>>, callbacks: C) -> Self {
        let (handles, form) = (Handles::new(), PhantomData);
        Self {
            core,
            ends,
            callbacks,
            handles,
            first: 0,
            taken: None,
            known_goals: FailureCounter::new(),
            form,
        }
    }

    fn take_next(&mut self) -> Option<Taken> {
        for turn in 0..Kind::ALL.len() {
            let kind = Kind::ALL[(self.first + turn) % Kind::ALL.len()];
            let ends = &self.ends;
            let end = match kind {
                Kind::Goal => &ends.goals,
                Kind::Cancel => &ends.cancels,
                Kind::Result => &ends.results,
            };
            if let Some((request, sample)) = end.take() {
                self.first = (self.first + turn + 1) % Kind::ALL.len();
                return Some(Taken { kind, request, sample });
            }
        }
        None
    }

    fn take_goal(&mut self, request: PendingRequest, sample: Sample) {
        let end = &self.ends.goals;
        let Some((id, goal)) = end.open(&request, sample, F::open_goal) else { return };
        let answer = GoalAnswer { end, request: Some(request) };
        if self.core.knows(&id) {
            if let Some(so_far) = self.known_goals.so_far() {
                let (action, id) = (self.core.action(), hex(&id));
                tracing::warn!(
                    "{action}: goal {id} is rejected: a goal with this id already exists{so_far}"
                );
            }
            return;
        }
        let response = self.callbacks.handle_goal(&id, &goal);
        if response == GoalResponse::Reject {
            return;
        }
        let Some(kept) = self.core.accept(id) else { return };
        let accepted_at = kept.accepted_at;
        let handle = ServerGoalHandle::new(&self.core, kept.clone(), goal);
        self.handles.keep(id, &handle);
        if let Err(error) = answer.accept(accepted_at) {
            // The client did not learn of the acceptance, so the goal ends: dropping its handle
            // cancels it.
            return end.say(Err(error));
        }
        if response == GoalResponse::AcceptAndExecute {
            // This fails if the server is ending at this moment. The server has then aborted the
            // goal.
            let _ = self.core.advance(&kept, GoalEvent::Execute);
        }
        // As in `rclcpp_action/src/server.cpp`, a goal that begins to execute immediately is not
        // published twice.
        self.core.publish_status();
        self.callbacks.handle_accepted(handle);
    }

    fn cancel(&mut self, request: PendingRequest, sample: Sample) {
        let end = &self.ends.cancels;
        let opened = end.open(&request, sample, |bytes| from_bytes::<CancelGoal_Request>(&bytes));
        let Some(message) = opened else { return };
        let (meant, code) = self.core.to_cancel(&message);
        let return_code = if meant.is_empty() { code } else { CancelGoal_Response::ERROR_REJECTED };
        let response = CancelGoal_Response { return_code, goals_canceling: Vec::new() };
        let mut answer = CancelAnswer { end, request, response };
        for goal in meant {
            // If all handles of the goal have been dropped, the goal is about to end.
            let handle = self.handles.find(&goal.id);
            let Some(handle) = handle else { continue };
            if self.callbacks.handle_cancel(&handle) == CancelResponse::Accept
                && self.core.advance(&goal, GoalEvent::CancelGoal).is_ok()
            {
                answer.response.return_code = code;
                answer.response.goals_canceling.push(goal.info());
            }
        }
        if !answer.response.goals_canceling.is_empty() {
            self.core.publish_status();
        }
    }

    fn give_result(&self, request: PendingRequest, sample: Sample) {
        // The request contains only the goal's id.
        let opened = self.ends.results.open(&request, sample, |bytes| from_bytes::<UUID>(&bytes));
        if let Some(id) = opened {
            self.core.respond_with_result(request, &id.uuid);
        }
    }
}

impl<F: ActionServerForm, Form, C> Drop for Requests<F, Form, C> {
    fn drop(&mut self) {
        self.core.close(); // before the endpoints are dropped
    }
}

/// The handles of goals that the program works on, so that the goals can be canceled.
struct Handles<F: ActionServerForm> {
    by_goal: HashMap<GoalId, WeakHandle<F>>,
    /// When there are this many handles, the handles that the program has dropped are removed.
    most: usize,
}

impl<F: ActionServerForm> Handles<F> {
    /// The least value of `most`.
    const LEAST: usize = 16;

    fn new() -> Self {
        Self { by_goal: HashMap::new(), most: Self::LEAST }
    }

    fn keep(&mut self, id: GoalId, handle: &ServerGoalHandle<F>) {
        if self.by_goal.len() >= self.most {
            self.by_goal.retain(|_, handle| handle.is_alive());
            self.most = (2 * self.by_goal.len()).max(Self::LEAST);
        }
        self.by_goal.insert(id, handle.downgrade());
    }

    fn find(&self, id: &GoalId) -> Option<ServerGoalHandle<F>> {
        self.by_goal.get(id).and_then(WeakHandle::upgrade)
    }
}

/// Answers the request for a goal. If the goal has not been accepted, dropping this value sends a
/// rejection, so that the client gets an answer even if a callback panics.
struct GoalAnswer<'a> {
    end: &'a RequestEnd,
    request: Option<PendingRequest>,
}

impl GoalAnswer<'_> {
    fn accept(mut self, accepted_at: Time) -> Result<(), PublishError> {
        let response = goal_response(Some(accepted_at));
        let request = self.request.take();
        request.map_or(Ok(()), |request| self.end.respond_serialized(&request, &response))
    }
}

impl Drop for GoalAnswer<'_> {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            self.end.say(self.end.respond_serialized(&request, &goal_response(None)));
        }
    }
}

/// Answers a request to cancel when this value is dropped, even if a callback panics. The answer
/// lists the goals that are canceling by then.
struct CancelAnswer<'a> {
    end: &'a RequestEnd,
    request: PendingRequest,
    response: CancelGoal_Response,
}

impl Drop for CancelAnswer<'_> {
    fn drop(&mut self) {
        self.end.say(self.end.respond(&self.request, &self.response));
    }
}

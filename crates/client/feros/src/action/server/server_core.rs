//! The state that a server and the handles of its goals share: the goals, and the endpoints that
//! inform clients. No lock is held while a message is sent.

use std::collections::VecDeque;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use feros_engine::{FailureCounter, SoFar};
use feros_executor::{Entity, Timer, TimerCall};
use feros_message::GoalId;
use feros_msgs::action_msgs::msg::GoalStatusArray;
use feros_msgs::action_msgs::srv::CancelGoal_Request;
use feros_sync::Mutex;

use super::form::{ActionServerForm, set_status};
use super::goals::{Goal, GoalTable};
use super::pace::StatusPace;
use super::progress::{ResultBytes, ResultRequest};
use super::request_end::RequestEnd;
use crate::action::hex;
use crate::action::state::{GoalEvent, GoalStatus, GoalTransitionError};
use crate::clock::Clock;
use crate::node::Node;
use crate::services::service::PendingRequest;
use crate::topics::publisher::Publisher;

/// The endpoints of a server. The entity on the executor owns them. When the entity is dropped,
/// because the server ends or because a callback of its node has panicked, the endpoints disappear
/// too, so that clients do not wait for answers that cannot come.
pub(super) struct ServerEnds<F: ActionServerForm> {
    pub(super) goals: RequestEnd,
    pub(super) cancels: RequestEnd,
    pub(super) results: RequestEnd,
    pub(super) feedback: F::FeedbackPublisher,
    pub(super) status: Publisher<GoalStatusArray>,
}

impl<F: ActionServerForm> ServerEnds<F> {
    /// Whether any of the three services may have a request to take.
    pub(super) fn may_have_request(&self) -> bool {
        [&self.goals, &self.cancels, &self.results].into_iter().any(RequestEnd::may_have_request)
    }
}

/// The goals of a server, with the functions that change them and inform clients.
pub(super) struct ServerCore<F: ActionServerForm> {
    action: Arc<str>,
    logger: Arc<str>,
    clock: Clock,
    ends: Weak<ServerEnds<F>>,
    /// The serialized response for goals that end without a result; the status is written into a
    /// copy.
    empty_result: Box<[u8]>,
    result_timeout: Option<Duration>,
    /// The timer that fires when the next goal is due to be forgotten.
    expiry: OnceLock<Timer>,
    state: Mutex<State>,
    pace: StatusPace,
    /// Counts requests for results that were dropped in favor of later requests.
    displaced: FailureCounter,
    /// Counts status messages that could not be published. Their goals were not affected.
    unpublished: FailureCounter,
    /// Counts goals whose handles were dropped before their end.
    dropped: FailureCounter,
}

#[derive(Default)]
struct State {
    goals: GoalTable,
    /// Whether the server is being dropped, and so takes no new goals.
    is_closed: bool,
}

impl<F: ActionServerForm> ServerCore<F> {
    pub(super) fn new(
        node: &Node,
        action: Arc<str>,
        ends: &Arc<ServerEnds<F>>,
        empty_result: Box<[u8]>,
        result_timeout: Option<Duration>,
    ) -> Arc<Self> {
        Arc::new(Self {
            action,
            logger: node.logger().clone(),
            clock: node.clock().clone(),
            ends: Arc::downgrade(ends),
            empty_result,
            result_timeout,
            expiry: OnceLock::new(),
            state: Mutex::default(),
            pace: StatusPace::default(),
            displaced: FailureCounter::new(),
            unpublished: FailureCounter::new(),
            dropped: FailureCounter::new(),
        })
    }

    /// Makes the timer that publishes the statuses that are not published at once, as an entity for
    /// the executor.
    pub(super) fn complete_in_time(core: &Arc<Self>) -> Entity {
        let weak: Weak<Self> = Arc::downgrade(core);
        core.pace.timer(move || {
            if let Some(core) = weak.upgrade() {
                core.complete_statuses();
            }
        })
    }

    /// Makes the timer that forgets goals, as an entity for the executor; `None` if results are
    /// kept as long as the server lives.
    pub(super) fn expire_in_time(core: &Arc<Self>, node: &Node) -> Option<Entity> {
        let timeout = core.result_timeout?;
        let weak: Weak<Self> = Arc::downgrade(core);
        let expire = move |_: TimerCall| {
            if let Some(core) = weak.upgrade() {
                core.expire();
            }
        };
        let (timer, entity) = Timer::one_shot(node.clock().source(), timeout, expire);
        timer.cancel(); // it is started when a goal has ended
        core.expiry.get_or_init(|| timer);
        Some(entity)
    }

    pub(super) fn action(&self) -> &Arc<str> {
        &self.action
    }

    pub(super) fn logger(&self) -> &Arc<str> {
        &self.logger
    }

    /// Counts a goal whose handles were dropped before its end. Returns the count if it is to be
    /// logged.
    pub(super) fn count_dropped(&self) -> Option<SoFar> {
        self.dropped.so_far()
    }

    /// The endpoints; `None` if the server has ended.
    pub(super) fn ends(&self) -> Option<Arc<ServerEnds<F>>> {
        self.ends.upgrade()
    }

    pub(super) fn goal_count(&self) -> usize {
        self.state.lock().goals.len()
    }

    pub(super) fn refused_requests(&self) -> u64 {
        let refused = |ends: Arc<ServerEnds<F>>| {
            [&ends.goals, &ends.cancels, &ends.results]
                .into_iter()
                .map(RequestEnd::refused)
                .sum::<u64>()
        };
        self.ends().map_or(0, refused)
    }

    pub(super) fn knows(&self, id: &GoalId) -> bool {
        self.state.lock().goals.find(id).is_some()
    }

    /// Accepts a goal. `None` means that the server is being dropped.
    pub(super) fn accept(&self, id: GoalId) -> Option<Arc<Goal>> {
        let goal = Arc::new(Goal::new(id, self.clock.now()));
        let mut state = self.state.lock();
        if state.is_closed {
            return None;
        }
        state.goals.insert(goal.clone());
        Some(goal)
    }

    /// Selects the goals that a request asks to cancel; see [`GoalTable::to_cancel`].
    pub(super) fn to_cancel(&self, request: &CancelGoal_Request) -> (Vec<Arc<Goal>>, i8) {
        self.state.lock().goals.to_cancel(request)
    }

    /// Changes the status of a goal after an event that does not end it. The caller publishes the
    /// status.
    pub(super) fn advance(&self, goal: &Goal, event: GoalEvent) -> Result<(), GoalTransitionError> {
        let refused = |status| transition_error(&self.action, goal, event, status);
        goal.advance(event).map_err(refused)
    }

    /// Ends a goal with this serialized response, and informs its clients.
    pub(super) fn end(
        &self,
        goal: &Goal,
        event: GoalEvent,
        response: Vec<u8>,
    ) -> Result<(), GoalTransitionError> {
        let response: ResultBytes = response.into();
        let ended = goal.end(event, response.clone(), self.clock.now());
        let waiting =
            ended.map_err(|status| transition_error(&self.action, goal, event, status))?;
        self.state.lock().goals.has_ended(&goal.id);
        self.respond_to_all(waiting, &response);
        self.publish_status();
        Ok(())
    }

    /// Ends a goal that no code works on anymore, with an empty result. Returns `false` if the goal
    /// had already ended.
    pub(super) fn abandon(&self, goal: &Goal, status: GoalStatus) -> bool {
        let response: ResultBytes = self.empty_result(status).into();
        let Some(waiting) = goal.abandon(status, response.clone(), self.clock.now()) else {
            return false;
        };
        self.state.lock().goals.has_ended(&goal.id);
        self.respond_to_all(waiting, &response);
        true
    }

    /// The serialized response for a goal that has this status and no result.
    fn empty_result(&self, status: GoalStatus) -> Box<[u8]> {
        let mut response = self.empty_result.clone();
        set_status(&mut response, status);
        response
    }

    /// Answers a request for the result of a goal, now or when the goal has ended.
    pub(super) fn respond_with_result(&self, request: PendingRequest, id: &GoalId) {
        let goal = self.state.lock().goals.find(id).cloned();
        match goal.map(|goal| goal.request_result(request.clone())) {
            Some(ResultRequest::Respond(result)) => {
                self.respond_to_all([request].into(), &result);
            }
            Some(ResultRequest::Waits) => {}
            Some(ResultRequest::Displaces(_)) => {
                if let Some(count) = self.displaced.count() {
                    tracing::warn!(
                        ros_logger = &*self.logger,
                        "{}: {count} requests for the result of goal {} have so far been displaced \
                         by later requests: request the result once and keep the future",
                        self.action,
                        hex(id),
                    );
                }
            }
            None => {
                self.respond_to_all([request].into(), &self.empty_result(GoalStatus::Unknown));
            }
        }
    }

    /// Publishes the statuses of all goals after a change, at once or a little later.
    pub(super) fn publish_status(&self) {
        self.pace.changed(|| self.goal_count(), || self.publish_now());
    }

    /// Publishes the changes of statuses that have not been published.
    fn complete_statuses(&self) {
        self.pace.complete(|| self.goal_count(), || self.publish_now());
    }

    fn publish_now(&self) {
        let Some(ends) = self.ends() else { return };
        let statuses = self.state.lock().goals.statuses();
        if let Err(error) = ends.status.publish(statuses)
            && let Some(so_far) = self.unpublished.so_far()
        {
            tracing::warn!(ros_logger = &*self.logger, "{error}{so_far}");
        }
        self.expire();
    }

    /// Forgets goals that are due, and sets the timer for the next goal.
    fn expire(&self) {
        let Some(timeout) = self.result_timeout else { return };
        let next = self.state.lock().goals.expire(self.clock.now(), timeout);
        if let (Some(next), Some(timer)) = (next, self.expiry.get()) {
            timer.exchange_period(next);
            timer.reset();
        }
    }

    /// Aborts all goals, and refuses new goals from now on.
    pub(super) fn close(&self) {
        let goals = {
            let mut state = self.state.lock();
            state.is_closed = true;
            state.goals.active()
        };
        let mut aborted = 0_usize;
        for goal in goals {
            aborted += usize::from(self.abandon(&goal, GoalStatus::Aborted));
        }
        if aborted > 0 {
            tracing::warn!(
                ros_logger = &*self.logger,
                "{}: the server ended while {aborted} goals were active: they are ABORTED",
                self.action
            );
            self.publish_status();
        }
        self.complete_statuses();
    }

    fn respond_to_all(&self, waiting: VecDeque<PendingRequest>, response: &[u8]) {
        let Some(ends) = self.ends() else { return };
        // Sending a response to a client that has left blocks for a moment, waiting for the client.
        // To block only once per client, all later responses to that client are skipped.
        let mut gone: Vec<[u8; 16]> = Vec::new();
        for request in waiting {
            let client = request.id().client;
            if gone.contains(&client) {
                continue;
            }
            let sent = ends.results.respond_serialized(&request, response);
            if sent.is_err() {
                gone.push(client);
            }
            ends.results.say(sent);
        }
    }
}

pub(super) fn transition_error(
    action: &str,
    goal: &Goal,
    event: GoalEvent,
    status: GoalStatus,
) -> GoalTransitionError {
    GoalTransitionError { action: action.to_owned(), goal_id: goal.id, event, status }
}

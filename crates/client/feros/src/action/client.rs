//! Clients of actions, which send goals, follow the progress of goals, request results, and cancel
//! goals.

mod call_end;
mod error;
mod feedback;
mod form;
mod futures;
mod goals;
mod handle;
mod send_goal_future;

pub use error::{CancelError, GoalResultError, SendGoalError};
pub use form::ActionForm;
pub use futures::{CancelFuture, GoalResult, ResultFuture};
pub use handle::ClientGoalHandle;
pub use send_goal_future::SendGoalFuture;

use std::sync::Arc;
use std::time::{Duration, Instant};

use feros_engine::QosProfile;
use feros_executor::Time;
use feros_message::{Action, GoalId};
use feros_msgs::action_msgs::msg::{GoalInfo, GoalStatusArray};
use feros_msgs::action_msgs::srv::{CancelGoal, CancelGoal_Request};
use feros_msgs::unique_identifier_msgs::msg::UUID;
use feros_transport::SubscriptionCounts;

use crate::action::events::{ActionEvents, Events};
use crate::action::names::{ActionIdentity, ActionNames};
use crate::action::serialized::Serialized;
use crate::action::to_message;
use crate::callbacks::group::{CallbackOptions, callback_setters};
use crate::clock::Clock;
use crate::create_error::CreateError;
use crate::messages::identity::ServiceIdentity;
use crate::node::Node;
use crate::services::client::CallError;
use crate::services::introspection::ServiceIntrospectionState;
use crate::topics::subscription::{GenericSubscription, Subscription, SubscriptionOptions};
use crate::wait_error::WaitError;
use call_end::CallEnd;
use feedback::FeedbackRouter;
use goals::{SentGoal, StatusBoard, new_goal_id};

/// The options of an action client. The defaults are the same as in `rcl_action`.
#[derive(Clone)]
pub struct ActionClientOptions {
    /// The QoS policies of the service that takes goals.
    pub goal_service_qos: QosProfile,
    /// The QoS policies of the service that cancels goals.
    pub cancel_service_qos: QosProfile,
    /// The QoS policies of the service that returns results.
    pub result_service_qos: QosProfile,
    /// The QoS policies of the feedback topic.
    pub feedback_topic_qos: QosProfile,
    /// The QoS policies of the status topic.
    pub status_topic_qos: QosProfile,
    /// The scheduling options of the callbacks for feedback and status.
    pub callback: CallbackOptions,
}

callback_setters!(ActionClientOptions);

impl Default for ActionClientOptions {
    fn default() -> Self {
        Self {
            goal_service_qos: QosProfile::services_default(),
            cancel_service_qos: QosProfile::services_default(),
            result_service_qos: QosProfile::services_default(),
            feedback_topic_qos: QosProfile::default(),
            status_topic_qos: QosProfile::action_status_default(),
            callback: CallbackOptions::default(),
        }
    }
}

/// Sends goals of an action and follows their progress. Clones share the endpoints, which live as
/// long as any clone or goal handle.
///
/// Sending goals, requesting results and canceling need no executor. Each of these functions
/// returns a future; await it, or block with its `wait`. Feedback and status arrive only while an
/// executor spins the client's node.
pub struct ActionClient<F: ActionForm>(Arc<Inner<F>>);

/// Sends goals of an action whose type is known only at run time, as serialized messages.
pub type GenericActionClient = ActionClient<Serialized>;

struct Inner<F: ActionForm> {
    action: String,
    identity: ActionIdentity,
    node: Node,
    send_goal: CallEnd,
    cancel_goal: CallEnd,
    get_result: CallEnd,
    events: ActionEvents,
    feedback: GenericSubscription,
    status: Subscription<GoalStatusArray>,
    statuses: Arc<StatusBoard>,
    router: Arc<FeedbackRouter<F::Feedback>>,
}

impl<F: ActionForm> Clone for ActionClient<F> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<A: Action> ActionClient<A> {
    /// Turns introspection on: publishes events of each request to the action's three services on
    /// their topics `_service_event`, with the times of `clock` and the policies `qos`.
    /// [`ServiceIntrospectionState::Off`], the initial state, turns it off.
    ///
    /// One event is published when a request is sent, and one when the caller takes the response.
    /// `feros action echo` shows the events.
    ///
    /// # Errors
    /// When the policies are not allowed, or the engine refuses a publisher. Services that were
    /// configured before the error stay configured.
    ///
    /// ```no_run
    /// # let node: feros::Node = unimplemented!();
    /// use feros::msgs::example_interfaces::action::Fibonacci;
    /// use feros::{QosProfile, ServiceIntrospectionState};
    /// let client = node.create_action_client::<Fibonacci>("fibonacci")?;
    /// let metadata = ServiceIntrospectionState::Metadata;
    /// client.configure_introspection(node.clock(), QosProfile::system_default(), metadata)?;
    /// # Ok::<(), feros::Error>(())
    /// ```
    pub fn configure_introspection(
        &self,
        clock: &Clock,
        qos: impl Into<QosProfile>,
        state: ServiceIntrospectionState,
    ) -> Result<(), CreateError> {
        let inner = &self.0;
        inner.events.configure(&inner.node, &inner.action, clock, qos.into(), state)
    }
}

impl<F: ActionForm> ActionClient<F> {
    pub(crate) fn new(
        node: &Node,
        name: &str,
        identity: &ActionIdentity,
        options: ActionClientOptions,
    ) -> Result<Self, CreateError> {
        let action = node.resolve_topic_name(name, false)?;
        let names = ActionNames::of(&action);
        let cancel_goal = ServiceIdentity::of::<CancelGoal>();
        let events = F::events();
        let end = |service: &str, identity: &ServiceIdentity, qos, events: &Events| {
            CallEnd::new(node, service, identity, qos, events)
        };
        let subscription = |qos: QosProfile| SubscriptionOptions {
            callback: options.callback.clone(),
            ..SubscriptionOptions::from(qos)
        };
        let (router, statuses) =
            (Arc::new(FeedbackRouter::new()), Arc::new(StatusBoard::default()));
        let board = statuses.clone();
        let (goal_qos, result_qos) = (options.goal_service_qos, options.result_service_qos);
        let cancel_qos = options.cancel_service_qos;
        F::note_types(node);
        Ok(Self(Arc::new(Inner {
            // The subscriptions are made first. An engine on DDS announces readers in the order in
            // which they are made, and a service counts as ready only after the server has
            // acknowledged the reader of responses. So a ready server knows the subscriptions, too.
            feedback: F::subscribe(
                node,
                &names.feedback,
                &identity.feedback,
                subscription(options.feedback_topic_qos),
                router.clone(),
            )?,
            status: node.create_subscription(
                &names.status,
                // Lost messages are not logged. Each message has the statuses of all goals, so the
                // last message is enough, and a quick goal may replace messages before the
                // subscription takes them.
                subscription(options.status_topic_qos).log_lost_messages(false),
                move |array: Arc<GoalStatusArray>| board.update(&array),
            )?,
            send_goal: end(&names.send_goal, &identity.send_goal, goal_qos, &events.goals)?,
            cancel_goal: end(&names.cancel_goal, &cancel_goal, cancel_qos, &events.cancels)?,
            get_result: end(&names.get_result, &identity.get_result, result_qos, &events.results)?,
            events,
            action,
            identity: identity.clone(),
            node: node.clone(),
            statuses,
            router,
        })))
    }

    /// The fully qualified name of the action, after remapping.
    pub fn action_name(&self) -> &str {
        &self.0.action
    }

    /// Whether there is a server with all endpoints of the action, so that a goal sent now is
    /// answered and its feedback arrives.
    pub fn server_is_ready(&self) -> bool {
        self.0.services_are_ready()
            && self.0.feedback.publisher_count() > 0
            && self.0.status.publisher_count() > 0
    }

    /// Waits until there is a server with all endpoints of the action.
    ///
    /// # Errors
    /// When `timeout` passes or the context is shut down before there is a server.
    pub fn wait_for_server(&self, timeout: Duration) -> Result<(), WaitError> {
        let what = || self.0.server();
        self.0.node.context().wait_for_graph(timeout, what, || self.server_is_ready())
    }

    /// The asynchronous form of [`wait_for_server`](Self::wait_for_server), for any runtime. This
    /// wait has no timeout: use the timer of the runtime.
    ///
    /// # Errors
    /// When the context is shut down before there is a server.
    pub async fn wait_for_server_async(&self) -> Result<(), WaitError> {
        let what = || self.0.server();
        self.0.node.context().wait_for_graph_async(what, || self.server_is_ready()).await
    }

    /// The numbers of feedback messages received so far for all goals, by transport.
    pub fn feedback_counts(&self) -> SubscriptionCounts {
        self.0.feedback.counts()
    }

    /// Sends a goal. Await the future to learn whether the server accepts it, or block with
    /// [`SendGoalFuture::wait`].
    ///
    /// # Errors
    /// When no server is ready; when the goal cannot be serialized, for example because it exceeds
    /// a bound of its type; or when it cannot be sent.
    pub fn send_goal(&self, goal: F::Goal) -> Result<SendGoalFuture<F>, SendGoalError> {
        self.send(goal, None)
    }

    /// Sends a goal, as [`send_goal`](Self::send_goal) does. The executor of the client's node
    /// calls `on_feedback` for each feedback message of the goal, as long as the future or a handle
    /// of the goal lives.
    ///
    /// # Errors
    /// See [`send_goal`](Self::send_goal).
    pub fn send_goal_with_feedback(
        &self,
        goal: F::Goal,
        on_feedback: impl FnMut(F::Feedback) + Send + 'static,
    ) -> Result<SendGoalFuture<F>, SendGoalError> {
        self.send(goal, Some(Box::new(on_feedback)))
    }

    /// Blocks until there is a server, sends a goal and blocks until the goal is accepted, for at
    /// most `timeout` in total.
    ///
    /// # Errors
    /// See [`SendGoalError`]. The goal is not sent if the calling callback itself keeps the server
    /// from running ([`CallError::ServerBlocked`](crate::CallError::ServerBlocked)).
    pub fn send_goal_and_wait(
        &self,
        goal: F::Goal,
        timeout: Duration,
    ) -> Result<ClientGoalHandle<F>, SendGoalError> {
        let started = Instant::now();
        let id = new_goal_id();
        let request = F::request(id, goal);
        let send = || {
            self.0.send_goal.check_servers()?;
            self.send_request(id, &request, None)
        };
        let mut sent = send();
        if let Err(SendGoalError::NoServer { .. }) = sent {
            self.wait_for_server(timeout).map_err(|error| match error {
                WaitError::Timeout { .. } => self.0.no_server(),
                WaitError::Shutdown { what } => CallError::Shutdown { service: what }.into(),
            })?;
            sent = send();
        }
        sent?.wait(timeout.saturating_sub(started.elapsed()))
    }

    fn send(
        &self,
        goal: F::Goal,
        on_feedback: Option<feedback::Callback<F::Feedback>>,
    ) -> Result<SendGoalFuture<F>, SendGoalError> {
        let id = new_goal_id();
        self.send_request(id, &F::request(id, goal), on_feedback)
    }

    /// Sends a request for a goal if a server is ready. `F::send_goal` checks for a server that
    /// takes goals, so only the other two services are checked first.
    fn send_request(
        &self,
        id: GoalId,
        request: &F::Request,
        on_feedback: Option<feedback::Callback<F::Feedback>>,
    ) -> Result<SendGoalFuture<F>, SendGoalError> {
        let inner = &self.0;
        if !(inner.cancel_goal.is_ready() && inner.get_result.is_ready()) {
            return Err(inner.no_server());
        }
        // The goal is registered before it is sent, because its feedback may arrive before the
        // answer.
        let sent = SentGoal::new(inner, id, on_feedback);
        let response = F::send_goal(&inner.send_goal, request).map_err(|error| match error {
            CallError::ServerLeft { .. } => inner.no_server(),
            other => other.into(),
        })?;
        Ok(SendGoalFuture::new(response, sent))
    }

    /// Asks the server to cancel a goal, which any client may have sent.
    ///
    /// # Errors
    /// When there is no server, or the request cannot be sent.
    pub fn cancel_goal(&self, goal_id: &GoalId) -> Result<CancelFuture, CancelError> {
        self.0.cancel(goal_id, Time::ZERO)
    }

    /// Asks the server to cancel all goals, of all clients.
    ///
    /// # Errors
    /// See [`cancel_goal`](Self::cancel_goal).
    pub fn cancel_all_goals(&self) -> Result<CancelFuture, CancelError> {
        self.0.cancel(&[0; 16], Time::ZERO)
    }

    /// Asks the server to cancel all goals, of all clients, that it accepted up to the time
    /// `stamp`. Time zero means all goals.
    ///
    /// # Errors
    /// See [`cancel_goal`](Self::cancel_goal).
    pub fn cancel_goals_before(&self, stamp: Time) -> Result<CancelFuture, CancelError> {
        self.0.cancel(&[0; 16], stamp)
    }

    /// Requests the result of a goal, which any client may have sent.
    ///
    /// # Errors
    /// When there is no server, or the request cannot be sent.
    pub fn get_result(&self, goal_id: &GoalId) -> Result<ResultFuture<F>, GoalResultError> {
        self.0.clone().get_result(*goal_id, None)
    }
}

impl<F: ActionForm> Inner<F> {
    /// The awaited server, as error messages name it.
    fn server(&self) -> String {
        format!("a server of the action {}", self.action)
    }

    fn no_server(&self) -> SendGoalError {
        SendGoalError::NoServer { action: self.action.clone() }
    }

    fn services_are_ready(&self) -> bool {
        [&self.send_goal, &self.cancel_goal, &self.get_result].into_iter().all(CallEnd::is_ready)
    }

    fn cancel(&self, goal_id: &GoalId, stamp: Time) -> Result<CancelFuture, CancelError> {
        let named = (*goal_id != [0; 16]).then_some(*goal_id);
        let goal_id = UUID { uuid: *goal_id };
        let goal_info = GoalInfo { goal_id, stamp: to_message(stamp) };
        let request = CancelGoal_Request { goal_info };
        let response = self.cancel_goal.call(&request)?;
        Ok(CancelFuture::new(response, self.action.clone(), named))
    }

    fn get_result(
        self: Arc<Self>,
        goal_id: GoalId,
        sent: Option<Arc<SentGoal<F>>>,
    ) -> Result<ResultFuture<F>, GoalResultError> {
        let mut request = vec![0, 1, 0, 0];
        request.extend(goal_id);
        let response = self.get_result.call_serialized(&request)?;
        Ok(ResultFuture::new(response, self, goal_id, sent))
    }
}

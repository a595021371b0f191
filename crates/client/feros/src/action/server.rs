//! Servers of actions, which take goals, keep each goal until some time after its end, and report
//! progress to clients.

mod callbacks;
mod form;
mod goals;
mod handle;
mod pace;
mod progress;
mod request_end;
mod requests;
mod server_core;
mod statuses;

pub use callbacks::{ActionCallbacks, CancelResponse, GoalResponse};
pub use form::ActionServerForm;
pub use handle::{FeedbackError, ServerGoalHandle, SetResultError};
pub use statuses::GoalStatuses;

use std::sync::Arc;
use std::time::Duration;

use feros_engine::QosProfile;
use feros_executor::{Entity, Kind, Ringer};
use feros_message::Action;
use feros_msgs::action_msgs::srv::CancelGoal;

use crate::action::events::{ActionEvents, Events};
use crate::action::names::{ActionIdentity, ActionNames};
use crate::action::serialized::Serialized;
use crate::action::state::GoalStatus;
use crate::callbacks::group::{CallbackOptions, callback_setters};
use crate::callbacks::node_members::Member;
use crate::clock::Clock;
use crate::create_error::CreateError;
use crate::messages::identity::ServiceIdentity;
use crate::messages::serialize::header_fault;
use crate::node::{Node, WeakNode};
use crate::services::introspection::ServiceIntrospectionState;
use crate::services::service::registry;
use request_end::RequestEnd;
use requests::Requests;
use server_core::{ServerCore, ServerEnds};

/// The options of an action server. The defaults are the same as in `rcl_action`.
#[derive(Clone)]
pub struct ActionServerOptions {
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
    /// How long, by the node's clock, the server keeps a result after the end of its goal, for late
    /// requests. 10 s by default; with `None`, results are kept as long as the server lives.
    pub result_timeout: Option<Duration>,
    /// The scheduling options of the callbacks.
    pub callback: CallbackOptions,
}

callback_setters!(ActionServerOptions);

impl Default for ActionServerOptions {
    fn default() -> Self {
        Self {
            goal_service_qos: QosProfile::services_default(),
            cancel_service_qos: QosProfile::services_default(),
            result_service_qos: QosProfile::services_default(),
            feedback_topic_qos: QosProfile::default(),
            status_topic_qos: QosProfile::action_status_default(),
            result_timeout: Some(Duration::from_secs(10)),
            callback: CallbackOptions::default(),
        }
    }
}

impl ActionServerOptions {
    /// Sets how long a result is kept after the end of its goal.
    #[must_use]
    pub fn result_timeout(self, result_timeout: impl Into<Option<Duration>>) -> Self {
        Self { result_timeout: result_timeout.into(), ..self }
    }
}

/// Takes the goals of an action until it is dropped. The executor that spins its node calls the
/// server's [`ActionCallbacks`].
///
/// When the server is dropped, goals that have not ended are aborted, and their clients get an
/// empty result with the status aborted.
#[must_use = "an action ends when its server is dropped"]
pub struct ActionServer<F: ActionServerForm> {
    action: Arc<str>,
    core: Arc<ServerCore<F>>,
    node: WeakNode,
    events: ActionEvents,
    _entries: [registry::Entry; 3],
    _members: Vec<Member>,
}

/// Takes the goals of an action whose type is known only at run time, as serialized messages.
pub type GenericActionServer = ActionServer<Serialized>;

impl<A: Action> ActionServer<A> {
    pub(crate) fn of_type<Form: 'static>(
        node: &Node,
        name: &str,
        options: ActionServerOptions,
        callbacks: impl ActionCallbacks<A, Form>,
    ) -> Result<Self, CreateError> {
        // A default value never violates its type, so the fallback, which has the status only, is
        // never sent.
        let empty_result = A::close_result(GoalStatus::Unknown, <A as Action>::Result::default())
            .unwrap_or_else(|_| vec![0, 1, 0, 0, 0]);
        Self::new(node, name, &ActionIdentity::of::<A>(), empty_result, options, callbacks)
    }

    /// Turns introspection on: publishes events of each request to the action's three services on
    /// their topics `_service_event`, with the times of `clock` and the policies `qos`.
    /// [`ServiceIntrospectionState::Off`], the initial state, turns it off.
    ///
    /// One event is published when a request is taken, before a callback decides, and one when the
    /// response is sent. `feros action echo` shows the events.
    ///
    /// # Errors
    /// When the node no longer exists, the policies are not allowed, or the engine refuses a
    /// publisher. Services that were configured before the error stay configured.
    pub fn configure_introspection(
        &self,
        clock: &Clock,
        qos: impl Into<QosProfile>,
        state: ServiceIntrospectionState,
    ) -> Result<(), CreateError> {
        let gone = || CreateError::NodeGone { name: self.action.to_string() };
        let node = self.node.upgrade().ok_or_else(gone)?;
        self.events.configure(&node, &self.action, clock, qos.into(), state)
    }
}

impl<F: ActionServerForm> ActionServer<F> {
    pub(crate) fn new<Form: 'static>(
        node: &Node,
        name: &str,
        identity: &ActionIdentity,
        empty_result: Vec<u8>,
        options: ActionServerOptions,
        callbacks: impl ActionCallbacks<F, Form>,
    ) -> Result<Self, CreateError> {
        let name = node.resolve_topic_name(name, false)?;
        if let Some(reason) = header_fault(&empty_result) {
            let (node, action) = (node.name().clone(), name);
            return Err(CreateError::EmptyResult { node, action, reason });
        }
        let (ringer, events) = (Ringer::new(), F::events());
        let ends = Arc::new(Self::make_ends(node, &name, identity, &options, &ringer, &events)?);
        F::note_types(node);
        let gids = [ends.goals.gid(), ends.cancels.gid(), ends.results.gid()];
        let action: Arc<str> = name.as_str().into();
        let (empty_result, result_timeout) = (empty_result.into(), options.result_timeout);
        let core = ServerCore::new(node, action.clone(), &ends, empty_result, result_timeout);
        let requests = Requests::<F, Form, _>::new(core.clone(), ends, callbacks);
        let entity = Entity::new(&ringer, requests);
        let member = node.add_member_with(&name, entity, Kind::Service, &options.callback)?;
        let entries = gids.map(|gid| registry::enter(gid, &member));
        let completes = ServerCore::complete_in_time(&core);
        let completes = node.add_member_with(&name, completes, Kind::Timer, &options.callback)?;
        let mut members = vec![member, completes];
        if let Some(entity) = ServerCore::expire_in_time(&core, node) {
            members.push(node.add_member_with(&name, entity, Kind::Timer, &options.callback)?);
        }
        let node = node.downgrade();
        Ok(Self { action, core, node, events, _entries: entries, _members: members })
    }

    fn make_ends(
        node: &Node,
        action: &str,
        identity: &ActionIdentity,
        options: &ActionServerOptions,
        ringer: &Ringer,
        events: &ActionEvents,
    ) -> Result<ServerEnds<F>, CreateError> {
        let (names, cancel_goal) = (ActionNames::of(action), ServiceIdentity::of::<CancelGoal>());
        let end = |service: &str, identity: &ServiceIdentity, qos, events: &Events| {
            RequestEnd::new(node, service, identity, qos, ringer, events.clone())
        };
        let (goal_qos, result_qos) = (options.goal_service_qos, options.result_service_qos);
        let cancel_qos = options.cancel_service_qos;
        Ok(ServerEnds {
            goals: end(&names.send_goal, &identity.send_goal, goal_qos, &events.goals)?,
            cancels: end(&names.cancel_goal, &cancel_goal, cancel_qos, &events.cancels)?,
            results: end(&names.get_result, &identity.get_result, result_qos, &events.results)?,
            feedback: F::create_feedback_publisher(
                node,
                &names.feedback,
                &identity.feedback,
                options.feedback_topic_qos,
            )?,
            status: node.create_publisher(&names.status, options.status_topic_qos)?,
        })
    }

    /// The fully qualified name of the action, after remapping.
    pub fn action_name(&self) -> &str {
        &self.action
    }

    /// The number of goals that the server stores: goals that have not ended, and goals whose
    /// results it still keeps.
    pub fn goal_count(&self) -> usize {
        self.core.goal_count()
    }

    /// The number of requests that were refused because they do not have the action's type.
    pub fn refused_requests(&self) -> u64 {
        self.core.refused_requests()
    }
}

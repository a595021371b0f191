//! Servers of actions: they take goals, keep them until some time after their end, and tell clients
//! how it goes.

mod callbacks;
mod goals;
mod handle;
mod request_end;
mod requests;
mod server_core;

pub use callbacks::{ActionCallbacks, CancelResponse, GoalResponse};
pub use handle::{FeedbackError, ServerGoalHandle, SetResultError};

use std::sync::Arc;
use std::time::Duration;

use feros_executor::{Entity, Kind, Ringer};
use feros_message::Action;
use feros_msgs::action_msgs::srv::CancelGoal;
use feros_rmw::QosProfile;

use crate::action::names::{ActionIdentity, ActionNames};
use crate::callback_group::{CallbackOptions, callback_setters};
use crate::create_error::CreateError;
use crate::identity::ServiceIdentity;
use crate::node::Node;
use crate::node_members::Member;
use crate::service::registry;
use request_end::RequestEnd;
use requests::Requests;
use server_core::{ServerCore, ServerEnds};

/// How a server of an action is made; the defaults are those of `rcl_action`.
#[derive(Clone)]
pub struct ActionServerOptions {
    /// Policies of the service that takes goals.
    pub goal_service_qos: QosProfile,
    /// Policies of the service that cancels goals.
    pub cancel_service_qos: QosProfile,
    /// Policies of the service that gives results.
    pub result_service_qos: QosProfile,
    /// Policies of the feedback topic.
    pub feedback_topic_qos: QosProfile,
    /// Policies of the status topic.
    pub status_topic_qos: QosProfile,
    /// How long, by the node's clock, the result of a goal is kept after its end for clients that
    /// ask late; `None` keeps it as long as the server lives. 10 s if not said.
    pub result_timeout: Option<Duration>,
    /// How the callbacks are scheduled.
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
    /// These options, with results kept so long after the end of their goals.
    #[must_use]
    pub fn result_timeout(self, result_timeout: impl Into<Option<Duration>>) -> Self {
        Self { result_timeout: result_timeout.into(), ..self }
    }
}

/// Takes the goals of an action for as long as it lives; the executor that spins its node calls its
/// [`ActionCallbacks`].
///
/// When it is dropped, goals that have not ended are aborted, and their clients get that as their
/// result.
#[must_use = "an action ends when its server is dropped"]
pub struct ActionServer<A: Action> {
    action: Arc<str>,
    core: Arc<ServerCore<A>>,
    _entries: [registry::Entry; 3],
    _members: Vec<Member>,
}

impl<A: Action> ActionServer<A> {
    pub(crate) fn new<Form: 'static>(
        node: &Node,
        name: &str,
        options: ActionServerOptions,
        callbacks: impl ActionCallbacks<A, Form>,
    ) -> Result<Self, CreateError> {
        let name = node.resolve_topic_name(name, false)?;
        let (names, identity) = (ActionNames::of(&name), ActionIdentity::of::<A>());
        let cancel_goal = ServiceIdentity::of::<CancelGoal>();
        let ringer = Ringer::new();
        let end = |service: &str, identity: &ServiceIdentity, qos| {
            RequestEnd::new(node, service, identity, qos, &ringer)
        };
        let ends = Arc::new(ServerEnds {
            goals: end(&names.send_goal, &identity.send_goal, options.goal_service_qos)?,
            cancels: end(&names.cancel_goal, &cancel_goal, options.cancel_service_qos)?,
            results: end(&names.get_result, &identity.get_result, options.result_service_qos)?,
            feedback: node.create_publisher(&names.feedback, options.feedback_topic_qos)?,
            status: node.create_publisher(&names.status, options.status_topic_qos)?,
        });
        let gids = [ends.goals.gid(), ends.cancels.gid(), ends.results.gid()];
        let action: Arc<str> = name.as_str().into();
        let core = ServerCore::new(node, action.clone(), &ends, options.result_timeout);
        let requests = Requests::<A, Form, _>::new(core.clone(), ends, callbacks);
        let entity = Entity::new(&ringer, requests);
        let member = node.add_member_with(&name, entity, Kind::Service, &options.callback)?;
        let entries = gids.map(|gid| registry::enter(gid, &member));
        let mut members = vec![member];
        if let Some(entity) = ServerCore::expire_in_time(&core, node) {
            members.push(node.add_member_with(&name, entity, Kind::Timer, &options.callback)?);
        }
        Ok(Self { action, core, _entries: entries, _members: members })
    }

    /// The fully qualified name of the action, after remapping.
    pub fn action_name(&self) -> &str {
        &self.action
    }

    /// Goals that are known: those that have not ended, and those whose results are still kept.
    pub fn goal_count(&self) -> usize {
        self.core.goal_count()
    }

    /// Requests that were refused because they are none of the action's type.
    pub fn refused_requests(&self) -> u64 {
        self.core.refused_requests()
    }
}

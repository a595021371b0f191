//! The client that manages another node, which may be a Feros node or a stock ROS 2 node.

use std::time::Duration;

use feros_engine::QosProfile;
use feros_msgs::lifecycle_msgs::msg::{
    State as StateMessage, TransitionDescription, TransitionEvent,
};
use feros_msgs::lifecycle_msgs::srv::{
    ChangeState, ChangeState_Request, GetAvailableStates, GetAvailableStates_Request,
    GetAvailableTransitions, GetAvailableTransitions_Request, GetState, GetState_Request,
};

use crate::create_error::CreateError;
use crate::error::Error;
use crate::lazy_client::LazyClient;
use crate::lifecycle_states::transition::TransitionKey;
use crate::node::Node;
use crate::topics::subscription::Subscription;

/// Reads and changes the state of a managed node.
///
/// Every call waits for the service and for the response, for at most the given time. Endpoints are
/// made when they are first needed. States and transitions are returned as the node sends them,
/// because it may have states that [`State`](crate::lifecycle::State) does not have.
///
/// ```no_run
/// # let node: feros::Node = unimplemented!();
/// use feros::LifecycleClient;
/// use feros::lifecycle::Transition;
/// use std::time::Duration;
/// let driver = LifecycleClient::new(&node, "/robot/driver")?;
/// let soon = Duration::from_secs(2);
/// if driver.change_state(Transition::CONFIGURE, soon)? {
///     println!("{}", driver.get_state(soon)?.label);
/// }
/// # Ok::<(), feros::Error>(())
/// ```
pub struct LifecycleClient {
    node: Node,
    remote: String,
    change_state: LazyClient<ChangeState>,
    get_state: LazyClient<GetState>,
    get_available_states: LazyClient<GetAvailableStates>,
    get_available_transitions: LazyClient<GetAvailableTransitions>,
    get_transition_graph: LazyClient<GetAvailableTransitions>,
}

impl LifecycleClient {
    /// Makes a client for the node with the name `remote`, which is resolved like the names of
    /// services of `node`.
    ///
    /// # Errors
    /// When the name is not allowed.
    pub fn new(node: &Node, remote: &str) -> Result<Self, CreateError> {
        let remote = feros_engine::name::expand_topic_name(remote, node.name())?;
        let qos = QosProfile::services_default();
        let service = |name| format!("{remote}/{name}");
        Ok(Self {
            node: node.clone(),
            change_state: LazyClient::new(service("change_state"), qos),
            get_state: LazyClient::new(service("get_state"), qos),
            get_available_states: LazyClient::new(service("get_available_states"), qos),
            get_available_transitions: LazyClient::new(service("get_available_transitions"), qos),
            get_transition_graph: LazyClient::new(service("get_transition_graph"), qos),
            remote,
        })
    }

    /// The fully qualified name of the other node.
    pub fn remote_name(&self) -> &str {
        &self.remote
    }

    /// Requests a transition, which is given as its number, its label or a
    /// [`Transition`](super::Transition); returns whether the transition succeeded. The response
    /// comes only when the node's callback has ended, so choose a timeout that is long enough for
    /// the callback.
    ///
    /// # Errors
    /// When the node's service does not exist or does not answer in time; the transition may then
    /// still be under way.
    pub fn change_state<'a>(
        &self,
        transition: impl Into<TransitionKey<'a>>,
        timeout: Duration,
    ) -> Result<bool, Error> {
        let request = ChangeState_Request { transition: transition.into().to_message() };
        Ok(self.change_state.call(&self.node, &request, timeout)?.success)
    }

    /// Returns the state of the node.
    ///
    /// # Errors
    /// When the node's service does not exist or does not answer in time.
    pub fn get_state(&self, timeout: Duration) -> Result<StateMessage, Error> {
        let response = self.get_state.call(&self.node, &GetState_Request::default(), timeout)?;
        Ok(response.current_state)
    }

    /// Returns all states that the node may be in.
    ///
    /// # Errors
    /// When the node's service does not exist or does not answer in time.
    pub fn get_available_states(&self, timeout: Duration) -> Result<Vec<StateMessage>, Error> {
        let request = GetAvailableStates_Request::default();
        Ok(self.get_available_states.call(&self.node, &request, timeout)?.available_states)
    }

    /// Returns the transitions that begin in the node's current state.
    ///
    /// # Errors
    /// When the node's service does not exist or does not answer in time.
    pub fn get_available_transitions(
        &self,
        timeout: Duration,
    ) -> Result<Vec<TransitionDescription>, Error> {
        let request = GetAvailableTransitions_Request::default();
        let response = self.get_available_transitions.call(&self.node, &request, timeout)?;
        Ok(response.available_transitions)
    }

    /// Returns all transitions that the node has.
    ///
    /// # Errors
    /// When the node's service does not exist or does not answer in time.
    pub fn get_transition_graph(
        &self,
        timeout: Duration,
    ) -> Result<Vec<TransitionDescription>, Error> {
        let request = GetAvailableTransitions_Request::default();
        let response = self.get_transition_graph.call(&self.node, &request, timeout)?;
        Ok(response.available_transitions)
    }

    /// Makes a subscription that calls `callback`, on the executor of the client's node, for each
    /// transition that the other node begins or ends. Stock nodes leave `timestamp` and
    /// `transition` empty.
    ///
    /// # Errors
    /// When the engine refuses the subscription.
    pub fn on_transition_event(
        &self,
        mut callback: impl FnMut(TransitionEvent) + Send + 'static,
    ) -> Result<Subscription<TransitionEvent>, CreateError> {
        let topic = format!("{}/transition_event", self.remote);
        self.node.create_subscription(&topic, 10, move |event: TransitionEvent| callback(event))
    }
}

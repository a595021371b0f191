//! The node: a name under which publishers, subscriptions, services, clients and timers come
//! together.

mod options;

pub use options::NodeOptions;

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, Weak};
use std::time::Duration;

use feros_executor::{Entity, GuardCondition, Kind, Timer, TimerCall};
use feros_message::{Message, Service as ServiceType};
use feros_rmw::graph::{EndpointNode, NamesAndTypes};
use feros_rmw::{EndpointInfo, EndpointKind, Gid, MessageInfo, NodeId, NodeName, Session};
use feros_shm::{Transport, TransportSet};

use crate::arguments::{RemapRule, remap_name};
use crate::client::{Client, ClientOptions, GenericClient};
use crate::clock::{Clock, ClockType};
use crate::context::Context;
use crate::endpoint::{Member, NodeMembers};
use crate::error::{CreateError, ServiceIdentity, TypeIdentity};
use crate::executor::{CallbackGroup, CallbackGroupKind, CallbackOptions};
use crate::message_forms::SerializedMessage;
use crate::mismatches::FoundMismatch;
use crate::parameter::{
    DeclareParameterError, EVENTS_TOPIC, NodeParameters, ParameterServices, ParameterValue,
};
use crate::publisher::{GenericPublisher, Publisher, PublisherOptions};
use crate::rosout;
use crate::service::{Service, ServiceCallback, ServiceOptions};
use crate::subscription::{
    GenericSubscription, Subscription, SubscriptionCallback, SubscriptionOptions,
};
use crate::timer::{NodeTimer, TimerOptions};

/// A node of the ROS graph. Clones are the same node; it leaves the graph with the last clone and
/// endpoint.
///
/// Its callbacks run on the executor that it is added to; see [`Executor`](crate::Executor) and
/// [`spin`](crate::spin).
#[derive(Clone)]
pub struct Node(Arc<NodeInner>);

struct NodeInner {
    context: Context,
    id: NodeId,
    name: NodeName,
    logger: Arc<str>,
    use_global_arguments: bool,
    /// Rules of this node alone.
    remap_rules: Box<[RemapRule]>,
    parameters: NodeParameters,
    parameter_services: OnceLock<ParameterServices>,
    transports: TransportSet,
    members: NodeMembers,
    clock: Clock,
    rosout: Option<Arc<rosout::Rosout>>,
}

/// A node that may be gone.
#[derive(Clone)]
pub(crate) struct WeakNode(Weak<NodeInner>);

impl WeakNode {
    pub(crate) fn upgrade(&self) -> Option<Node> {
        self.0.upgrade().map(Node)
    }
}

impl Drop for NodeInner {
    fn drop(&mut self) {
        self.rosout = None;
        drop(self.parameter_services.take());
        self.parameters.stop_events();
        self.clock.stop_following();
        self.context.session().remove_node(self.id);
    }
}

impl Node {
    pub(crate) fn new(context: &Context, mut options: NodeOptions) -> Result<Self, CreateError> {
        let name = options.remapped_name(context)?;
        let parameter_overrides = options.resolve_overrides(context, &name)?;
        let engine_error = |source| CreateError::Engine { node: name.clone(), source };
        let id = context.session().create_node(&name).map_err(engine_error)?;
        let wants_rosout =
            options.enable_rosout && context.arguments().log_to_rosout != Some(false);
        let rosout = wants_rosout.then(|| rosout::Rosout::new(context.session(), id)).transpose();
        let rosout =
            rosout.inspect_err(|_| context.session().remove_node(id)).map_err(engine_error)?;
        let mut transports = context.transports();
        if !options.use_intra_process_comms {
            transports = transports.without(Transport::IntraProcess);
        }
        let clock = Clock::new(ClockType::Ros);
        let parameters = NodeParameters::new(
            &name,
            &clock,
            options.allow_undeclared_parameters,
            parameter_overrides,
        );
        let node = Self(Arc::new(NodeInner {
            context: context.clone(),
            id,
            logger: logger_name(&name).into(),
            name,
            use_global_arguments: options.use_global_arguments,
            remap_rules: std::mem::take(&mut options.arguments.remap_rules).into(),
            parameters,
            parameter_services: OnceLock::new(),
            transports,
            members: NodeMembers::default(),
            clock,
            rosout,
        }));
        if let Some(rosout) = &node.0.rosout {
            rosout.listen_to(&node.0.logger);
        }
        node.start_parameters(&options)?;
        Ok(node)
    }

    /// Declares the parameters that every node has, and makes them known to other nodes.
    fn start_parameters(&self, options: &NodeOptions) -> Result<(), CreateError> {
        let parameters = &self.0.parameters;
        if options.start_parameter_event_publisher {
            let topic = self.resolve_topic_name(EVENTS_TOPIC, false)?;
            let started = parameters.start_events(self.session(), self.id(), &topic);
            started.map_err(|source| CreateError::Engine { node: self.name().clone(), source })?;
        }
        let refused = |source: DeclareParameterError| CreateError::Parameter {
            node: self.name().clone(),
            source,
        };
        let weak = self.downgrade();
        let switch = move |simulated| {
            let Some(node) = weak.upgrade() else { return };
            if let Err(error) = node.use_sim_time(simulated) {
                tracing::error!(
                    ros_logger = &*node.0.logger,
                    "use_sim_time has no effect: {error}"
                );
            }
        };
        if parameters.declare_use_sim_time(options.use_sim_time, switch).map_err(refused)? {
            self.use_sim_time(true)?;
        }
        if options.automatically_declare_parameters_from_overrides {
            parameters.declare_overrides().map_err(refused)?;
        }
        if options.start_parameter_services {
            let _ = self.0.parameter_services.set(parameters.start_services(self)?);
        }
        Ok(())
    }

    /// Has ROS time follow `/clock`, or the system's clock.
    fn use_sim_time(&self, simulated: bool) -> Result<(), CreateError> {
        if !simulated {
            self.0.clock.follow(None);
            return Ok(());
        }
        let topic = self.resolve_topic_name("/clock", false)?;
        let follower = self.0.context.clock_follower(self.0.id, &topic);
        let follower =
            follower.map_err(|source| CreateError::Engine { node: self.name().clone(), source })?;
        self.0.clock.follow(Some(follower));
        Ok(())
    }

    /// Makes a publisher. `options` may be a depth, a [`QosProfile`](crate::QosProfile), or
    /// [`PublisherOptions`].
    ///
    /// # Errors
    /// When the name or the QoS is not allowed, or the engine refuses.
    ///
    /// ```no_run
    /// # let node: feros::Node = unimplemented!();
    /// use feros::{QosProfile, msgs::std_msgs::msg::String as Text};
    /// let chatter = node.create_publisher::<Text>("chatter", 10)?;
    /// let latched = node.create_publisher::<Text>("~/status", QosProfile::keep_last(1).transient_local())?;
    /// chatter.publish(Text { data: "hello".into() })?;
    /// # Ok::<(), feros::Error>(())
    /// ```
    pub fn create_publisher<M: Message>(
        &self,
        topic: &str,
        options: impl Into<PublisherOptions>,
    ) -> Result<Publisher<M>, CreateError> {
        Publisher::new(self, topic, options.into())
    }

    /// Makes a subscription whose messages the closure takes as `M`, `Arc<M>`, `View<M>` or
    /// `SerializedMessage`, alone or with a [`MessageInfo`].
    ///
    /// # Errors
    /// When the name or the QoS is not allowed, or the engine refuses.
    ///
    /// ```no_run
    /// # let node: feros::Node = unimplemented!();
    /// use feros::{MessageInfo, QosProfile, View, msgs::sensor_msgs::msg::Image, msgs::std_msgs::msg::String as Text};
    /// let chatter = node.create_subscription("chatter", 10, |text: Text| println!("{}", text.data))?;
    /// let camera = node.create_subscription("image", QosProfile::sensor_data(), |image: View<Image>, info: MessageInfo| {
    ///     println!("{} bytes from {}", image.get().data.len(), info.publisher_gid);
    /// })?;
    /// # Ok::<(), feros::Error>(())
    /// ```
    pub fn create_subscription<M: Message, Form>(
        &self,
        topic: &str,
        options: impl Into<SubscriptionOptions>,
        callback: impl SubscriptionCallback<M, Form>,
    ) -> Result<Subscription<M>, CreateError> {
        Subscription::new(self, topic, options.into(), callback)
    }

    /// Makes a server of a service; the closure returns the response, or takes a
    /// [`Responder`](crate::Responder).
    ///
    /// # Errors
    /// When the name is not allowed, or the engine refuses.
    ///
    /// ```no_run
    /// # let node: feros::Node = unimplemented!();
    /// use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request, SetBool_Response};
    /// let service = node.create_service::<SetBool, _>("enable", |request: SetBool_Request| SetBool_Response {
    ///     success: request.data,
    ///     message: "done".into(),
    /// })?;
    /// # Ok::<(), feros::Error>(())
    /// ```
    pub fn create_service<S: ServiceType, Form: 'static>(
        &self,
        name: &str,
        callback: impl ServiceCallback<S, Form>,
    ) -> Result<Service<S>, CreateError> {
        Service::new(self, name, ServiceOptions::default(), callback)
    }

    /// As [`Node::create_service`], with options.
    ///
    /// # Errors
    /// When the name or the QoS is not allowed, or the engine refuses.
    pub fn create_service_with<S: ServiceType, Form: 'static>(
        &self,
        name: &str,
        options: impl Into<ServiceOptions>,
        callback: impl ServiceCallback<S, Form>,
    ) -> Result<Service<S>, CreateError> {
        Service::new(self, name, options.into(), callback)
    }

    /// Makes a client of a service. Its calls need no executor.
    ///
    /// # Errors
    /// When the name is not allowed, or the engine refuses.
    ///
    /// ```no_run
    /// # let node: feros::Node = unimplemented!();
    /// use feros::msgs::std_srvs::srv::{SetBool, SetBool_Request};
    /// use std::time::Duration;
    /// let client = node.create_client::<SetBool>("enable")?;
    /// client.wait_for_service(Duration::from_secs(5))?;
    /// let response = client.call_and_wait(&SetBool_Request { data: true }, Duration::from_secs(1))?;
    /// # Ok::<(), feros::Error>(())
    /// ```
    pub fn create_client<S: ServiceType>(&self, name: &str) -> Result<Client<S>, CreateError> {
        Client::new(self, name, ClientOptions::default())
    }

    /// As [`Node::create_client`], with options.
    ///
    /// # Errors
    /// When the name or the QoS is not allowed, or the engine refuses.
    pub fn create_client_with<S: ServiceType>(
        &self,
        name: &str,
        options: impl Into<ClientOptions>,
    ) -> Result<Client<S>, CreateError> {
        Client::new(self, name, options.into())
    }

    /// Makes a publisher of serialized messages, for a type that is known only at run time.
    ///
    /// # Errors
    /// When a name or the QoS is not allowed, or the engine refuses.
    pub fn create_generic_publisher(
        &self,
        topic: &str,
        message_type: &TypeIdentity,
        options: impl Into<PublisherOptions>,
    ) -> Result<GenericPublisher, CreateError> {
        GenericPublisher::new(self, topic, message_type, options.into())
    }

    /// Makes a subscription of serialized messages, for a type that is known only at run time.
    ///
    /// # Errors
    /// When a name or the QoS is not allowed, or the engine refuses.
    pub fn create_generic_subscription(
        &self,
        topic: &str,
        message_type: &TypeIdentity,
        options: impl Into<SubscriptionOptions>,
        callback: impl FnMut(SerializedMessage, MessageInfo) + Send + 'static,
    ) -> Result<GenericSubscription, CreateError> {
        GenericSubscription::new(self, topic, message_type, options.into(), callback)
    }

    /// Makes a client of serialized messages, for a service type that is known only at run time.
    ///
    /// # Errors
    /// When a name or the QoS is not allowed, or the engine refuses.
    pub fn create_generic_client(
        &self,
        name: &str,
        identity: &ServiceIdentity,
        options: impl Into<ClientOptions>,
    ) -> Result<GenericClient, CreateError> {
        GenericClient::new(self, name, identity, options.into())
    }

    /// Calls `callback` every `period` of the steady clock, without drift; deadlines that a late
    /// call missed are skipped.
    ///
    /// # Errors
    /// When the node's executor is full.
    pub fn create_wall_timer(
        &self,
        period: Duration,
        callback: impl FnMut() + Send + 'static,
    ) -> Result<NodeTimer, CreateError> {
        self.create_timer_on(&Clock::new(ClockType::Steady), period, callback)
    }

    /// Calls `callback` every `period` of ROS time: the system's clock, or `/clock` with
    /// `use_sim_time`.
    ///
    /// # Errors
    /// When the node's executor is full.
    pub fn create_timer(
        &self,
        period: Duration,
        callback: impl FnMut() + Send + 'static,
    ) -> Result<NodeTimer, CreateError> {
        self.create_timer_on(&self.0.clock, period, callback)
    }

    /// Calls `callback` every `period` of a clock.
    ///
    /// # Errors
    /// When the node's executor is full.
    pub fn create_timer_on(
        &self,
        clock: &Clock,
        period: Duration,
        callback: impl FnMut() + Send + 'static,
    ) -> Result<NodeTimer, CreateError> {
        self.create_timer_with(TimerOptions::on(clock, period), callback)
    }

    /// Calls `callback` as the options say: with a callback group, a priority, a deadline.
    ///
    /// # Errors
    /// When the node's executor is full, or the callback group is another node's.
    ///
    /// ```no_run
    /// # let node: feros::Node = unimplemented!();
    /// use feros::TimerOptions;
    /// use std::time::Duration;
    /// let options = TimerOptions::wall(Duration::from_millis(10)).priority(10);
    /// let control = node.create_timer_with(options, || { /* ... */ })?;
    /// # Ok::<(), feros::Error>(())
    /// ```
    pub fn create_timer_with(
        &self,
        options: TimerOptions,
        mut callback: impl FnMut() + Send + 'static,
    ) -> Result<NodeTimer, CreateError> {
        let logger = self.0.logger.clone();
        let clock = options.clock.as_ref().unwrap_or(&self.0.clock);
        let (timer, entity) =
            Timer::periodic(clock.source(), options.period, move |_: TimerCall| {
                let _logger = crate::logging::enter_logger(&logger);
                callback();
            });
        let member = self.add_member_with("a timer", entity, Kind::Timer, &options.callback)?;
        Ok(NodeTimer::new(timer, member))
    }

    /// A group for callbacks of this node. It goes where the node goes.
    pub fn create_callback_group(&self, kind: CallbackGroupKind) -> CallbackGroup {
        CallbackGroup::new(kind, self.0.members.clone(), false)
    }

    /// A group for callbacks of this node that goes to an executor by itself:
    /// [`Executor::add_callback_group`](crate::Executor::add_callback_group).
    pub fn create_separate_callback_group(&self, kind: CallbackGroupKind) -> CallbackGroup {
        CallbackGroup::new(kind, self.0.members.clone(), true)
    }

    /// Calls `callback` on the executor after each trigger.
    ///
    /// # Errors
    /// When the node's executor is full.
    pub fn create_guard_condition(
        &self,
        callback: impl FnMut() + Send + 'static,
    ) -> Result<crate::timer::NodeGuardCondition, CreateError> {
        let (condition, entity) = GuardCondition::new(callback);
        Ok(crate::timer::NodeGuardCondition::new(
            condition,
            self.add_member("a guard condition", entity)?,
        ))
    }

    /// Has panics of the node's callbacks caught, wherever they run. Without this, a panic leaves
    /// the function that spins, or publishes with direct dispatch.
    ///
    /// After the first panic no callback of the node begins any more (one that runs on another
    /// thread ends), all that it has on its executor is dropped, and then `hook` is called with the
    /// panic's text, on the thread of the panic. The executor and its other nodes go on. Handles of
    /// the node stay what they are, without callbacks; to begin anew, make a new node.
    pub fn on_panic(&self, hook: impl FnOnce(&str) + Send + 'static) {
        self.0.members.on_panic(Box::new(hook));
    }

    /// Namespace and name, after remapping.
    pub fn name(&self) -> &NodeName {
        &self.0.name
    }

    /// Name of the node's logger: its full name, joined by dots.
    pub fn logger_name(&self) -> &str {
        &self.0.logger
    }

    /// The context that the node belongs to.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// ROS time: the system's clock, or `/clock` with `use_sim_time`.
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// Makes a topic name fully qualified and applies the remap rules.
    ///
    /// # Errors
    /// When the name, or what replaces it, is not allowed.
    pub fn resolve_topic_name(
        &self,
        name: &str,
        avoid_ros_conventions: bool,
    ) -> Result<String, CreateError> {
        if avoid_ros_conventions { Ok(name.to_owned()) } else { self.resolve(name, false) }
    }

    /// Makes a service name fully qualified and applies the remap rules.
    ///
    /// # Errors
    /// When the name, or what replaces it, is not allowed.
    pub fn resolve_service_name(&self, name: &str) -> Result<String, CreateError> {
        self.resolve(name, true)
    }

    fn resolve(&self, name: &str, service: bool) -> Result<String, CreateError> {
        let global = if self.0.use_global_arguments {
            &self.0.context.arguments().remap_rules[..]
        } else {
            &[]
        };
        Ok(remap_name(self.0.remap_rules.iter().chain(global), name, &self.0.name, service)?)
    }

    /// The values that its parameters start with instead of their defaults: what command lines,
    /// parameter files and options say.
    pub fn parameter_overrides(&self) -> &BTreeMap<String, ParameterValue> {
        self.0.parameters.overrides()
    }

    pub(crate) fn parameters(&self) -> &NodeParameters {
        &self.0.parameters
    }

    /// Transports that messages of its endpoints may take.
    pub fn transports(&self) -> TransportSet {
        self.0.transports
    }

    /// Names of all nodes that are known.
    pub fn node_names(&self) -> Vec<NodeName> {
        self.0.context.graph().nodes.iter().map(|node| node.name.clone()).collect()
    }

    /// All topics with their types.
    pub fn topic_names_and_types(&self) -> NamesAndTypes {
        self.0.context.graph().topics()
    }

    /// All services with their types.
    pub fn service_names_and_types(&self) -> NamesAndTypes {
        self.0.context.graph().services()
    }

    /// Publishers of a topic; the name is resolved as the node's own are.
    ///
    /// # Errors
    /// When the name is not allowed.
    pub fn publishers_info_by_topic(&self, topic: &str) -> Result<Vec<EndpointInfo>, CreateError> {
        self.endpoints_info(EndpointKind::Publisher, &self.resolve_topic_name(topic, false)?)
    }

    /// Subscriptions of a topic; the name is resolved as the node's own are.
    ///
    /// # Errors
    /// When the name is not allowed.
    pub fn subscriptions_info_by_topic(
        &self,
        topic: &str,
    ) -> Result<Vec<EndpointInfo>, CreateError> {
        self.endpoints_info(EndpointKind::Subscription, &self.resolve_topic_name(topic, false)?)
    }

    fn endpoints_info(
        &self,
        kind: EndpointKind,
        name: &str,
    ) -> Result<Vec<EndpointInfo>, CreateError> {
        Ok(self.0.context.graph().endpoints_of(kind, name).cloned().collect())
    }

    pub(crate) fn session(&self) -> &Arc<dyn Session> {
        self.0.context.session()
    }

    pub(crate) fn id(&self) -> NodeId {
        self.0.id
    }

    pub(crate) fn logger(&self) -> &Arc<str> {
        &self.0.logger
    }

    pub(crate) fn members(&self) -> &NodeMembers {
        &self.0.members
    }

    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    pub(crate) fn downgrade(&self) -> WeakNode {
        WeakNode(Arc::downgrade(&self.0))
    }

    pub(crate) fn add_member(&self, name: &str, entity: Entity) -> Result<Member, CreateError> {
        self.add_member_with(name, entity, Kind::Other, &CallbackOptions::default())
    }

    pub(crate) fn add_member_with(
        &self,
        name: &str,
        entity: Entity,
        kind: Kind,
        options: &CallbackOptions,
    ) -> Result<Member, CreateError> {
        self.0.members.add(entity, kind, options).map_err(|error| CreateError::Executor {
            node: self.0.name.clone(),
            name: name.to_owned(),
            reason: error.to_string(),
        })
    }

    /// Who publishes under this gid, for messages to people.
    pub(crate) fn describe_publisher(&self, topic: &str, gid: Gid) -> String {
        let graph = self.0.context.graph();
        let found =
            graph.endpoints_of(EndpointKind::Publisher, topic).find(|endpoint| endpoint.gid == gid);
        match found.and_then(|endpoint| endpoint.node.name()) {
            Some(name) => format!("node {name}"),
            None => format!("publisher {gid}"),
        }
    }

    /// Why this node's endpoints of a topic do not fit others, one sentence each, naming both
    /// sides. Those of unknown nodes may be of this one.
    pub(crate) fn mismatches(&self, topic: &str) -> Vec<FoundMismatch> {
        let mine = |side: &EndpointNode| side.name() == Some(&self.0.name);
        let show = |side: &EndpointNode| {
            side.name().map_or("a node without a name".to_owned(), ToString::to_string)
        };
        let graph = self.0.context.graph();
        let found = graph.mismatches(topic).into_iter().map(|m| FoundMismatch {
            text: format!(
                "{}: publisher in {} and subscription in {}: {}",
                m.topic,
                show(&m.publisher),
                show(&m.subscription),
                m.reason
            ),
            is_mine: mine(&m.publisher) || mine(&m.subscription),
            is_named: m.publisher.name().is_some() && m.subscription.name().is_some(),
        });
        found.filter(|m| m.is_mine || !m.is_named).collect()
    }
}

/// The name of a node's logger, as `rcl` makes it: the full name without its first slash, the
/// others as dots.
fn logger_name(name: &NodeName) -> String {
    name.fully_qualified().trim_start_matches('/').replace('/', ".")
}

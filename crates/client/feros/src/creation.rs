//! Makes nodes and their endpoints and timers. Actions and managed nodes are made in their own
//! folders.

use std::sync::OnceLock;
use std::time::Duration;

use feros_engine::{FailureCounter, MessageInfo, NodeName};
use feros_message::{Message, Service as ServiceType};
use feros_msgs::rcl_interfaces::msg::{Log, ParameterEvent};
use feros_parameter::DeclareParameterError;
use feros_shm::Transport;

use crate::callbacks::group::{CallbackGroup, CallbackGroupKind};
use crate::callbacks::node_members::NodeMembers;
use crate::clock::{Clock, ClockType};
use crate::context::Context;
use crate::create_error::CreateError;
use crate::logging::rosout::Rosout;
use crate::messages::forms::SerializedMessage;
use crate::messages::identity::{ServiceIdentity, TypeIdentity};
use crate::node::{DescribedTypes, Node, NodeInner, NodeOptions, NodeParameters, parameter_events};
use crate::node_services::{logger_levels, type_description};
use crate::parameter;
use crate::services::client::{Client, ClientOptions, GenericClient};
use crate::services::service::{
    GenericService, SerializedResponder, Service, ServiceCallback, ServiceOptions,
};
use crate::timer::{NodeGuardCondition, NodeTimer, TimerOptions};
use crate::topics::publisher::{GenericPublisher, Publisher, PublisherOptions};
use crate::topics::subscription::{
    GenericSubscription, Subscription, SubscriptionCallback, SubscriptionOptions,
};

/// # Nodes
impl Context {
    /// Makes a node in the namespace `/`. The arguments may remap its name and namespace.
    ///
    /// # Errors
    /// When the name is not allowed or the engine cannot announce the node.
    pub fn create_node(&self, name: &str) -> Result<Node, CreateError> {
        Node::new(self, NodeOptions::new(name))
    }

    /// Makes a node with these options.
    ///
    /// # Errors
    /// When a name is not allowed or the engine cannot announce the node.
    pub fn create_node_with(&self, options: NodeOptions) -> Result<Node, CreateError> {
        Node::new(self, options)
    }
}

impl Node {
    fn new(context: &Context, mut options: NodeOptions) -> Result<Self, CreateError> {
        let name = options.remapped_name(context)?;
        let parameter_overrides = options.resolve_overrides(context, &name)?;
        let engine_error = |source| CreateError::Engine { node: name.clone(), source };
        let id = context.session().create_node(&name).map_err(engine_error)?;
        let wants_rosout =
            options.enable_rosout && context.arguments().log_to_rosout != Some(false);
        let rosout = wants_rosout
            .then(|| Rosout::new(context.session(), id, options.rosout_qos))
            .transpose();
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
            (context.session(), id),
        );
        let node = Self::from(NodeInner {
            context: context.clone(),
            id,
            logger: logger_name(&name).into(),
            name,
            use_global_arguments: options.use_global_arguments,
            remap_rules: std::mem::take(&mut options.arguments.remap_rules).into(),
            parameters,
            services: OnceLock::new(),
            described_types: DescribedTypes::default(),
            transports,
            members: NodeMembers::default(),
            clock,
            rosout: rosout.clone(),
            reported_mismatches: std::sync::Arc::default(),
        });
        if let Some(rosout) = rosout {
            rosout.listen_to(node.logger());
            node.note_type(Log::TYPE_DESCRIPTION);
        }
        node.start_parameters(&options)?;
        node.start_services(&options)?;
        node.parameters().follow_engine(node.session(), node.id());
        Ok(node)
    }

    /// Starts the publisher of parameter events, and declares the parameters that every node has.
    fn start_parameters(&self, options: &NodeOptions) -> Result<(), CreateError> {
        let parameters = self.parameters();
        if options.start_parameter_event_publisher {
            let topic = self.resolve_topic_name(parameter_events::TOPIC, false)?;
            let started = parameters.start_events(self.session(), self.id(), &topic);
            started.map_err(|source| CreateError::Engine { node: self.name().clone(), source })?;
            self.note_type(ParameterEvent::TYPE_DESCRIPTION);
        }
        let refused = |source: DeclareParameterError| CreateError::Parameter {
            node: self.name().clone(),
            source,
        };
        let weak = self.downgrade();
        let failed = FailureCounter::new();
        let switch = move |simulated| {
            let Some(node) = weak.upgrade() else { return };
            if let Err(error) = node.use_sim_time(simulated)
                && let Some(so_far) = failed.so_far()
            {
                tracing::error!(
                    ros_logger = &**node.logger(),
                    "use_sim_time has no effect: {error}{so_far}"
                );
            }
        };
        if parameters.declare_use_sim_time(options.use_sim_time, switch).map_err(refused)? {
            self.use_sim_time(true)?;
        }
        parameters.declare_start_type_description_service().map_err(refused)?;
        if options.automatically_declare_parameters_from_overrides {
            parameters.declare_overrides().map_err(refused)?;
        }
        Ok(())
    }

    /// Starts the services that every node has.
    fn start_services(&self, options: &NodeOptions) -> Result<(), CreateError> {
        let (store, local) = (self.parameters().store(), options.local_requests_only);
        let parameters = options
            .start_parameter_services
            .then(|| parameter::start_services(self, store, local))
            .transpose()?;
        let types = self
            .parameters()
            .starts_type_description_service()
            .then(|| type_description::start(self))
            .transpose()?;
        let loggers =
            options.enable_logger_service.then(|| logger_levels::start(self, local)).transpose()?;
        self.keep(Box::new((parameters, types, loggers)));
        Ok(())
    }

    /// Makes the node's ROS time follow `/clock` if `simulated`, or else the system's clock.
    fn use_sim_time(&self, simulated: bool) -> Result<(), CreateError> {
        if !simulated {
            self.clock().follow(None);
            return Ok(());
        }
        let topic = self.resolve_topic_name("/clock", false)?;
        let follower = self.context().clock_follower(self.id(), &topic);
        let follower =
            follower.map_err(|source| CreateError::Engine { node: self.name().clone(), source })?;
        self.clock().follow(Some(follower));
        Ok(())
    }
}

/// # Publishers, subscriptions, services, clients, timers
impl Node {
    /// Makes a publisher. `options` may be a depth, a [`QosProfile`](crate::QosProfile), or
    /// [`PublisherOptions`].
    ///
    /// # Errors
    /// When the name or the QoS is not allowed, or the engine refuses the endpoint.
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

    /// Makes a subscription. The closure takes messages as `M`, `Arc<M>`, `View<M>` or
    /// `SerializedMessage`, alone or with a [`MessageInfo`].
    ///
    /// # Errors
    /// When the name or the QoS is not allowed, or the engine refuses the endpoint.
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

    /// Makes a server of a service. The closure returns the response, or takes a
    /// [`Responder`](crate::Responder) to respond later.
    ///
    /// # Errors
    /// When the name is not allowed, or the engine refuses the endpoints.
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

    /// Creates a service with options, as [`Node::create_service`] does without options.
    ///
    /// # Errors
    /// When the name or the QoS is not allowed, or the engine refuses the endpoint.
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
    /// When the name is not allowed, or the engine refuses the endpoints.
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

    /// Creates a client with options, as [`Node::create_client`] does without options.
    ///
    /// # Errors
    /// When the name or the QoS is not allowed, or the engine refuses the endpoint.
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
    /// When a name or the QoS is not allowed, or the engine refuses the endpoint.
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
    /// When a name or the QoS is not allowed, or the engine refuses the endpoint.
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
    /// When a name or the QoS is not allowed, or the engine refuses the endpoint.
    pub fn create_generic_client(
        &self,
        name: &str,
        identity: &ServiceIdentity,
        options: impl Into<ClientOptions>,
    ) -> Result<GenericClient, CreateError> {
        GenericClient::new(self, name, identity, options.into())
    }

    /// Makes a server of serialized messages, for a service type that is known only at run time.
    /// `callback` takes each request and a responder, which answers the request now or later.
    ///
    /// # Errors
    /// When the name is not allowed, or the engine refuses the endpoints.
    pub fn create_generic_service(
        &self,
        name: &str,
        identity: &ServiceIdentity,
        options: impl Into<ServiceOptions>,
        callback: impl FnMut(SerializedMessage, SerializedResponder) + Send + 'static,
    ) -> Result<GenericService, CreateError> {
        GenericService::new(self, name, identity, &options.into(), callback)
    }

    /// Makes a timer that calls `callback` every `period` of the steady clock, without drift. If a
    /// call is late, the calls that it has missed are skipped.
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

    /// Makes a timer that calls `callback` every `period` of ROS time: the system's clock, or
    /// `/clock` with `use_sim_time`.
    ///
    /// # Errors
    /// When the node's executor is full.
    pub fn create_timer(
        &self,
        period: Duration,
        callback: impl FnMut() + Send + 'static,
    ) -> Result<NodeTimer, CreateError> {
        self.create_timer_on(self.clock(), period, callback)
    }

    /// Makes a timer that calls `callback` every `period` of a clock.
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

    /// Makes a timer with options, such as a callback group, a priority or a deadline.
    ///
    /// # Errors
    /// When the node's executor is full, or the callback group belongs to another node.
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
        callback: impl FnMut() + Send + 'static,
    ) -> Result<NodeTimer, CreateError> {
        NodeTimer::start(self, options, callback)
    }

    /// Makes a group for callbacks of this node. The callbacks run on the executor of the node.
    pub fn create_callback_group(&self, kind: CallbackGroupKind) -> CallbackGroup {
        CallbackGroup::new(kind, self.members())
    }

    /// Makes a group for callbacks of this node that is added to an executor separately from the
    /// node, with [`Executor::add_callback_group`](crate::Executor::add_callback_group).
    pub fn create_separate_callback_group(&self, kind: CallbackGroupKind) -> CallbackGroup {
        CallbackGroup::separate(kind, self.members(), self.context())
    }

    /// Makes a guard condition: the executor calls `callback` after each trigger.
    ///
    /// # Errors
    /// When the node's executor is full.
    pub fn create_guard_condition(
        &self,
        callback: impl FnMut() + Send + 'static,
    ) -> Result<NodeGuardCondition, CreateError> {
        NodeGuardCondition::start(self, callback)
    }
}

/// Returns the name of a node's logger, as in `rcl`: the full name without its first slash, with
/// dots in place of the other slashes.
fn logger_name(name: &NodeName) -> String {
    name.fully_qualified().trim_start_matches('/').replace('/', ".")
}

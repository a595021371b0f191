//! The node, which groups publishers, subscriptions, services, clients and timers under one name.
//! `creation.rs` makes nodes and their endpoints.

mod described_types;
mod observer;
mod options;
pub(crate) mod parameter_events;
mod parameters;

pub(crate) use described_types::DescribedTypes;
pub use options::NodeOptions;
pub(crate) use parameters::NodeParameters;

use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, Weak};

use feros_engine::graph::{EndpointNode, NamesAndTypes};
use feros_engine::{EndpointInfo, EndpointKind, Gid, NodeId, NodeName, Session};
use feros_executor::{Entity, Kind, Time};
use feros_message::TypeDescription;
use feros_msgs::std_msgs::msg::Header;
use feros_parameter::ParameterValue;
use feros_shm::TransportSet;

use crate::arguments::{RemapRule, remap_name};
use crate::callbacks::group::CallbackOptions;
use crate::callbacks::node_members::{Member, NodeMembers};
use crate::clock::Clock;
use crate::context::Context;
use crate::create_error::CreateError;
use crate::graph::mismatches::{FoundMismatch, ReportedMismatches};
use crate::logging::Logger;
use crate::logging::rosout::Rosout;

/// A node of the ROS graph. Clones refer to the same node, which leaves the graph when its last
/// clone and its last endpoint have been dropped.
///
/// The callbacks of a node run on the executor to which the node is added; see
/// [`Executor`](crate::Executor) and [`spin`](crate::spin).
#[derive(Clone)]
pub struct Node(Arc<NodeInner>);

/// The state of a node.
pub(crate) struct NodeInner {
    pub(crate) context: Context,
    pub(crate) id: NodeId,
    pub(crate) name: NodeName,
    pub(crate) logger: Arc<str>,
    pub(crate) use_global_arguments: bool,
    /// The remap rules of this node alone.
    pub(crate) remap_rules: Box<[RemapRule]>,
    pub(crate) parameters: NodeParameters,
    /// The services that every node has, which live as long as the node.
    pub(crate) services: OnceLock<Box<dyn Any + Send + Sync>>,
    pub(crate) described_types: DescribedTypes,
    pub(crate) transports: TransportSet,
    pub(crate) members: NodeMembers,
    pub(crate) clock: Clock,
    pub(crate) rosout: Option<Arc<Rosout>>,
    /// The mismatches of the node's endpoints that have been logged.
    pub(crate) reported_mismatches: Arc<ReportedMismatches>,
}

const FOREIGN_GROUP: &str = "its callback group belongs to another node: create one with \
                             `create_callback_group` of this node";

/// A weak reference to a node.
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
        drop(self.services.take());
        self.parameters.stop_events();
        self.clock.stop_following();
        self.context.session().remove_node(self.id);
    }
}

impl From<NodeInner> for Node {
    fn from(inner: NodeInner) -> Self {
        Self(Arc::new(inner))
    }
}

impl Node {
    /// Catches panics of the node's callbacks on any thread, and calls `hook` for the first one.
    /// Without a hook, a panic propagates out of the function that spins, or out of `publish` with
    /// direct dispatch.
    ///
    /// After the first panic no further callback of the node begins; a callback that is running on
    /// another thread ends normally. The node's entities on its executor are dropped, and then the
    /// thread that panicked calls `hook` with the panic's text. The executor and its other nodes
    /// keep running. Handles of the node stay valid, but none of its callbacks runs again. To start
    /// again, make a new node.
    pub fn on_panic(&self, hook: impl FnOnce(&str) + Send + 'static) {
        self.0.members.on_panic(Box::new(hook));
    }

    /// The namespace and the name, after remapping.
    pub fn name(&self) -> &NodeName {
        &self.0.name
    }

    /// The name of the node's logger: the node's full name, with dots in place of slashes.
    pub fn logger_name(&self) -> &str {
        &self.0.logger
    }

    /// Makes a logger below the node's own logger, for a part of the node.
    #[must_use]
    pub fn child_logger(&self, name: &str) -> Logger {
        let sink = self.0.rosout.as_ref().map(Rosout::sink);
        Logger::new(format!("{}.{name}", self.0.logger), sink)
    }

    /// The context that the node belongs to.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// The clock for ROS time, which is the system's time, or the time of `/clock` with
    /// `use_sim_time`.
    pub fn clock(&self) -> &Clock {
        &self.0.clock
    }

    /// The present time of [`Node::clock`].
    pub fn now(&self) -> Time {
        self.0.clock.now()
    }

    /// Makes a message header with the present time and this frame.
    pub fn header(&self, frame_id: &str) -> Header {
        Header { stamp: self.now().into(), frame_id: frame_id.to_owned() }
    }

    /// Makes a topic name fully qualified and applies the remap rules.
    ///
    /// # Errors
    /// When the name, or the name to which it is remapped, is not allowed.
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
    /// When the name, or the name to which it is remapped, is not allowed.
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

    /// The values that override the defaults of the node's parameters. They come from the command
    /// line, parameter files and options.
    pub fn parameter_overrides(&self) -> &BTreeMap<String, ParameterValue> {
        self.0.parameters.overrides()
    }

    /// Keeps services as long as the node lives.
    pub(crate) fn keep(&self, services: Box<dyn Any + Send + Sync>) {
        let _ = self.0.services.set(services); // this is called only once, when the node is made
    }

    /// Makes the description of a type that the node's endpoints use available to other nodes.
    pub(crate) fn note_type(&self, description: &'static TypeDescription) {
        self.0.described_types.note(description);
    }

    /// Makes the description of a type available to other nodes, through the service
    /// `~/get_type_description`. Use this function for the types of generic endpoints, which know
    /// only names and hashes; endpoints of generated types add their descriptions automatically.
    ///
    /// The node stores each description once, as long as it lives.
    ///
    /// ```no_run
    /// # let node: feros::Node = unimplemented!();
    /// # let set: feros::message::interface::InterfaceSet = unimplemented!();
    /// node.describe_type(set.type_description(&"my_msgs/msg/Pose".parse()?)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn describe_type(&self, description: feros_message::interface::TypeDescription) {
        self.0.described_types.note_dynamic(description);
    }

    /// Finds the description of a type that an endpoint of the node has used.
    pub(crate) fn described_type(
        &self,
        hash: feros_message::TypeHash,
    ) -> Option<feros_message::interface::TypeDescription> {
        self.0.described_types.find(hash)
    }

    pub(crate) fn parameters(&self) -> &NodeParameters {
        &self.0.parameters
    }

    /// The transports that messages of the node's endpoints may take.
    pub fn transports(&self) -> TransportSet {
        self.0.transports
    }

    /// Returns the names of all known nodes.
    pub fn node_names(&self) -> Vec<NodeName> {
        self.0.context.graph().nodes.iter().map(|node| node.name.clone()).collect()
    }

    /// Returns all topics of the graph with their types.
    pub fn topic_names_and_types(&self) -> NamesAndTypes {
        self.0.context.graph().topics()
    }

    /// Returns all services of the graph with their types.
    pub fn service_names_and_types(&self) -> NamesAndTypes {
        self.0.context.graph().services()
    }

    /// Returns all actions of the graph with their types.
    pub fn action_names_and_types(&self) -> NamesAndTypes {
        self.0.context.graph().actions()
    }

    /// Returns the publishers of a topic. The name is resolved like the names of the node's own
    /// topics.
    ///
    /// # Errors
    /// When the name is not allowed.
    pub fn publishers_info_by_topic(&self, topic: &str) -> Result<Vec<EndpointInfo>, CreateError> {
        self.endpoints_info(EndpointKind::Publisher, &self.resolve_topic_name(topic, false)?)
    }

    /// Returns the subscriptions of a topic. The name is resolved like the names of the node's own
    /// topics.
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
        let refused = |reason: &dyn std::fmt::Display| CreateError::Executor {
            node: self.0.name.clone(),
            name: name.to_owned(),
            reason: reason.to_string(),
        };
        let members = &self.0.members;
        if options.group.as_ref().is_some_and(|group| !group.members().is_same(members)) {
            return Err(refused(&FOREIGN_GROUP));
        }
        let separate = options.group.as_ref().and_then(|group| group.as_separate()).cloned();
        let entity = entity.with(options.attributes(kind, members.default_group()));
        members.add(entity, separate).map_err(|error| refused(&error))
    }

    /// Describes a publisher for log messages: by its node if that is known, or else by its gid.
    pub(crate) fn describe_publisher(&self, topic: &str, gid: Gid) -> String {
        let graph = self.0.context.graph();
        let found =
            graph.endpoints_of(EndpointKind::Publisher, topic).find(|endpoint| endpoint.gid == gid);
        match found.and_then(|endpoint| endpoint.node.name()) {
            Some(name) => format!("node {name}"),
            None => format!("publisher {gid}"),
        }
    }

    pub(crate) fn reported_mismatches(&self) -> &Arc<ReportedMismatches> {
        &self.0.reported_mismatches
    }

    /// Returns the mismatches of a topic that concern this node's endpoints, each as a sentence
    /// that names both nodes. The result includes mismatches for which one of the nodes is unknown,
    /// because the unknown node may be this node.
    pub(crate) fn mismatches(&self, topic: &str) -> Vec<FoundMismatch> {
        let mine = |side: &EndpointNode| side.name() == Some(&self.0.name);
        let graph = self.0.context.graph();
        let found = graph.mismatches(topic).into_iter().map(|m| FoundMismatch {
            text: m.to_string(),
            is_mine: mine(&m.publisher) || mine(&m.subscription),
            is_named: m.publisher.name().is_some() && m.subscription.name().is_some(),
        });
        found.filter(|m| m.is_mine || !m.is_named).collect()
    }
}

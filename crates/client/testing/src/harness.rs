//! The harness of a test: a domain of its own, a context in it, and the calls of the test.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use feros::engine::{DiscoveryRange, EndpointKind};
use feros::message::Message;
use feros::{
    AddNodeError, Context, ContextError, ContextOptions, CreateError, Error, Node, NodeOptions,
    Publisher,
};
use feros_sync::Mutex;
use feros_test_domain::ReservedDomain;

use crate::absence;
use crate::error::{ExpectError, HarnessError};
use crate::messages::Messages;
use crate::simulated_time::SimulatedTime;
use crate::spinning::Spinning;

/// The endpoints of a test, by topic and message type.
type Endpoints = Mutex<HashMap<(String, TypeId), Box<dyn Any + Send + Sync>>>;

/// Tests nodes in a domain of their own.
///
/// The domain belongs to this harness alone, and its nodes find only nodes of this host.
/// Environment variables other than those of the domain apply to the context as usual. When the
/// harness is dropped, spinning ends; the drop then panics if a callback has panicked and no wait
/// has returned this panic.
pub struct Harness {
    messages: Endpoints,
    publishers: Endpoints,
    time: Mutex<Option<Arc<SimulatedTime>>>,
    spinning: Arc<Spinning>,
    node: Node,
    context: Context,
    // Released last.
    domain: ReservedDomain,
}

impl Harness {
    /// Reserves a domain and makes a context in it.
    ///
    /// # Errors
    /// When no domain is free, or the context cannot be made.
    pub fn new() -> Result<Self, HarnessError> {
        let domain = ReservedDomain::new()?;
        let mut options = ContextOptions::from_variables().map_err(ContextError::from)?;
        options.session.domain_id = domain.id().into();
        options.session.discovery_range = DiscoveryRange::Localhost;
        options.session.static_peers.clear();
        let context = Context::new(options)?;
        // The test's own node adds few endpoints to the graph that the test looks at.
        let own = NodeOptions::new("feros_test")
            .enable_rosout(false)
            .start_parameter_services(false)
            .start_parameter_event_publisher(false);
        let node = context.create_node_with(own)?;
        let spinning = Arc::<Spinning>::default();
        spinning.add(&node)?;
        Ok(Self {
            messages: Mutex::default(),
            publishers: Mutex::default(),
            time: Mutex::default(),
            spinning,
            node,
            context,
            domain,
        })
    }

    /// The domain of this test.
    pub fn domain_id(&self) -> u32 {
        self.domain.id().into()
    }

    /// The context, for the nodes under test.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The test's own node, which is spun. Make endpoints on it, such as clients of services.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Runs the callbacks of a node on a thread of its own, until the harness is dropped. After a
    /// panic in a callback, the node's callbacks no longer run, and the next wait returns the
    /// panic.
    ///
    /// # Errors
    /// When the node is on an executor already, or the system cannot start a thread.
    pub fn spin(&self, node: &Node) -> Result<(), AddNodeError> {
        self.spinning.add(node)
    }

    /// Makes a node and spins it. A node with simulated time shows that of the test from the
    /// beginning.
    ///
    /// # Errors
    /// When the node cannot be made, or the system cannot start a thread.
    pub fn create_node(&self, options: NodeOptions) -> Result<Node, Error> {
        let node = self.context.create_node_with(options)?;
        self.spin(&node)?;
        let time = self.time.lock().clone();
        if let Some(time) = time {
            time.wait_for(&node);
        }
        Ok(node)
    }

    /// A command in the domain of this test. The test has to end the process.
    ///
    /// ```
    /// # let harness = feros_testing::Harness::new()?;
    /// let node = harness.command("printenv").arg("ROS_DOMAIN_ID").output()?;
    /// assert_eq!(String::from_utf8(node.stdout)?.trim(), harness.domain_id().to_string());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.env("ROS_DOMAIN_ID", self.domain_id().to_string());
        command.env("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST");
        command.env_remove("ROS_STATIC_PEERS").env_remove("ROS_LOCALHOST_ONLY");
        command.env_remove("FEROS_MEETING_POINTS");
        command
    }

    /// Subscribes to a topic, unless an earlier call has done so; returns its messages.
    ///
    /// # Errors
    /// When the subscription cannot be made.
    pub fn listen<M: Message>(&self, topic: &str) -> Result<Messages<M>, CreateError> {
        let topic = self.node.resolve_topic_name(topic, false)?;
        let make = || Messages::<M>::new(&self.node, topic.clone(), &self.spinning);
        known_or(&self.messages, (topic.clone(), TypeId::of::<M>()), make)
    }

    /// Returns the next message of a topic. The first call for a topic subscribes to it; later
    /// calls return later messages. [`listen`](Self::listen) subscribes earlier, and its result has
    /// more ways to take messages.
    ///
    /// # Errors
    /// When no message comes within `timeout`: the error says what the topic has instead. When the
    /// subscription cannot be made, or a callback of a spun node has panicked.
    pub fn expect_message<M: Message>(
        &self,
        topic: &str,
        timeout: Duration,
    ) -> Result<M, ExpectError> {
        self.listen(topic)?.expect(timeout)
    }

    /// Publishes a message as soon as the topic has a subscription.
    ///
    /// # Errors
    /// When there is no subscription within `timeout`, the message is not published, or a callback
    /// of a spun node has panicked.
    pub fn publish<M: Message>(
        &self,
        topic: &str,
        message: M,
        timeout: Duration,
    ) -> Result<(), ExpectError> {
        let topic = self.node.resolve_topic_name(topic, false)?;
        let make = || self.node.create_publisher::<M>(&topic, 10).map(Arc::new);
        let key = (topic.clone(), TypeId::of::<M>());
        let publisher: Arc<Publisher<M>> = known_or(&self.publishers, key, make)?;
        let look = || Ok((publisher.subscription_count() > 0).then_some(()));
        self.spinning.until(timeout, look, || {
            self.missing(EndpointKind::Subscription, "subscription", &topic, 1)
        })?;
        Ok(publisher.publish(message)?)
    }

    /// Waits until a topic has at least that many publishers and subscriptions, not counting those
    /// of the test's own node.
    ///
    /// # Errors
    /// When the topic has fewer after `timeout`, the name is not allowed, or a callback of a spun
    /// node has panicked.
    pub fn wait_for_topic(
        &self,
        topic: &str,
        publishers: usize,
        subscriptions: usize,
        timeout: Duration,
    ) -> Result<(), ExpectError> {
        let topic = self.node.resolve_topic_name(topic, false)?;
        self.wait_for(EndpointKind::Publisher, "publisher", &topic, publishers, timeout)?;
        self.wait_for(EndpointKind::Subscription, "subscription", &topic, subscriptions, timeout)
    }

    /// Waits until a service has a server.
    ///
    /// # Errors
    /// When the service has no server after `timeout`, the name is not allowed, or a callback of a
    /// spun node has panicked.
    pub fn wait_for_service(&self, service: &str, timeout: Duration) -> Result<(), ExpectError> {
        let service = self.node.resolve_service_name(service)?;
        self.wait_for(EndpointKind::Service, "server", &service, 1, timeout)
    }

    /// Waits until `condition` holds. `what` names it in the error.
    ///
    /// # Errors
    /// When it does not hold after `timeout`, or a callback of a spun node has panicked.
    pub fn wait_until(
        &self,
        what: &str,
        timeout: Duration,
        mut condition: impl FnMut() -> bool,
    ) -> Result<(), ExpectError> {
        let look = || Ok(condition().then_some(()));
        self.spinning.until(timeout, look, || format!("{what} did not hold"))
    }

    /// Simulated time, which begins with the first call.
    ///
    /// ```
    /// use feros::NodeOptions;
    /// use std::time::Duration;
    ///
    /// let harness = feros_testing::Harness::new()?;
    /// let time = harness.simulated_time()?;
    /// let node = harness.create_node(NodeOptions::new("planner").use_sim_time(true))?;
    /// time.step(Duration::from_secs(3600))?;
    /// assert_eq!(node.now(), time.now());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// When the publisher of `/clock` cannot be made.
    pub fn simulated_time(&self) -> Result<Arc<SimulatedTime>, CreateError> {
        let mut time = self.time.lock();
        if let Some(known) = &*time {
            return Ok(Arc::clone(known));
        }
        let made = Arc::new(SimulatedTime::new(&self.node, &self.spinning)?);
        *time = Some(Arc::clone(&made));
        Ok(made)
    }

    fn wait_for(
        &self,
        kind: EndpointKind,
        word: &str,
        name: &str,
        count: usize,
        timeout: Duration,
    ) -> Result<(), ExpectError> {
        let look = || Ok((absence::of_others(&self.node, kind, name).len() >= count).then_some(()));
        self.spinning.until(timeout, look, || self.missing(kind, word, name, count))
    }

    /// The text of the error for a name that lacks endpoints.
    fn missing(&self, kind: EndpointKind, word: &str, name: &str, count: usize) -> String {
        let found = absence::of_others(&self.node, kind, name);
        if !found.is_empty() {
            let found = absence::described(&found);
            return format!("{name} had only {found} instead of {count}");
        }
        let known = match kind {
            EndpointKind::Service | EndpointKind::Client => self.node.service_names_and_types(),
            _ => self.node.topic_names_and_types(),
        };
        format!("{name} had no {word}{}", absence::similar(name, &known))
    }
}

impl Drop for Harness {
    fn drop(&mut self) {
        self.spinning.end();
        self.spinning.pass_on_panic();
    }
}

/// The endpoint that was made for a topic and a type, or a new one.
fn known_or<T: Clone + Send + Sync + 'static>(
    endpoints: &Endpoints,
    key: (String, TypeId),
    make: impl FnOnce() -> Result<T, CreateError>,
) -> Result<T, CreateError> {
    let mut endpoints = endpoints.lock();
    if let Some(known) = endpoints.get(&key).and_then(|one| one.downcast_ref::<T>()) {
        return Ok(known.clone());
    }
    let made = make()?;
    endpoints.insert(key, Box::new(made.clone()));
    Ok(made)
}

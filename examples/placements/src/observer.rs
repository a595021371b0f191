//! An observer outside the example, which subscribes to its topics, calls its services and sets its
//! parameters.

use feros_sync::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant};

use feros::engine::SessionOptions;
use feros::message::{Message, Service};
use feros::msgs::rcl_interfaces::msg::Parameter;
use feros::msgs::rcl_interfaces::srv::{SetParameters, SetParameters_Request};
use feros::{
    Context, ContextOptions, Executor, Node, Outcome, ParameterValue, Publisher, QosProfile,
    Subscription,
};

use crate::WATCHDOG;

/// A node of this process in the domain of a launched example.
pub struct Observer {
    executor: Executor,
    node: Node,
}

/// The messages received on a topic, the newest last. Beyond a limit, the oldest messages are
/// dropped.
pub struct Heard<M> {
    messages: Arc<Mutex<Vec<M>>>,
    _subscription: Subscription<M>,
}

/// The limit on stored messages of a topic.
const MOST_HEARD: usize = 1000;

impl Observer {
    pub(crate) fn new(domain_id: u16) -> Self {
        let session = SessionOptions::localhost(domain_id.into());
        let options = ContextOptions::new(session);
        let context = Context::new(options).expect("a session can be opened on loopback");
        let node = context.create_node("observer").expect("it is the only node of that name");
        let executor = Executor::new();
        executor.add_node(&node).expect("it is on no other executor");
        Self { executor, node }
    }

    /// The node of the observer.
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Subscribes to a topic.
    ///
    /// # Panics
    /// If the name is not allowed.
    pub fn hear<M: Message + Clone>(&self, topic: &str, qos: QosProfile) -> Heard<M> {
        let messages = Arc::new(Mutex::new(Vec::new()));
        let inside = messages.clone();
        let subscription = self.node.create_subscription(topic, qos, move |message: M| {
            let mut messages = inside.lock();
            if messages.len() == MOST_HEARD {
                messages.remove(0);
            }
            messages.push(message);
        });
        Heard { messages, _subscription: subscription.expect("a subscription can be made") }
    }

    /// Returns a publisher once it has found a subscription.
    ///
    /// # Panics
    /// If there is no subscription.
    pub fn publisher<M: Message>(&self, topic: &str) -> Publisher<M> {
        let publisher = self.node.create_publisher(topic, 10).expect("a publisher can be made");
        publisher.wait_for_subscriptions(1, WATCHDOG).expect("somebody listens");
        publisher
    }

    /// Spins until a condition holds, even if the cause is not a message.
    ///
    /// # Panics
    /// If the condition never holds.
    #[track_caller]
    pub fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let began = Instant::now();
        loop {
            let outcome = self.executor.spin_until(Some(Duration::from_millis(20)), &mut holds);
            if outcome.expect("nobody else spins") == Outcome::Completed(()) {
                return;
            }
            assert!(began.elapsed() < WATCHDOG, "the watchdog bit: {what}");
        }
    }

    /// Spins for this time.
    pub fn spin_for(&self, duration: Duration) {
        let _ = self.executor.spin_until(Some(duration), || false);
    }

    /// Calls a service, once it is ready.
    ///
    /// # Panics
    /// If there is no response.
    #[track_caller]
    pub fn call<S: Service>(&self, service: &str, request: &S::Request) -> S::Response {
        let client = self.node.create_client::<S>(service).expect("a client can be made");
        client.wait_for_service(WATCHDOG).unwrap_or_else(|error| panic!("{error}"));
        client.call_and_wait(request, WATCHDOG).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Sets parameters of a node.
    ///
    /// # Panics
    /// If the node refuses them.
    #[track_caller]
    pub fn set_parameters<V: Into<ParameterValue>>(
        &self,
        node: &str,
        parameters: impl IntoIterator<Item = (&'static str, V)>,
    ) {
        let parameter = |(name, value): (&str, V)| Parameter {
            name: name.to_owned(),
            value: value.into().into(),
        };
        let parameters = parameters.into_iter().map(parameter).collect();
        let request = SetParameters_Request { parameters };
        let response = self.call::<SetParameters>(&format!("{node}/set_parameters"), &request);
        for result in response.results {
            assert!(result.successful, "{node}: {}", result.reason);
        }
    }
}

impl<M: Clone> Heard<M> {
    /// All messages, the oldest first.
    pub fn all(&self) -> Vec<M> {
        self.messages.lock().clone()
    }

    /// The newest message.
    pub fn newest(&self) -> Option<M> {
        self.messages.lock().last().cloned()
    }

    /// Forgets all messages.
    pub fn forget(&self) {
        self.messages.lock().clear();
    }
}

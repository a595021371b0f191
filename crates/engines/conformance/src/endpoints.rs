//! A node of a test and its endpoints, and helpers that wait for endpoints. Tests of engines
//! outside the suite use them as well.

use std::sync::Arc;
use std::sync::mpsc::{TryRecvError, sync_channel};
use std::time::{Duration, Instant};

use feros_engine::engine::GraphChangeGuard;
use feros_engine::{
    Client, ClientOptions, GraphSnapshot, NodeId, NodeName, PublishError, Publisher,
    PublisherOptions, QosProfile, RequestId, Sample, Service, ServiceMapping, ServiceOptions,
    Session, Subscription, SubscriptionOptions, TypeHash, copied,
};

use crate::harness::{
    Fixture, HASH, NUMBER, NotificationCounter, WATCHDOG, number_in, numbered, unique,
};

/// The type of the services of the suite.
const SET_BOOL: &str = "std_srvs/srv/SetBool";

/// The name of a type, and the text of its hash. The text is empty for a type without a hash.
pub type TestType<'a> = (&'a str, &'a str);

/// A session with one node.
pub struct TestNode {
    /// The session.
    pub session: Arc<dyn Session>,
    /// The node.
    pub node: NodeId,
    /// The node's name.
    pub name: NodeName,
    graph: Arc<NotificationCounter>,
    _guard: GraphChangeGuard,
}

/// A publisher and its notifications.
pub struct TestPublisher {
    /// The publisher.
    pub publisher: Arc<dyn Publisher>,
    /// Counts the notifications of events.
    pub events: Arc<NotificationCounter>,
}

/// A subscription and its notifications.
pub struct TestSubscription {
    /// The subscription.
    pub subscription: Arc<dyn Subscription>,
    /// Counts the notifications of messages.
    pub data: Arc<NotificationCounter>,
    /// Counts the notifications of events.
    pub events: Arc<NotificationCounter>,
}

/// A service server and its notifications.
pub struct TestService {
    /// The server.
    pub service: Arc<dyn Service>,
    /// Counts the notifications of requests and of matches.
    pub requests: Arc<NotificationCounter>,
}

/// A service client and its notifications.
pub struct TestClient {
    /// The client.
    pub client: Arc<dyn Client>,
    /// Counts the notifications of responses and of matches.
    pub responses: Arc<NotificationCounter>,
}

impl TestNode {
    /// Creates a node with a unique name.
    pub fn new(session: Arc<dyn Session>) -> Self {
        Self::named(session, "/conformance", &unique("node"))
    }

    /// Creates a node with this name.
    pub fn named(session: Arc<dyn Session>, namespace: &str, name: &str) -> Self {
        let name = NodeName::new(namespace, name).unwrap();
        let node = session.create_node(&name).unwrap();
        let graph = NotificationCounter::new();
        let guard = session.on_graph_change(graph.notify());
        Self { session, node, name, graph, _guard: guard }
    }

    /// Waits until `look` returns a value for the graph.
    pub fn wait_for_graph<T>(
        &self,
        what: &str,
        mut look: impl FnMut(&GraphSnapshot) -> Option<T>,
    ) -> T {
        self.graph.wait_for(what, || look(&self.session.graph()))
    }

    pub(crate) fn publisher_options<'a>(
        &self,
        topic: &'a str,
        qos: QosProfile,
    ) -> PublisherOptions<'a> {
        let type_hash = Some(HASH);
        PublisherOptions { type_hash, qos, ..PublisherOptions::new(self.node, topic, NUMBER) }
    }

    pub(crate) fn publisher_with(&self, mut options: PublisherOptions<'_>) -> TestPublisher {
        let events = NotificationCounter::new();
        options.on_event = Some(events.notify());
        TestPublisher { publisher: self.session.create_publisher(options).unwrap(), events }
    }

    /// Creates a publisher of numbers.
    pub fn publisher(&self, topic: &str, qos: QosProfile) -> TestPublisher {
        self.publisher_with(self.publisher_options(topic, qos))
    }

    /// Creates a publisher of messages of this type.
    pub fn publisher_of(&self, topic: &str, of: TestType<'_>, qos: QosProfile) -> TestPublisher {
        let type_hash = TypeHash::parse(of.1);
        let options = PublisherOptions::new(self.node, topic, of.0);
        self.publisher_with(PublisherOptions { type_hash, qos, ..options })
    }

    pub(crate) fn subscription_options<'a>(
        &self,
        topic: &'a str,
        qos: QosProfile,
    ) -> SubscriptionOptions<'a> {
        let type_hash = Some(HASH);
        SubscriptionOptions { type_hash, qos, ..SubscriptionOptions::new(self.node, topic, NUMBER) }
    }

    pub(crate) fn subscription_with(
        &self,
        mut options: SubscriptionOptions<'_>,
    ) -> TestSubscription {
        let (data, events) = (NotificationCounter::new(), NotificationCounter::new());
        options.on_data = data.notify();
        options.on_event = Some(events.notify());
        TestSubscription {
            subscription: self.session.create_subscription(options).unwrap(),
            data,
            events,
        }
    }

    /// Creates a subscription to numbers.
    pub fn subscription(&self, topic: &str, qos: QosProfile) -> TestSubscription {
        self.subscription_with(self.subscription_options(topic, qos))
    }

    /// Creates a subscription to messages of this type.
    pub fn subscription_of(
        &self,
        topic: &str,
        of: TestType<'_>,
        qos: QosProfile,
    ) -> TestSubscription {
        let type_hash = TypeHash::parse(of.1);
        let options = SubscriptionOptions::new(self.node, topic, of.0);
        self.subscription_with(SubscriptionOptions { type_hash, qos, ..options })
    }

    pub(crate) fn service_options<'a>(&self, service: &'a str) -> ServiceOptions<'a> {
        let hash = Some(HASH);
        ServiceOptions {
            type_hash: hash,
            request_hash: hash,
            response_hash: hash,
            ..ServiceOptions::new(self.node, service, SET_BOOL)
        }
    }

    /// Creates a server with these options and its own notifications.
    pub fn service_with(&self, mut options: ServiceOptions<'_>) -> TestService {
        let requests = NotificationCounter::new();
        (options.on_request, options.on_match) = (requests.notify(), requests.notify());
        TestService { service: self.session.create_service(options).unwrap(), requests }
    }

    pub(crate) fn service(&self, service: &str, mapping: ServiceMapping) -> TestService {
        self.service_with(ServiceOptions { mapping, ..self.service_options(service) })
    }

    /// Creates a server of this type.
    pub fn service_of(&self, service: &str, of: TestType<'_>) -> TestService {
        let type_hash = TypeHash::parse(of.1);
        let options = ServiceOptions::new(self.node, service, of.0);
        self.service_with(ServiceOptions { type_hash, ..options })
    }

    /// Creates a client with these options and its own notifications.
    pub fn client_with(&self, mut options: ClientOptions<'_>) -> TestClient {
        let responses = NotificationCounter::new();
        (options.on_response, options.on_match) = (responses.notify(), responses.notify());
        TestClient { client: self.session.create_client(options).unwrap(), responses }
    }

    pub(crate) fn client_options<'a>(&self, service: &'a str) -> ClientOptions<'a> {
        let hash = Some(HASH);
        ClientOptions {
            type_hash: hash,
            request_hash: hash,
            response_hash: hash,
            ..ClientOptions::new(self.node, service, SET_BOOL)
        }
    }

    pub(crate) fn client(
        &self,
        service: &str,
        force_mapping: Option<ServiceMapping>,
    ) -> TestClient {
        self.client_with(ClientOptions { force_mapping, ..self.client_options(service) })
    }

    /// Creates a client of this type.
    pub fn client_of(&self, service: &str, of: TestType<'_>) -> TestClient {
        let type_hash = TypeHash::parse(of.1);
        let options = ClientOptions::new(self.node, service, of.0);
        self.client_with(ClientOptions { type_hash, ..options })
    }
}

impl TestPublisher {
    /// Publishes a message and returns its number.
    pub fn publish(&self, bytes: &[u8]) -> u64 {
        self.publisher.publish(bytes.len(), &mut copied(bytes)).unwrap()
    }

    /// Publishes a message.
    pub fn send(&self, bytes: &[u8]) {
        self.publish(bytes);
    }

    /// Waits until exactly `count` subscriptions match.
    pub fn wait_for_matches(&self, count: usize) {
        self.events.wait_for("matching subscriptions", || {
            (self.publisher.matched_subscriptions() == count).then_some(())
        });
    }
}

impl TestSubscription {
    /// Waits until exactly `count` publishers match.
    pub fn wait_for_matches(&self, count: usize) {
        self.events.wait_for("matching publishers", || {
            (self.subscription.matched_publishers() == count).then_some(())
        });
    }

    pub(crate) fn matched(&self) -> usize {
        self.subscription.matched_publishers()
    }

    /// Waits for the next message.
    pub fn next(&self) -> Sample {
        self.data.wait_for("a message", || self.subscription.take().unwrap())
    }

    /// Publishes every five seconds until a message comes, for programs on the other side that drop
    /// messages while their link is busy.
    pub fn next_repeated<T>(&self, publish: impl Fn() -> T) -> Sample {
        const PERIOD: Duration = Duration::from_secs(5);
        let watchdog = Instant::now() + WATCHDOG;
        while Instant::now() < watchdog {
            let _ = publish();
            let published = Instant::now();
            while published.elapsed() < PERIOD {
                if let Some(sample) = self.subscription.take().unwrap() {
                    return sample;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
        }
        panic!("no message came, although the test published repeatedly")
    }

    /// Waits for the next message and returns the number in it.
    pub fn next_number(&self) -> u32 {
        number_in(&self.next().payload)
    }
}

impl TestService {
    /// Waits for the next request.
    pub fn next(&self) -> (RequestId, Sample) {
        self.requests.wait_for("a request", || self.service.take_request().unwrap())
    }

    /// Sends a response.
    ///
    /// # Errors
    /// Returns the error of the engine.
    pub fn respond_once(&self, request: &RequestId, bytes: &[u8]) -> Result<(), PublishError> {
        self.service.send_response(request, bytes.len(), &mut copied(bytes))
    }
}

impl TestClient {
    /// Waits until the client can call a server.
    pub fn wait_for_server(&self) {
        self.responses.wait_for("a server", || self.client.service_is_available().then_some(()));
    }

    /// Waits until the client can call no server.
    pub fn wait_for_end_of_server(&self) {
        let is_gone = || (!self.client.service_is_available()).then_some(());
        self.responses.wait_for("the server's end", is_gone);
    }

    /// Sends a request and returns its number.
    pub fn send(&self, bytes: &[u8]) -> i64 {
        self.client.send_request(bytes.len(), &mut copied(bytes)).unwrap()
    }

    pub(crate) fn ask(&self, number: u32) -> i64 {
        self.send(&numbered(number))
    }

    /// Waits for the next response.
    pub fn next(&self) -> (i64, Sample) {
        self.responses.wait_for("a response", || self.client.take_response().unwrap())
    }
}

/// Creates a node in each of the two sessions of a fixture.
pub(crate) fn test_nodes(fixture: &dyn Fixture) -> (TestNode, TestNode) {
    let (near, far) = fixture.open();
    (TestNode::new(near), TestNode::new(far))
}

/// Creates a publisher and a subscription that match, in the two sessions of a fixture.
pub(crate) fn connected(
    fixture: &dyn Fixture,
    topic: &str,
    qos: QosProfile,
) -> (TestNode, TestNode, TestPublisher, TestSubscription) {
    let (near, far) = test_nodes(fixture);
    let topic = unique(topic);
    let (publisher, subscription) = (near.publisher(&topic, qos), far.subscription(&topic, qos));
    matched(&publisher, &subscription);
    (near, far, publisher, subscription)
}

/// Publishes numbers as fast as possible until `work` returns or panics.
pub(crate) fn while_publishing<T>(publisher: &TestPublisher, work: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        // The channel also closes if `work` panics. Otherwise the scope would wait for the thread
        // forever.
        let (_working, ended) = sync_channel::<()>(0);
        scope.spawn(move || {
            let numbers = (0..).take_while(|_| ended.try_recv() == Err(TryRecvError::Empty));
            for number in numbers {
                publisher.publish(&numbered(number));
                std::thread::yield_now();
            }
        });
        work()
    })
}

/// Waits until the publisher and the subscription match only each other.
pub fn matched(publisher: &TestPublisher, subscription: &TestSubscription) {
    publisher.wait_for_matches(1);
    subscription.wait_for_matches(1);
}

/// Waits until all earlier messages of `from` have arrived at `to`. For this, it publishes one more
/// message and waits for it.
pub(crate) fn settled(from: &TestNode, to: &TestNode) {
    let topic = unique("/settled");
    let publisher = from.publisher(&topic, QosProfile::keep_all());
    let subscription = to.subscription(&topic, QosProfile::keep_all());
    matched(&publisher, &subscription);
    publisher.publish(&numbered(0));
    subscription.next();
}

//! The sessions, nodes and endpoints of the tests, and helpers that wait for their notifications.

use feros_sync::{Condvar, Mutex};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{TryRecvError, sync_channel};
use std::time::{Duration, Instant};

use feros_engine::{
    Client, ClientOptions, FillAborted, NodeId, NodeName, Notify, PublishMode, Publisher,
    PublisherOptions, QosProfile, Sample, Service, ServiceMapping, ServiceOptions, Session,
    Subscription, SubscriptionOptions, TypeHash,
};

/// A test that takes longer counts as hanging. All tests of the suite need less than a hundredth of
/// this time.
pub(crate) const WATCHDOG: Duration = Duration::from_secs(60);

/// The type of the messages that [`numbered`] creates. It is a real type, because some engines
/// check the content of messages.
pub(crate) const NUMBER: &str = "std_msgs/msg/UInt32";
pub(crate) const HASH: TypeHash = TypeHash([0x5a; 32]);

/// Opens the sessions of a test.
pub trait Fixture {
    /// Opens two sessions that can reach each other. A fixture that tests a single session returns
    /// the same session twice.
    fn open(&self) -> (Arc<dyn Session>, Arc<dyn Session>);

    /// The tests of features that the protocol of the engine does not have, each with the reason.
    fn exceptions(&self) -> &[(&str, &str)] {
        &[]
    }

    /// Reports that the running test is skipped because it is one of the exceptions.
    fn skip(&self, reason: &str) {
        eprintln!("skipped: {reason}");
    }

    /// The number of DDS networks to which a session is connected. If an endpoint has no ROS gid,
    /// such as a plain endpoint of a service's topic, a session sees it once on each of these
    /// networks.
    fn wires(&self) -> usize {
        1
    }
}

/// Runs a test, unless it is one of the fixture's exceptions.
pub fn run(name: &str, fixture: &dyn Fixture, test: fn(&dyn Fixture)) {
    match fixture.exceptions().iter().find(|(exception, _)| *exception == name) {
        Some((_, reason)) => fixture.skip(reason),
        None => test(fixture),
    }
}

/// Counts notifications, and lets a test wait for them.
#[derive(Default)]
pub struct NotificationCounter {
    count: Mutex<u64>,
    changed: Condvar,
}

impl NotificationCounter {
    /// Creates a counter.
    pub fn new() -> Arc<Self> {
        Arc::default()
    }

    /// Returns the callback that increments the counter.
    pub fn notify(self: &Arc<Self>) -> Notify {
        let counter = self.clone();
        Arc::new(move || {
            // A failed test poisons the lock, but that must not make an engine's thread panic.
            *counter.count.lock() += 1;
            counter.changed.notify_all();
        })
    }

    /// Calls `look` immediately and then after each notification, until it returns a value.
    pub fn wait_for<T>(&self, what: &str, mut look: impl FnMut() -> Option<T>) -> T {
        let deadline = Instant::now() + WATCHDOG;
        loop {
            let seen = *self.count.lock();
            if let Some(found) = look() {
                return found;
            }
            let mut count = self.count.lock();
            while *count == seen {
                let left = deadline.saturating_duration_since(Instant::now());
                assert!(!left.is_zero(), "no notification came while waiting for {what}");
                count = self.changed.wait_timeout(count, left);
            }
        }
    }
}

/// A session with one node.
pub struct TestNode {
    /// The session.
    pub session: Arc<dyn Session>,
    /// The node.
    pub node: NodeId,
    /// The node's name.
    pub name: NodeName,
    graph: Arc<NotificationCounter>,
    _guard: feros_engine::engine::GraphChangeGuard,
}

/// Returns a name that no other test of this process uses.
pub(crate) fn unique(base: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{base}_p{}_{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Creates a node in each of the two sessions of a fixture.
pub(crate) fn test_nodes(fixture: &dyn Fixture) -> (TestNode, TestNode) {
    let (near, far) = fixture.open();
    (TestNode::new(near), TestNode::new(far))
}

/// A publisher of numbers.
pub struct TestPublisher {
    /// The publisher.
    pub publisher: Arc<dyn Publisher>,
    pub(crate) events: Arc<NotificationCounter>,
}

/// A subscription that takes numbers.
pub struct TestSubscription {
    /// The subscription.
    pub subscription: Arc<dyn Subscription>,
    pub(crate) data: Arc<NotificationCounter>,
    pub(crate) events: Arc<NotificationCounter>,
}

impl TestNode {
    /// Creates a node with a unique name.
    pub fn new(session: Arc<dyn Session>) -> Self {
        let name = NodeName::new("/conformance", &unique("node")).unwrap();
        let node = session.create_node(&name).unwrap();
        let graph = NotificationCounter::new();
        let guard = session.on_graph_change(graph.notify());
        Self { session, node, name, graph, _guard: guard }
    }

    /// Waits until `look` returns a value for the graph.
    pub(crate) fn wait_for_graph<T>(
        &self,
        what: &str,
        mut look: impl FnMut(&feros_engine::GraphSnapshot) -> Option<T>,
    ) -> T {
        self.graph.wait_for(what, || look(&self.session.graph()))
    }

    pub(crate) fn publisher_options<'a>(
        &self,
        topic: &'a str,
        qos: QosProfile,
    ) -> PublisherOptions<'a> {
        PublisherOptions {
            node: self.node,
            topic,
            type_name: NUMBER,
            type_hash: Some(HASH),
            qos,
            announcement: "",
            mode: PublishMode::Synchronous,
            on_event: None,
        }
    }

    pub(crate) fn publisher_with(&self, mut options: PublisherOptions<'_>) -> TestPublisher {
        let events = NotificationCounter::new();
        options.on_event = Some(events.notify());
        TestPublisher { publisher: self.session.create_publisher(options).unwrap(), events }
    }

    /// Creates a publisher in this node.
    pub fn publisher(&self, topic: &str, qos: QosProfile) -> TestPublisher {
        self.publisher_with(self.publisher_options(topic, qos))
    }

    pub(crate) fn subscription_options<'a>(
        &self,
        topic: &'a str,
        qos: QosProfile,
    ) -> SubscriptionOptions<'a> {
        SubscriptionOptions {
            node: self.node,
            topic,
            type_name: NUMBER,
            type_hash: Some(HASH),
            qos,
            announcement: "",
            ignore_local_publications: false,
            on_data: Arc::new(|| ()),
            on_event: None,
        }
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

    /// Creates a subscription in this node.
    pub fn subscription(&self, topic: &str, qos: QosProfile) -> TestSubscription {
        self.subscription_with(self.subscription_options(topic, qos))
    }

    pub(crate) fn service(&self, service: &str, mapping: ServiceMapping) -> TestService {
        self.service_with(service, mapping, false)
    }

    pub(crate) fn service_with(
        &self,
        service: &str,
        mapping: ServiceMapping,
        replies_on_demand: bool,
    ) -> TestService {
        self.service_that_announces(service, mapping, replies_on_demand, "")
    }

    pub(crate) fn service_that_announces(
        &self,
        service: &str,
        mapping: ServiceMapping,
        replies_on_demand: bool,
        announcement: &str,
    ) -> TestService {
        let requests = NotificationCounter::new();
        let options = ServiceOptions {
            node: self.node,
            service,
            type_name: "std_srvs/srv/SetBool",
            type_hash: Some(HASH),
            request_hash: Some(HASH),
            response_hash: Some(HASH),
            qos: QosProfile::services_default(),
            mapping,
            replies_on_demand,
            local_requests_only: false,
            announcement,
            on_request: requests.notify(),
            on_match: requests.notify(),
        };
        TestService { service: self.session.create_service(options).unwrap(), requests }
    }

    pub(crate) fn client(
        &self,
        service: &str,
        force_mapping: Option<ServiceMapping>,
    ) -> TestClient {
        self.client_that_announces(service, force_mapping, "")
    }

    pub(crate) fn client_that_announces(
        &self,
        service: &str,
        force_mapping: Option<ServiceMapping>,
        announcement: &str,
    ) -> TestClient {
        let responses = NotificationCounter::new();
        let options = ClientOptions {
            node: self.node,
            service,
            type_name: "std_srvs/srv/SetBool",
            type_hash: Some(HASH),
            request_hash: Some(HASH),
            response_hash: Some(HASH),
            qos: QosProfile::services_default(),
            force_mapping,
            announcement,
            on_response: responses.notify(),
            on_match: responses.notify(),
        };
        TestClient { client: self.session.create_client(options).unwrap(), responses }
    }
}

pub(crate) struct TestService {
    pub(crate) service: Arc<dyn Service>,
    pub(crate) requests: Arc<NotificationCounter>,
}

pub(crate) struct TestClient {
    pub(crate) client: Arc<dyn Client>,
    pub(crate) responses: Arc<NotificationCounter>,
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

impl TestPublisher {
    /// Publishes a message and returns its number.
    pub fn publish(&self, bytes: &[u8]) -> u64 {
        self.publisher.publish(bytes.len(), &mut copy(bytes)).unwrap()
    }

    pub(crate) fn send(&self, bytes: &[u8]) {
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

    pub(crate) fn next(&self) -> Sample {
        self.data.wait_for("a message", || self.subscription.take().unwrap())
    }

    /// Waits for the next message and returns the number in it.
    pub fn next_number(&self) -> u32 {
        number_in(&self.next().payload)
    }
}

/// Waits until the publisher and the subscription match only each other.
pub(crate) fn matched(publisher: &TestPublisher, subscription: &TestSubscription) {
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

/// Creates a message that contains a number.
pub fn numbered(number: u32) -> Vec<u8> {
    [[0, 1, 0, 0], number.to_le_bytes()].concat()
}

pub(crate) fn number_in(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes[4..8].try_into().unwrap())
}

/// Creates a message of `size` bytes. Each byte depends on its position and on `seed`.
pub(crate) fn patterned(size: usize, seed: u8) -> Vec<u8> {
    let mut bytes = vec![0, 1, 0, 0];
    bytes.extend(
        (4..size).map(|at| (at as u8).wrapping_mul(31).wrapping_add((at >> 8) as u8) ^ seed),
    );
    bytes
}

/// Compares messages. A received message may have up to three additional bytes, because messages
/// are padded on the wire.
pub(crate) fn assert_same(received: &[u8], sent: &[u8]) {
    let padding = received.len().checked_sub(sent.len()).expect("nothing is missing at the end");
    assert!(padding < 4, "{padding} bytes more than were sent");
    assert!(received[..sent.len()] == *sent, "the {} bytes differ", sent.len());
}

pub(crate) fn copy(bytes: &[u8]) -> impl FnMut(&mut [u8]) -> Result<(), FillAborted> {
    move |memory: &mut [u8]| {
        memory.copy_from_slice(bytes);
        Ok(())
    }
}

//! Robots whose endpoints are in separate domains, and a running bridge.

use std::sync::Arc;

use feros_cyclonedds::CycloneEngine;
use feros_engine::{
    Client, ClientOptions, Engine, NodeId, NodeName, Publisher, PublisherOptions, QosProfile,
    RequestId, Sample, Service, ServiceOptions, Session, SessionOptions, Stamp, Subscription,
    SubscriptionOptions, TypeHash, copied,
};
use feros_engine_bridge::{Bridge, BridgeOptions, Counts};
use feros_interop::Domain;
use feros_sync::{AtomicBool, Ordering};
use feros_test_support::{Background, eventually, until};

pub(crate) const STRING: &str = "std_msgs/msg/String";
pub(crate) const HASH: TypeHash = TypeHash([0x5a; 32]);

/// The domains of a test. No other test uses them.
pub(crate) struct World {
    domains: Vec<Domain>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::of(2)
    }

    pub(crate) fn of(sides: usize) -> Self {
        Self { domains: (0..sides).map(|_| Domain::reserve_without_ros2()).collect() }
    }

    pub(crate) fn domain_id(&self, side: usize) -> u32 {
        self.domains[side].id().into()
    }

    pub(crate) fn session(&self, side: usize) -> Arc<dyn Session> {
        session(self.domain_id(side))
    }

    pub(crate) fn robot(&self, side: usize, name: &str) -> Robot {
        Robot::on(self.session(side), name)
    }

    pub(crate) fn bridge(&self, options: BridgeOptions) -> Bridge {
        let sessions: Vec<_> = (0..self.domains.len()).map(|side| self.session(side)).collect();
        bridge_of(&sessions, options)
    }

    /// Starts a bridge for all names that are offered and wanted.
    pub(crate) fn running(&self) -> Running {
        Running::start(self.bridge(BridgeOptions::default()))
    }
}

pub(crate) fn session(domain_id: u32) -> Arc<dyn Session> {
    let options = SessionOptions::localhost(domain_id);
    CycloneEngine.open(&options).unwrap()
}

pub(crate) fn bridge_of(sessions: &[Arc<dyn Session>], options: BridgeOptions) -> Bridge {
    let name =
        |(side, session): (usize, &Arc<dyn Session>)| (format!("side {side}"), session.clone());
    Bridge::new(sessions.iter().enumerate().map(name).collect(), options).unwrap()
}

/// A bridge that a thread keeps up to date until this value is dropped.
pub(crate) struct Running {
    bridge: Arc<feros_sync::Mutex<Option<Bridge>>>,
    thread: Option<Background>,
}

impl Running {
    pub(crate) fn start(bridge: Bridge) -> Self {
        let waker = bridge.waker();
        let bridge = Arc::new(feros_sync::Mutex::new(Some(bridge)));
        let (shared, stop) = (bridge.clone(), Arc::new(AtomicBool::new(false)));
        let stopped = stop.clone();
        let work = move || {
            while !stopped.load(Ordering::Acquire) {
                if let Some(bridge) = &mut *shared.lock() {
                    bridge.update();
                }
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        };
        let end = move || {
            stop.store(true, Ordering::Release);
            waker.wake();
        };
        Self { bridge, thread: Some(Background::start("bridge", work, end)) }
    }

    pub(crate) fn look<T>(&self, look: impl FnOnce(&Bridge) -> T) -> T {
        look(self.bridge.lock().as_ref().unwrap())
    }

    /// Returns the bridged names, with their sides.
    pub(crate) fn bridged(&self) -> Vec<(String, usize, usize)> {
        let all = self.look(Bridge::bridged);
        all.into_iter().map(|one| (one.name, one.from, one.to)).collect()
    }

    pub(crate) fn counts(&self, from: usize, to: usize) -> Counts {
        self.look(|bridge| bridge.counts().get(&(from, to)).copied().unwrap_or_default())
    }

    /// Ends the bridge and returns the counts from the first side to the second.
    pub(crate) fn finish(mut self) -> Counts {
        drop(self.thread.take());
        let counts = self.bridge.lock().take().unwrap().finish();
        counts.get(&(0, 1)).copied().unwrap_or_default()
    }
}

/// A session with one node.
pub(crate) struct Robot {
    pub(crate) session: Arc<dyn Session>,
    node: NodeId,
}

pub(crate) struct Talker(pub(crate) Arc<dyn Publisher>);
pub(crate) struct Listener(pub(crate) Arc<dyn Subscription>);
pub(crate) struct Server(pub(crate) Arc<dyn Service>);
pub(crate) struct Caller(pub(crate) Arc<dyn Client>);

const SET_BOOL: &str = "std_srvs/srv/SetBool";

impl Robot {
    pub(crate) fn on(session: Arc<dyn Session>, name: &str) -> Self {
        let node = session.create_node(&NodeName::new("/", name).unwrap()).unwrap();
        Self { session, node }
    }

    pub(crate) fn talker(&self, topic: &str, qos: QosProfile) -> Talker {
        self.talker_of(topic, STRING, qos)
    }

    pub(crate) fn talker_of(&self, topic: &str, type_name: &str, qos: QosProfile) -> Talker {
        self.talker_that_announces(topic, type_name, qos, "")
    }

    pub(crate) fn talker_that_announces(
        &self,
        topic: &str,
        type_name: &str,
        qos: QosProfile,
        announcement: &str,
    ) -> Talker {
        let options = PublisherOptions {
            type_hash: Some(HASH),
            qos,
            announcement,
            ..PublisherOptions::new(self.node, topic, type_name)
        };
        Talker(self.session.create_publisher(options).unwrap())
    }

    pub(crate) fn listener(&self, topic: &str, qos: QosProfile) -> Listener {
        self.listener_of(topic, HASH, qos)
    }

    pub(crate) fn listener_of(&self, topic: &str, hash: TypeHash, qos: QosProfile) -> Listener {
        let options = SubscriptionOptions {
            type_hash: Some(hash),
            qos,
            ..SubscriptionOptions::new(self.node, topic, STRING)
        };
        Listener(self.session.create_subscription(options).unwrap())
    }

    pub(crate) fn server(&self, service: &str) -> Server {
        let options = ServiceOptions {
            type_hash: Some(HASH),
            request_hash: Some(HASH),
            response_hash: Some(HASH),
            ..ServiceOptions::new(self.node, service, SET_BOOL)
        };
        Server(self.session.create_service(options).unwrap())
    }

    pub(crate) fn caller(&self, service: &str) -> Caller {
        let options = ClientOptions {
            type_hash: Some(HASH),
            request_hash: Some(HASH),
            response_hash: Some(HASH),
            ..ClientOptions::new(self.node, service, SET_BOOL)
        };
        Caller(self.session.create_client(options).unwrap())
    }
}

/// Creates a message that contains a number.
pub(crate) fn numbered(number: u32) -> Vec<u8> {
    [[0, 1, 0, 0], number.to_le_bytes()].concat()
}

pub(crate) fn number_in(bytes: &[u8]) -> u32 {
    u32::from_le_bytes(bytes[4..8].try_into().unwrap())
}

impl Talker {
    pub(crate) fn wait_for_matches(&self, count: usize) {
        until("subscriptions that match", || self.0.matched_subscriptions() == count);
    }

    pub(crate) fn say(&self, bytes: &[u8]) {
        eventually(|| self.0.publish(bytes.len(), &mut copied(bytes)));
    }

    pub(crate) fn say_at(&self, stamp: Stamp, bytes: &[u8]) {
        self.0.publish_at(stamp, bytes.len(), &mut copied(bytes)).unwrap();
    }
}

impl Listener {
    pub(crate) fn wait_for_matches(&self, count: usize) {
        until("publishers that match", || self.0.matched_publishers() == count);
    }

    pub(crate) fn next(&self) -> Sample {
        eventually(|| self.0.take().unwrap().ok_or("a message"))
    }

    pub(crate) fn next_number(&self) -> u32 {
        number_in(&self.next().payload)
    }

    pub(crate) fn has_nothing(&self) -> bool {
        self.0.take().unwrap().is_none()
    }
}

impl Server {
    pub(crate) fn next(&self) -> (RequestId, Sample) {
        eventually(|| self.0.take_request().unwrap().ok_or("a request"))
    }

    pub(crate) fn respond(&self, request: &RequestId, number: u32) {
        let bytes = numbered(number);
        self.0.send_response(request, bytes.len(), &mut copied(&bytes)).unwrap();
    }
}

impl Caller {
    pub(crate) fn wait_for_server(&self) {
        until("a server", || self.0.service_is_available());
    }

    pub(crate) fn ask(&self, number: u32) -> i64 {
        let bytes = numbered(number);
        self.0.send_request(bytes.len(), &mut copied(&bytes)).unwrap()
    }

    pub(crate) fn next(&self) -> (i64, u32) {
        let (number, sample) = eventually(|| self.0.take_response().unwrap().ok_or("a response"));
        (number, number_in(&sample.payload))
    }
}

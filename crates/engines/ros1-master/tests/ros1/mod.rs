//! Debian's ROS 1 for these tests: its master, rospy nodes that follow commands, and sessions of
//! the engine.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use feros_conformance::NotificationCounter;
use feros_engine::engine::GraphChangeGuard;
use feros_engine::{
    Client, ClientOptions, CreateEndpointError, Engine as _, GraphSnapshot, NodeId, NodeName,
    PublishMode, Publisher, PublisherOptions, QosProfile, Sample, Service, ServiceMapping,
    ServiceOptions, Session, SessionOptions, Subscription, SubscriptionOptions,
};
use feros_interop::{Domain, interop_is_skipped};
use feros_ros1_master::ConfiguredRos1Engine;
use feros_test_support::WATCHDOG;
use serde_json::{Value, json};

/// Debian's Python interpreter, which has Debian's ROS 1 packages.
const PYTHON: &str = "/usr/bin/python3";
/// The rospy node that follows commands.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/cli/tests/ros1/node.py");

/// A master, and the environment of the nodes under it.
pub struct World {
    domain: Domain,
    port: u16,
    master: Option<Child>,
    home: tempfile::TempDir,
}

impl World {
    /// Starts a master. If the environment says that the interoperability tests must be skipped,
    /// reports this and returns `None`.
    pub fn new() -> Option<Self> {
        let mut world = Self::without_master()?;
        world.start_master();
        Some(world)
    }

    /// Starts two masters that are independent of each other.
    pub fn two() -> Option<(Self, Self)> {
        Some((Self::new()?, Self::new()?))
    }

    pub fn without_master() -> Option<Self> {
        if interop_is_skipped() {
            return None;
        }
        let domain = Domain::reserve_without_ros2();
        // The port is below the ephemeral ports, so no other program takes it while the master
        // restarts.
        let port = 20_000 + domain.id();
        Some(Self { domain, port, master: None, home: tempfile::tempdir().unwrap() })
    }

    pub fn uri(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    pub fn start_master(&mut self) {
        let mut command = Command::new("rosmaster");
        command.args(["--core", "-p", &self.port.to_string()]);
        self.prepare(&mut command);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        self.master = Some(command.spawn().expect("scripts/setup.sh installs ROS 1"));
        let started = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_err() {
            assert!(started.elapsed() < WATCHDOG, "rosmaster does not answer");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills the master with SIGKILL.
    pub fn kill_master(&mut self) {
        if let Some(mut master) = self.master.take() {
            master.kill().unwrap();
            master.wait().unwrap();
        }
    }

    fn prepare(&self, command: &mut Command) {
        self.domain.confine(command);
        command
            .env("ROS_MASTER_URI", self.uri())
            .env("ROS_IP", "127.0.0.1")
            .env("ROS_LOG_DIR", self.home.path())
            .env("ROS_HOME", self.home.path())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env_remove("PYTHONPATH");
    }

    /// Starts a rospy node.
    pub fn rospy(&self, name: &str) -> Rospy {
        let mut command = Command::new(PYTHON);
        command.arg(SCRIPT);
        self.started(command, name)
    }

    /// Starts a node of another program. Like `node.py`, this program follows commands and prints
    /// lines.
    pub fn node_of(&self, program: &Path, name: &str) -> Rospy {
        self.started(Command::new(program), name)
    }

    fn started(&self, mut command: Command, name: &str) -> Rospy {
        command.arg(name).stdin(Stdio::piped()).stdout(Stdio::piped());
        self.prepare(&mut command);
        let mut child = command.spawn().expect("scripts/setup.sh installs ROS 1");
        let (sender, lines) = sync_channel(10_000);
        let out = BufReader::new(child.stdout.take().unwrap());
        let reader = std::thread::Builder::new().name("test-rospy".into());
        reader
            .spawn(move || out.lines().map_while(Result::ok).all(|line| sender.send(line).is_ok()))
            .unwrap();
        let stdin = child.stdin.take().unwrap();
        let mut node = Rospy { child, stdin, lines, heard: Vec::new() };
        assert_eq!(node.answer("ready"), json!(true));
        node
    }

    /// Creates an engine that reaches all other nodes over TCPROS, like the engine of a separate
    /// process.
    pub fn engine(&self) -> ConfiguredRos1Engine {
        ConfiguredRos1Engine::new(&self.uri()).unwrap()
    }

    /// Creates a Feros node that behaves like a node in a separate process.
    pub fn node(&self, name: &str) -> Node {
        Node::of(self.engine().open(&SessionOptions::default()).unwrap(), name)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.kill_master();
    }
}

/// A rospy node. Dropping this value kills the node with SIGKILL.
pub struct Rospy {
    child: Child,
    stdin: ChildStdin,
    lines: Receiver<String>,
    heard: Vec<Value>,
}

impl Rospy {
    fn next(&mut self) -> Value {
        loop {
            let line = self.lines.recv_timeout(WATCHDOG).expect("the node prints no more lines");
            if let Ok(value @ Value::Object(_)) = serde_json::from_str(&line) {
                return value;
            }
        }
    }

    fn answer(&mut self, key: &str) -> Value {
        loop {
            let value = self.next();
            match value.get(key) {
                Some(answer) => return answer.clone(),
                None => self.heard.push(value),
            }
        }
    }

    /// Makes the node perform an operation that `node.py` knows.
    pub fn run(&mut self, operation: Value) -> Value {
        writeln!(self.stdin, "{operation}").unwrap();
        self.answer("done")
    }

    /// Returns the next message on a topic, with all its metadata.
    pub fn heard(&mut self, topic: &str) -> Value {
        loop {
            if let Some(index) = self.heard.iter().position(|value| value["topic"] == topic) {
                return self.heard.remove(index);
            }
            let value = self.next();
            self.heard.push(value);
        }
    }

    /// Publishes a message when a subscriber is connected.
    pub fn publish(&mut self, topic: &str, fields: &Value) {
        feros_test_support::eventually(|| {
            let operation = json!({"do": "publish_now", "topic": topic, "fields": fields});
            if self.run(operation) == json!(true) { Ok(()) } else { Err("nothing is connected") }
        });
    }
}

impl Drop for Rospy {
    fn drop(&mut self) {
        let _ = self.child.kill(); // the process may already have ended
        let _ = self.child.wait();
    }
}

/// A node in a session of the engine.
pub struct Node {
    pub session: Arc<dyn Session>,
    pub id: NodeId,
    graph: Arc<NotificationCounter>,
    _guard: GraphChangeGuard,
}

pub struct Subscribed {
    pub subscription: Arc<dyn Subscription>,
    data: Arc<NotificationCounter>,
    events: Arc<NotificationCounter>,
}

pub struct Published {
    pub publisher: Arc<dyn Publisher>,
    events: Arc<NotificationCounter>,
}

pub struct Served {
    pub service: Arc<dyn Service>,
    requests: Arc<NotificationCounter>,
}

pub struct Calling {
    pub client: Arc<dyn Client>,
    responses: Arc<NotificationCounter>,
}

impl Node {
    pub fn of(session: Arc<dyn Session>, name: &str) -> Self {
        let id = session.create_node(&NodeName::new("/", name).unwrap()).unwrap();
        let graph = NotificationCounter::new();
        let guard = session.on_graph_change(graph.notify());
        Self { session, id, graph, _guard: guard }
    }

    pub fn wait_for_graph<T>(
        &self,
        what: &str,
        mut look: impl FnMut(&GraphSnapshot) -> Option<T>,
    ) -> T {
        self.graph.wait_for(what, || look(&self.session.graph()))
    }

    pub fn try_publisher(
        &self,
        topic: &str,
        type_name: &str,
        qos: QosProfile,
    ) -> Result<Published, CreateEndpointError> {
        let events = NotificationCounter::new();
        let publisher = self.session.create_publisher(PublisherOptions {
            node: self.id,
            topic,
            type_name,
            type_hash: None,
            qos,
            announcement: "",
            mode: PublishMode::Synchronous,
            on_event: Some(events.notify()),
        })?;
        Ok(Published { publisher, events })
    }

    pub fn publisher(&self, topic: &str, type_name: &str, qos: QosProfile) -> Published {
        self.try_publisher(topic, type_name, qos).unwrap()
    }

    pub fn subscription(&self, topic: &str, type_name: &str, qos: QosProfile) -> Subscribed {
        let (data, events) = (NotificationCounter::new(), NotificationCounter::new());
        let subscription = self.session.create_subscription(SubscriptionOptions {
            node: self.id,
            topic,
            type_name,
            type_hash: None,
            qos,
            announcement: "",
            ignore_local_publications: false,
            on_data: data.notify(),
            on_event: Some(events.notify()),
        });
        Subscribed { subscription: subscription.unwrap(), data, events }
    }

    pub fn try_service(&self, service: &str, ty: &str) -> Result<Served, CreateEndpointError> {
        let requests = NotificationCounter::new();
        let service = self.session.create_service(ServiceOptions {
            node: self.id,
            service,
            type_name: ty,
            type_hash: None,
            request_hash: None,
            response_hash: None,
            qos: QosProfile::services_default(),
            mapping: ServiceMapping::default(),
            replies_on_demand: false,
            local_requests_only: false,
            announcement: "",
            on_request: requests.notify(),
            on_match: requests.notify(),
        })?;
        Ok(Served { service, requests })
    }

    pub fn client(&self, service: &str, ty: &str) -> Calling {
        let responses = NotificationCounter::new();
        let client = self.session.create_client(ClientOptions {
            node: self.id,
            service,
            type_name: ty,
            type_hash: None,
            request_hash: None,
            response_hash: None,
            qos: QosProfile::services_default(),
            force_mapping: None,
            announcement: "",
            on_response: responses.notify(),
            on_match: responses.notify(),
        });
        Calling { client: client.unwrap(), responses }
    }
}

fn copied(bytes: &[u8]) -> impl FnMut(&mut [u8]) -> Result<(), feros_engine::FillAborted> {
    move |memory: &mut [u8]| {
        memory.copy_from_slice(bytes);
        Ok(())
    }
}

impl Published {
    pub fn publish(&self, bytes: &[u8]) {
        self.publisher.publish(bytes.len(), &mut copied(bytes)).unwrap();
    }

    pub fn wait_for_matches(&self, count: usize) {
        let look = || (self.publisher.matched_subscriptions() == count).then_some(());
        self.events.wait_for("matching subscriptions", look);
    }
}

impl Subscribed {
    pub fn next(&self) -> Sample {
        self.data.wait_for("a message", || self.subscription.take().unwrap())
    }

    pub fn wait_for_matches(&self, count: usize) {
        let look = || (self.subscription.matched_publishers() == count).then_some(());
        self.events.wait_for("matching publishers", look);
    }
}

impl Served {
    /// Waits for a request, and responds with the result of `answer`.
    pub fn answer(&self, answer: impl FnOnce(&[u8]) -> Vec<u8>) {
        let (id, request) =
            self.requests.wait_for("a request", || self.service.take_request().unwrap());
        let response = answer(&request.payload);
        self.service.send_response(&id, response.len(), &mut copied(&response)).unwrap();
    }
}

impl Calling {
    pub fn wait_for_server(&self, is_there: bool) {
        let look = || (self.client.service_is_available() == is_there).then_some(());
        self.responses.wait_for("the server", look);
    }

    pub fn send(&self, request: &[u8]) -> i64 {
        self.client.send_request(request.len(), &mut copied(request)).unwrap()
    }

    pub fn next(&self) -> (i64, Sample) {
        self.responses.wait_for("a response", || self.client.take_response().unwrap())
    }

    pub fn call(&self, request: &[u8]) -> Vec<u8> {
        let number = self.send(request);
        let (answered, response) = self.next();
        assert_eq!(answered, number);
        response.payload.to_vec()
    }
}

/// Serializes a `std_msgs/msg/String` as CDR.
pub fn text(data: &str) -> Vec<u8> {
    let mut bytes = vec![0, 1, 0, 0];
    put_text(&mut bytes, data);
    bytes
}

/// Appends a string, aligned as in CDR.
pub fn put_text(bytes: &mut Vec<u8>, data: &str) {
    let aligned = 4 + (bytes.len() - 4).next_multiple_of(4);
    bytes.resize(aligned, 0);
    bytes.extend_from_slice(&(data.len() as u32 + 1).to_le_bytes());
    bytes.extend_from_slice(data.as_bytes());
    bytes.push(0);
}

/// Returns the string in a `std_msgs/msg/String`.
pub fn read_text(bytes: &[u8]) -> String {
    let len = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
    String::from_utf8(bytes[8..8 + len - 1].to_vec()).unwrap()
}

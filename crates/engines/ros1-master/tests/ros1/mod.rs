//! Debian's ROS 1 for these tests: its master, rospy nodes that follow commands, and sessions of
//! the engine.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use feros_conformance::{TestClient, TestNode, TestService, TestType};
use feros_engine::{Engine as _, SessionOptions};
use feros_interop::{Domain, interop_is_skipped};
use feros_ros1_master::ConfiguredRos1Engine;
use feros_test_support::WATCHDOG;
use serde_json::{Value, json};

/// Debian's Python interpreter, which has Debian's ROS 1 packages.
const PYTHON: &str = "/usr/bin/python3";
/// The rospy node that follows commands.
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/cli/tests/ros1/node.py");

pub const STRING: TestType<'_> = ("std_msgs/msg/String", "");
pub const SET_BOOL: TestType<'_> = ("std_srvs/srv/SetBool", "");

/// A master, and the environment of its nodes.
pub struct World {
    domain: Domain,
    port: u16,
    master: Option<Child>,
    home: tempfile::TempDir,
}

impl World {
    /// Starts a master. If the environment says to skip the interoperability tests, reports this
    /// and returns `None`.
    pub fn new() -> Option<Self> {
        let mut world = Self::without_master()?;
        world.start_master();
        Some(world)
    }

    /// Starts two masters that know nothing of each other.
    pub fn two() -> Option<(Self, Self)> {
        Some((Self::new()?, Self::new()?))
    }

    pub fn without_master() -> Option<Self> {
        if interop_is_skipped() {
            return None;
        }
        let domain = Domain::reserve_without_ros2();
        // The port is below the ephemeral ports, so no other program takes it when the master is
        // restarted.
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

    /// Starts a node of another program, which follows commands and prints lines like `node.py`.
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
    pub fn node(&self, name: &str) -> TestNode {
        TestNode::named(self.engine().open(&SessionOptions::default()).unwrap(), "/", name)
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.kill_master();
    }
}

/// A rospy node. Dropping it kills it with SIGKILL.
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

    /// Makes the node perform an operation of `node.py`.
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

    /// Publishes a message once a subscriber is connected.
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

/// Responds to the next request with the result of `answer`.
pub fn answer_next(server: &TestService, answer: impl FnOnce(&[u8]) -> Vec<u8>) {
    let (id, request) = server.next();
    server.respond_once(&id, &answer(&request.payload)).unwrap();
}

/// Calls a server and returns its response.
pub fn call(client: &TestClient, request: &[u8]) -> Vec<u8> {
    let number = client.send(request);
    let (answered, response) = client.next();
    assert_eq!(answered, number);
    response.payload.to_vec()
}

/// Appends a string, aligned as in CDR.
pub fn put_text(bytes: &mut Vec<u8>, data: &str) {
    let aligned = 4 + (bytes.len() - 4).next_multiple_of(4);
    bytes.resize(aligned, 0);
    bytes.extend_from_slice(&(data.len() as u32 + 1).to_le_bytes());
    bytes.extend_from_slice(data.as_bytes());
    bytes.push(0);
}

//! Debian's ROS 1 for these tests: its master, rospy nodes that follow commands, and sessions of
//! the engine.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

use std::ffi::OsStr;
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::Command;

use feros_conformance::{TestClient, TestNode, TestService, TestType};
use feros_engine::{Engine as _, SessionOptions};
pub use feros_interop::Ros1Node;
use feros_interop::{Domain, Process, interop_is_skipped};
use feros_ros1_master::ConfiguredRos1Engine;
use feros_test_support::{eventually, until};
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
    master: Option<Process>,
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
        let mut command = self.command("rosmaster");
        command.args(["--core", "-p", &self.port.to_string()]);
        self.master = Some(Process::start(command));
        until("rosmaster answers", || TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok());
    }

    /// Kills the master with SIGKILL.
    pub fn kill_master(&mut self) {
        self.master = None;
    }

    fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        self.domain.confine(&mut command);
        command
            .env("ROS_MASTER_URI", self.uri())
            .env("ROS_IP", "127.0.0.1")
            .env("ROS_LOG_DIR", self.home.path())
            .env("ROS_HOME", self.home.path())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env_remove("PYTHONPATH");
        command
    }

    /// Starts a rospy node.
    pub fn rospy(&self, name: &str) -> Ros1Node {
        let mut command = self.command(PYTHON);
        command.args([SCRIPT, name]);
        Ros1Node::start(command)
    }

    /// Starts a node of another program, which follows commands and prints lines like `node.py`.
    pub fn node_of(&self, program: &Path, name: &str) -> Ros1Node {
        let mut command = self.command(program);
        command.arg(name);
        Ros1Node::start(command)
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

/// Waits until the master has this value for a parameter.
pub fn wait_for_parameter(rospy: &mut Ros1Node, name: &str, expected: &Value) {
    eventually(|| {
        let found = rospy.run(json!({"do": "get_parameter", "name": name}));
        if found == *expected { Ok(()) } else { Err(format!("{name} is {found}, not {expected}")) }
    });
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

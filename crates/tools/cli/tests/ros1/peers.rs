//! Debian's real ROS 1: its master, and nodes of rospy that follow commands; and the bridge as a
//! user runs it. Each of them ends when its value is dropped.

use std::ffi::OsStr;
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use feros::engine::SessionOptions;
use feros::{Context, ContextOptions, Executor, Node, NodeOptions};
use feros_interop::{Domain, interop_is_skipped};
pub(crate) use feros_interop::{Process, Ros1Node};
use feros_link::{Link, LinkOptions, Namespace, NamespaceError, host_address};
use feros_ros1::{Address, Master, SystemState};
use feros_test_support::{WATCHDOG, skip};

/// Debian's Python, which has Debian's ROS 1 packages.
const PYTHON: &str = "/usr/bin/python3";

/// The index of the host that each side runs on.
const ROS1: usize = 0;
const ROS2: usize = 1;

/// A master, a domain and a bridge between them.
pub(crate) struct World {
    pub(crate) domain: Domain,
    pub(crate) port: u16,
    master: Option<Process>,
    home: tempfile::TempDir,
    /// The hosts of ROS 1 and of the command, if not this host: hosts 0 and 1 of a link.
    hosts: Option<[Namespace; 2]>,
}

impl World {
    /// `None` means that the environment skips the interop tests, which is reported.
    ///
    /// # Panics
    /// When ROS 1 is not installed.
    pub(crate) fn new() -> Option<Self> {
        Self::on(None)
    }

    /// A world whose master is the test's own, which listens on this port.
    pub(crate) fn under(port: u16) -> Self {
        let (domain, home) = (Domain::reserve_without_ros2(), tempfile::tempdir().unwrap());
        Self { domain, port, master: None, home, hosts: None }
    }

    /// Two worlds that know nothing of each other.
    pub(crate) fn two() -> Option<(Self, Self)> {
        Some((Self::new()?, Self::new()?))
    }

    /// ROS 1 on one host, the command on another, and the link between them. `None` if this process
    /// may not make hosts, or as for [`World::new`]; both are reported.
    pub(crate) fn apart() -> Option<(Self, Link)> {
        let hosts = match Namespace::new().and_then(|one| Ok([one, Namespace::new()?])) {
            Ok(hosts) => hosts,
            Err(error @ NamespaceError::NotPermitted { .. }) => {
                skip(error);
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        let link = Link::between(&hosts[0], &hosts[1], LinkOptions::default()).unwrap();
        Self::on(Some(hosts)).map(|world| (world, link))
    }

    fn on(hosts: Option<[Namespace; 2]>) -> Option<Self> {
        if interop_is_skipped() {
            return None;
        }
        let domain = Domain::reserve_without_ros2();
        // Below the ports that the system assigns, so that no program takes it between two masters.
        let port = 20_000 + domain.id();
        let mut world =
            Self { domain, port, master: None, home: tempfile::tempdir().unwrap(), hosts };
        world.start_master();
        Some(world)
    }

    pub(crate) fn uri(&self) -> String {
        format!("http://{}:{}/", self.address(ROS1), self.port)
    }

    fn address(&self, side: usize) -> Ipv4Addr {
        if self.hosts.is_some() { host_address(side) } else { Ipv4Addr::LOCALHOST }
    }

    fn command(&self, side: usize, program: impl AsRef<OsStr>) -> Command {
        let mut command = match &self.hosts {
            Some(hosts) => hosts[side].command(program),
            None => Command::new(program),
        };
        self.domain.confine(&mut command);
        command
            .env("ROS_MASTER_URI", self.uri())
            .env("ROS_IP", self.address(side).to_string())
            .env("ROS_LOG_DIR", self.home.path())
            .env("ROS_HOME", self.home.path())
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .env_remove("PYTHONPATH");
        command
    }

    pub(crate) fn start_master(&mut self) {
        let mut command = self.command(ROS1, "rosmaster");
        command.args(["--core", "-p", &self.port.to_string()]);
        self.master = Some(Process::start(command));
        let started = Instant::now();
        let place = (self.address(ROS1), self.port);
        let is_there = || TcpStream::connect(place).is_ok();
        while !self.hosts.as_ref().map_or_else(is_there, |hosts| hosts[0].run(is_there).unwrap()) {
            assert!(
                started.elapsed() < WATCHDOG,
                "rosmaster does not answer; is ROS 1 there? scripts/setup.sh installs it, FEROS_SKIP_INTEROP=1 does \
                 without it"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Kills the master as SIGKILL does.
    pub(crate) fn kill_master(&mut self) {
        self.master = None;
    }

    /// A node of rospy.
    pub(crate) fn node(&self, name: &str) -> Ros1Node {
        self.node_with(name, &[])
    }

    /// A node of rospy with arguments: remappings, and `--log` for a node that logs on `/rosout`.
    pub(crate) fn node_with(&self, name: &str, arguments: &[&str]) -> Ros1Node {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/ros1/node.py");
        let mut command = self.command(ROS1, PYTHON);
        command.args([script, name]).args(arguments);
        Ros1Node::start(command)
    }

    /// A node that is another program; like `node.py`, it reads commands and prints lines.
    pub(crate) fn node_of(&self, program: &Path, name: &str) -> Ros1Node {
        let mut command = self.command(ROS1, program);
        command.arg(name);
        Ros1Node::start(command)
    }

    /// Starts the bridge.
    pub(crate) fn bridge(&self, arguments: &[&str]) -> Process {
        self.feros(&[&["ros1", "bridge"], arguments].concat())
    }

    /// Starts the command.
    pub(crate) fn feros(&self, arguments: &[&str]) -> Process {
        self.feros_in(&[], arguments)
    }

    /// Starts the command with variables of the environment.
    pub(crate) fn feros_in(&self, variables: &[(&str, &str)], arguments: &[&str]) -> Process {
        let mut command = self.command(ROS2, env!("CARGO_BIN_EXE_feros"));
        command.args(arguments);
        command.envs(variables.iter().copied());
        Process::start(command)
    }

    /// The publishers, subscribers and servers at the master.
    pub(crate) fn state(&self) -> SystemState {
        let master = Master::new(Address::parse(&self.uri()).unwrap(), "/test");
        master.system_state().unwrap()
    }

    /// A node of ROS 2 in this process, which is spun.
    pub(crate) fn ros2(&self) -> Ros2 {
        self.ros2_with(NodeOptions::new("robot"))
    }

    /// Like [`World::ros2`], for a node with these options.
    pub(crate) fn ros2_with(&self, options: NodeOptions) -> Ros2 {
        let session = SessionOptions::localhost(self.domain.id().into());
        let context = Context::new(ContextOptions::new(session));
        let context = context.unwrap();
        let node = context.create_node_with(options).unwrap();
        let executor = std::sync::Arc::new(Executor::new());
        executor.add_node(&node).unwrap();
        let spun = executor.clone();
        let thread = std::thread::Builder::new().name("test-spin".into());
        let thread = thread.spawn(move || spun.spin().unwrap()).unwrap();
        Ros2 { node, executor, thread: Some(thread) }
    }
}

/// A node of ROS 2, and the thread that spins it.
pub(crate) struct Ros2 {
    pub(crate) node: Node,
    executor: std::sync::Arc<Executor>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Drop for Ros2 {
    fn drop(&mut self) {
        self.executor.stopper().stop();
        let _ = self.thread.take().map(std::thread::JoinHandle::join);
    }
}

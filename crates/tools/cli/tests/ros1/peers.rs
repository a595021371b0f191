//! Debian's real ROS 1: its master, and nodes of rospy that follow commands; and the bridge as a
//! user runs it. Each of them ends when its value is dropped.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, TcpStream};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, sync_channel};
use std::time::{Duration, Instant};

use feros::engine::SessionOptions;
use feros::{Context, ContextOptions, Executor, Node, NodeOptions};
use feros_interop::{Domain, interop_is_skipped};
use feros_link::{Link, LinkOptions, Namespace, NamespaceError, host_address};
use feros_ros1::{Address, Master, SystemState};
use feros_test_support::{WATCHDOG, skip};
use serde_json::{Value, json};

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
        Self::started(command)
    }

    /// A node that is another program; like `node.py`, it reads commands and prints lines.
    pub(crate) fn node_of(&self, program: &Path, name: &str) -> Ros1Node {
        let mut command = self.command(ROS1, program);
        command.arg(name);
        Self::started(command)
    }

    fn started(command: Command) -> Ros1Node {
        let mut node = Ros1Node { process: Process::start(command), heard: Vec::new() };
        assert_eq!(node.answer("ready"), json!(true));
        node
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

/// A process and the lines of its standard output and standard error.
pub(crate) struct Process {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    said: Vec<String>,
}

impl Process {
    fn start(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| {
            panic!("{command:?}: {error}; scripts/setup.sh installs ROS 1")
        });
        let (sender, lines) = sync_channel(10_000);
        let (out, err) = (child.stdout.take().unwrap(), child.stderr.take().unwrap());
        let also = sender.clone();
        let read = |name: &str| std::thread::Builder::new().name(name.to_owned());
        read("test-out")
            .spawn(move || {
                BufReader::new(out).lines().map_while(Result::ok).all(|l| sender.send(l).is_ok())
            })
            .unwrap();
        read("test-err")
            .spawn(move || {
                BufReader::new(err).lines().map_while(Result::ok).all(|l| also.send(l).is_ok())
            })
            .unwrap();
        let stdin = child.stdin.take();
        Self { child, stdin, lines, said: Vec::new() }
    }

    /// The numbers of its threads and of its descriptors.
    pub(crate) fn threads_and_descriptors(&self) -> (usize, usize) {
        let count = |what| {
            let folder = format!("/proc/{}/{what}", self.child.id());
            std::fs::read_dir(folder).unwrap().count()
        };
        (count("task"), count("fd"))
    }

    /// The next line that `is` accepts; earlier lines count as well.
    pub(crate) fn line(&mut self, is: impl Fn(&str) -> bool) -> String {
        if let Some(line) = self.said.iter().find(|line| is(line)) {
            return line.clone();
        }
        let started = Instant::now();
        while let Some(line) = self.next(started) {
            self.said.push(line.clone());
            if is(&line) {
                return line;
            }
        }
        panic!("its only lines: {:#?}", self.said);
    }

    /// Waits until a text has been printed this many times; returns the last of these lines.
    pub(crate) fn line_again(&mut self, text: &str, times: usize) -> String {
        let started = Instant::now();
        while self.count(text) < times {
            let Some(line) = self.next(started) else {
                panic!("it did not print {text:?} {times} times: {:#?}", self.said)
            };
            self.said.push(line);
        }
        self.said.iter().rfind(|line| line.contains(text)).cloned().unwrap_or_default()
    }

    /// The number of lines so far that contain a text.
    pub(crate) fn count(&mut self, text: &str) -> usize {
        while let Ok(line) = self.lines.try_recv() {
            self.said.push(line);
        }
        self.said.iter().filter(|line| line.contains(text)).count()
    }

    fn next(&self, started: Instant) -> Option<String> {
        self.lines.recv_timeout(WATCHDOG.saturating_sub(started.elapsed())).ok()
    }

    /// Presses Ctrl-C and waits for the end; returns all lines.
    pub(crate) fn interrupt(mut self) -> Vec<String> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}: {:#?}", self.said);
        while let Ok(line) = self.lines.recv() {
            self.said.push(line);
        }
        std::mem::take(&mut self.said)
    }

    /// Waits for the end; returns the exit code and all lines.
    pub(crate) fn finish(mut self) -> (Option<i32>, Vec<String>) {
        let started = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(started.elapsed() < WATCHDOG, "it does not end: {:#?}", self.said);
            std::thread::sleep(Duration::from_millis(10));
        }
        let code = self.child.wait().unwrap().code();
        while let Ok(line) = self.lines.recv() {
            self.said.push(line);
        }
        (code, std::mem::take(&mut self.said))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A node of rospy; dropping it kills it as SIGKILL does.
pub(crate) struct Ros1Node {
    process: Process,
    heard: Vec<Value>,
}

impl Ros1Node {
    fn next(&mut self) -> Value {
        let started = Instant::now();
        while let Some(line) = self.process.next(started) {
            if let Ok(value @ Value::Object(_)) = serde_json::from_str(&line) {
                return value;
            }
            self.process.said.push(line);
        }
        panic!("the node of ROS 1 prints no more lines: {:#?}", self.process.said);
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

    /// Makes the node execute an operation of `node.py`.
    pub(crate) fn run(&mut self, operation: Value) -> Value {
        let stdin = self.process.stdin.as_mut().unwrap();
        writeln!(stdin, "{operation}").unwrap();
        self.answer("done")
    }

    /// The next message on a topic, with all its properties.
    pub(crate) fn heard(&mut self, topic: &str) -> Value {
        loop {
            if let Some(index) = self.heard.iter().position(|value| value["topic"] == topic) {
                return self.heard.remove(index);
            }
            let value = self.next();
            self.heard.push(value);
        }
    }

    /// Whether a text has been received.
    pub(crate) fn heard_any(&mut self, topic: &str, text: &str) -> bool {
        let is = |value: &Value| value["topic"] == topic && value["message"]["data"] == text;
        self.heard.iter().any(is)
    }

    /// Removes and returns a message that was received before the last answer, if there is one.
    pub(crate) fn heard_line(&mut self, topic: &str, is: impl Fn(&Value) -> bool) -> Option<Value> {
        let found = |value: &Value| value["topic"] == topic && is(&value["message"]);
        let index = self.heard.iter().position(found)?;
        Some(self.heard.remove(index)["message"].take())
    }

    /// Publishes as soon as a subscriber is connected.
    pub(crate) fn publish(&mut self, topic: &str, fields: &Value) {
        feros_test_support::eventually(|| {
            let operation = json!({"do": "publish_now", "topic": topic, "fields": fields});
            if self.run(operation) == json!(true) { Ok(()) } else { Err("nobody is connected") }
        });
    }
}

//! Starts containers, each in its own domain, with an index that contains the test libraries.

use feros_test_support::{command_of, eventually};
use std::collections::BTreeSet;
use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use feros::engine::SessionOptions;
use feros::message::Message;
use feros::msgs::composition_interfaces::srv::LoadNode_Request;
use feros::msgs::rcl_interfaces::msg::Parameter;
use feros::msgs::std_srvs::srv::{Trigger, Trigger_Request};
use feros::{Context, ContextOptions, Executor, Node, Outcome, ParameterValue};
use feros_component::install::register;
use feros_component::remote::{ComponentState, ContainerClient, RemoteError};
use feros_interop::Domain;
pub(crate) use feros_test_support::WATCHDOG;
use rustix::process::{Pid, Signal, kill_process};

pub(crate) const SINGLE: &str = env!("CARGO_BIN_EXE_component_container");
pub(crate) const MULTI: &str = env!("CARGO_BIN_EXE_component_container_mt");
pub(crate) const ISOLATED: &str = env!("CARGO_BIN_EXE_component_container_isolated");
pub(crate) const PROCESS: &str = env!("CARGO_BIN_EXE_component_container_process");
pub(crate) const ALL: [&str; 4] = [SINGLE, MULTI, ISOLATED, PROCESS];

/// A library of the test packages, in the folder where cargo builds it for a test.
pub(crate) fn library(crate_name: &str) -> PathBuf {
    let folder = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let path = folder.join(format!("{DLL_PREFIX}{crate_name}{DLL_SUFFIX}"));
    assert!(path.is_file(), "cargo built no {}", path.display());
    path
}

/// A prefix in which the packages `demo` and `faulty` are registered.
pub(crate) fn prefix() -> tempfile::TempDir {
    let prefix = tempfile::tempdir().unwrap();
    for (package, crate_name) in
        [("demo", "demo_components_library"), ("faulty", "faulty_components")]
    {
        register(&library(crate_name), package, prefix.path()).unwrap();
    }
    prefix
}

/// The text that a process wrote to standard error.
#[derive(Default)]
struct Log {
    text: Mutex<String>,
    grew: Condvar,
}

/// A container, and a client in its domain.
pub(crate) struct Container {
    child: Child,
    log: Arc<Log>,
    pub(crate) prefix: tempfile::TempDir,
    pub(crate) client: ContainerClient,
    pub(crate) node: Node,
    pub(crate) domain: Domain,
}

impl Container {
    /// Starts a container and waits until it serves.
    pub(crate) fn start(binary: &str, arguments: &[&str]) -> Self {
        Self::start_in(Domain::reserve_without_ros2(), binary, arguments)
    }

    /// Like [`Container::start`], in this domain.
    pub(crate) fn start_in(domain: Domain, binary: &str, arguments: &[&str]) -> Self {
        let prefix = prefix();
        let mut command = command_of(binary);
        command.args(arguments).env("FEROS_PREFIX_PATH", prefix.path()).stderr(Stdio::piped());
        domain.confine(&mut command);
        let mut child = command.spawn().unwrap();
        let log = Arc::new(Log::default());
        let (inside, stderr) = (log.clone(), child.stderr.take().unwrap());
        std::thread::Builder::new()
            .name("stderr".into())
            .spawn(move || {
                for line in BufReader::new(stderr).lines().map_while(Result::ok) {
                    eprintln!("container: {line}");
                    let mut text = inside.text.lock().unwrap();
                    text.push_str(&line);
                    text.push('\n');
                    inside.grew.notify_all();
                }
            })
            .unwrap();
        let session = SessionOptions::localhost(domain.id().into());
        let options = ContextOptions { session, ..ContextOptions::from_variables().unwrap() };
        let context = Context::new(options).unwrap();
        let node = context.create_node("test").unwrap();
        let client = ContainerClient::new(&node, "/ComponentManager").unwrap();
        client.wait(WATCHDOG).unwrap();
        Self { child, log, prefix, client, node, domain }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Loads a component; returns its number.
    pub(crate) fn load(&self, request: &LoadNode_Request) -> u64 {
        self.client.load(request, WATCHDOG).unwrap().unique_id
    }

    /// The reason why the container refuses this request, which it must refuse.
    pub(crate) fn refusal(&self, request: &LoadNode_Request) -> String {
        match self.client.load(request, WATCHDOG) {
            Err(RemoteError::Refused { reason }) => reason,
            other => panic!("a refusal was expected: {other:?}"),
        }
    }

    /// The numbers and names of the loaded components.
    pub(crate) fn list(&self) -> Vec<(u64, String)> {
        let all = self.client.list(WATCHDOG).unwrap();
        all.into_iter().map(|loaded| (loaded.unique_id, loaded.full_node_name)).collect()
    }

    pub(crate) fn state(&self, id: u64) -> ComponentState {
        let states = self.client.states(WATCHDOG).unwrap().expect("a Feros container has states");
        states.into_iter().find(|state| state.unique_id == id).expect("it is loaded")
    }

    /// Waits until a component is in this state.
    pub(crate) fn wait_for_state(
        &self,
        id: u64,
        wanted: impl Fn(&ComponentState) -> bool,
    ) -> ComponentState {
        eventually(|| {
            let state = self.state(id);
            if wanted(&state) { Ok(state) } else { Err(format!("{state:?}")) }
        })
    }

    /// Calls a service without arguments; returns `None` if the server fails before it answers.
    pub(crate) fn trigger(&self, service: &str, timeout: Duration) -> Option<String> {
        let client = self.node.create_client::<Trigger>(service).unwrap();
        client.wait_for_service(WATCHDOG).unwrap();
        client
            .call_and_wait(&Trigger_Request::default(), timeout)
            .ok()
            .map(|response| response.message)
    }

    /// Makes a component do something that it does not survive.
    pub(crate) fn provoke(&self, service: &str) {
        let client = self.node.create_client::<Trigger>(service).unwrap();
        client.wait_for_service(WATCHDOG).unwrap();
        drop(client.call(&Trigger_Request::default()).unwrap());
    }

    /// Waits for a message on a topic.
    pub(crate) fn hear<M: Message>(&self, topic: &str) -> M {
        let place = Arc::new(Mutex::new(None));
        let inside = place.clone();
        let executor = Executor::new();
        let listener = self.node.context().create_node("hear").unwrap();
        let _subscription = listener
            .create_subscription(topic, 10, move |message: M| {
                *inside.lock().unwrap() = Some(message)
            })
            .unwrap();
        executor.add_node(&listener).unwrap();
        let heard = executor.spin_until(Some(WATCHDOG), || place.lock().unwrap().is_some());
        assert_eq!(heard, Ok(Outcome::Completed(())), "nothing came on {topic}");
        place.lock().unwrap().take().unwrap()
    }

    /// Waits until the container has logged something.
    pub(crate) fn wait_for_log(&self, wanted: &str) {
        let text = self.log.text.lock().unwrap();
        let waited = self
            .log
            .grew
            .wait_timeout_while(text, WATCHDOG, |text| !text.contains(wanted))
            .unwrap();
        assert!(!waited.1.timed_out(), "the container did not log {wanted:?}");
    }

    /// Whether the container has logged something so far.
    pub(crate) fn has_logged(&self, text: &str) -> bool {
        self.log.text.lock().unwrap().contains(text)
    }

    /// Sends a signal and waits for the end.
    pub(crate) fn end(&mut self, signal: Signal) -> ExitStatus {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.wait()
    }

    pub(crate) fn wait(&mut self) -> ExitStatus {
        eventually(|| self.child.try_wait().unwrap().ok_or("the end of the container"))
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        if self.child.try_wait().ok().flatten().is_none() {
            // The process must not outlive the test, whatever the result of the test is.
            drop(self.child.kill());
            drop(self.child.wait());
        }
    }
}

pub(crate) fn request(package: &str, plugin: &str) -> LoadNode_Request {
    LoadNode_Request {
        package_name: package.into(),
        plugin_name: plugin.into(),
        ..LoadNode_Request::default()
    }
}

/// A request for a plugin, with a name for its node.
pub(crate) fn named(package: &str, plugin: &str, name: &str) -> LoadNode_Request {
    LoadNode_Request { node_name: name.into(), ..request(package, plugin) }
}

pub(crate) fn parameter(name: &str, value: impl Into<ParameterValue>) -> Parameter {
    Parameter { name: name.into(), value: value.into().into() }
}

/// The threads, open files and private memory of a process. Memory that the process shares with
/// other processes does not count, since those processes come and go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) threads: usize,
    pub(crate) files: usize,
    pub(crate) own_kib: u64,
}

impl Usage {
    pub(crate) fn of(pid: u32) -> Self {
        let count =
            |folder: &str| std::fs::read_dir(format!("/proc/{pid}/{folder}")).unwrap().count();
        let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).unwrap();
        let line = rollup.lines().find_map(|line| line.strip_prefix("Private_Dirty:")).unwrap();
        let own_kib = line.trim().trim_end_matches(" kB").parse().unwrap();
        Self { threads: count("task"), files: count("fd"), own_kib }
    }
}

/// The names of the threads of a process, in order.
pub(crate) fn thread_names(pid: u32) -> Vec<String> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap().flatten();
    let mut names: Vec<String> = threads
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok())
        .map(|name| name.trim().to_owned())
        .collect();
    names.sort_unstable();
    names
}

/// The files under /dev/shm, where the shared-memory transport has its files.
pub(crate) fn shared_memory_files() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut folders = vec![PathBuf::from("/dev/shm")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else {
                found.insert(path);
            }
        }
    }
    found
}

//! A running launch file.

use feros_sync::Mutex;
use std::io::{BufRead as _, BufReader, Read};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use feros_interop::Domain;
use rustix::process::{Pid, Signal, kill_process};

use crate::installation::{Package, feros};
use crate::usage::{self, Cost, Process, Sample};
use crate::{Observer, WATCHDOG};

/// The variable that marks the processes of a launch, so that they can be found.
const MARK: &str = "FEROS_PLACEMENT";

/// A launch file of an example, started by `feros launch` in a separate domain. Dropping this value
/// always ends the launch.
pub struct Launched {
    launcher: Child,
    mark: String,
    output: Arc<Mutex<String>>,
    domain: Domain,
    _prefix: tempfile::TempDir,
}

impl Launched {
    /// Runs `feros launch <package> <file> <arguments>`.
    ///
    /// # Panics
    /// If the command cannot be started.
    pub fn start(package: &Package, file: &str, arguments: &[&str]) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let mark = format!("{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let domain = Domain::reserve_without_ros2();
        let prefix = package.install();
        let mut command = Command::new(feros());
        command.args(["launch", package.name, file]).args(arguments);
        domain.confine(&mut command);
        let mut launcher = command
            .env("ROS_LOG_DIR", prefix.path().join("log"))
            .env("FEROS_PREFIX_PATH", prefix.path())
            .env(MARK, &mark)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("feros launch does not start: {error}"));
        let output = Arc::new(Mutex::new(String::new()));
        collect(launcher.stdout.take().expect("it is piped"), output.clone());
        collect(launcher.stderr.take().expect("it is piped"), output.clone());
        Self { launcher, mark, output, domain, _prefix: prefix }
    }

    /// A node of this process that subscribes to topics of the example and calls its services.
    pub fn observer(&self) -> Observer {
        Observer::new(self.domain.id())
    }

    /// The output of the launcher and its processes so far.
    pub fn output(&self) -> String {
        self.output.lock().clone()
    }

    /// The processes of the launch, without the launcher.
    pub fn processes(&self) -> Vec<Process> {
        let mut all = usage::processes_with(MARK, &self.mark);
        all.retain(|process| process.pid != self.launcher.id());
        all
    }

    /// Measures the resources that the processes of the launch use during a time.
    ///
    /// # Panics
    /// If one of the processes ends during that time.
    pub fn cost(&self, during: Duration) -> Cost {
        let (began, before) = (Instant::now(), Sample::of(&self.processes()));
        thread::sleep(during);
        let after = Sample::of(&self.processes());
        after.since(&before, began.elapsed())
    }

    /// Ends the launch as Ctrl-C does. It must end successfully and leave no process and no shared
    /// memory behind. Observers must be dropped first, since their shared memory would stay.
    ///
    /// # Panics
    /// If a process or shared memory stays, or the launcher fails.
    pub fn end(mut self) {
        let shared: Vec<PathBuf> =
            self.processes().iter().flat_map(|process| usage::shared_memory(process.pid)).collect();
        let launcher = Pid::from_child(&self.launcher);
        kill_process(launcher, Signal::INT).expect("it runs until it is asked to end");
        let status = self.wait();
        assert!(status.success(), "feros launch ended with {status}:\n{}", self.output());
        let left = self.processes();
        assert!(left.is_empty(), "processes stay behind: {left:?}\n{}", self.output());
        let left = || shared.iter().filter(|file| file.exists()).collect::<Vec<_>>();
        let began = Instant::now();
        while !left().is_empty() {
            assert!(
                began.elapsed() < WATCHDOG,
                "left in /dev/shm: {:#?}\n{}",
                left(),
                self.output()
            );
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn wait(&mut self) -> ExitStatus {
        let began = Instant::now();
        loop {
            if let Some(status) = self.launcher.try_wait().expect("it is our child") {
                return status;
            }
            assert!(began.elapsed() < WATCHDOG, "feros launch does not end:\n{}", self.output());
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Waits for a condition of the launched processes.
    ///
    /// # Panics
    /// If the condition never holds.
    pub fn until(&self, what: &str, mut holds: impl FnMut() -> bool) {
        let began = Instant::now();
        while !holds() {
            assert!(began.elapsed() < WATCHDOG, "the watchdog bit: {what}\n{}", self.output());
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Launched {
    fn drop(&mut self) {
        if matches!(self.launcher.try_wait(), Ok(None)) {
            // A test has failed. The launcher gets some time to end its children.
            let _ = kill_process(Pid::from_child(&self.launcher), Signal::INT);
            let began = Instant::now();
            while matches!(self.launcher.try_wait(), Ok(None))
                && began.elapsed() < Duration::from_secs(20)
            {
                thread::sleep(Duration::from_millis(10));
            }
            let _ = self.launcher.kill();
            let _ = self.launcher.wait();
        }
        for process in self.processes() {
            if let Some(pid) = i32::try_from(process.pid).ok().and_then(Pid::from_raw) {
                let _ = kill_process(pid, Signal::KILL);
            }
        }
        if thread::panicking() {
            eprintln!("--- feros launch wrote:\n{}", self.output());
        }
    }
}

fn collect(pipe: impl Read + Send + 'static, output: Arc<Mutex<String>>) {
    let read = move || {
        for line in BufReader::new(pipe).lines().map_while(Result::ok) {
            let mut output = output.lock();
            output.push_str(&line);
            output.push('\n');
        }
    };
    thread::Builder::new()
        .name("launch-output".into())
        .spawn(read)
        .expect("a thread can be started");
}

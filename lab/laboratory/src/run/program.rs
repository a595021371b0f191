//! A program of a system under test: started, heard, ended.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Read};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::SyncSender;
use std::thread;

use feros_link::Namespace;
use rustix::process::{Pid, Signal};

use crate::contract::{End, ErrorKind, Hello, Line, ProgramError};
use crate::machine::which;
use crate::record::ThreadActivity;
use crate::usage::UsageWatch;

/// A line longer than this ends a program: it speaks no contract.
const LONGEST_LINE_BYTES: u64 = 256 << 20;

/// All that is kept of a program in memory; its raw file has the rest.
const MOST_KEPT_BYTES: usize = 1 << 30;

/// What is started.
pub(super) struct Start<'a> {
    /// For people: `listener 0`.
    pub(super) name: String,
    pub(super) words: Vec<String>,
    pub(super) environment: &'a BTreeMap<String, String>,
    pub(super) folder: &'a Path,
    pub(super) namespace: Option<&'a Namespace>,
    pub(super) realtime: bool,
    /// The processors that it may use, if not all.
    pub(super) processors: Option<String>,
    /// The number of its first subscription among those of the cell.
    pub(super) first_subscription: u32,
}

/// What a program said, and when its output ended.
pub(super) struct Event {
    pub(super) program: usize,
    pub(super) said: Said,
}

pub(super) enum Said {
    Out(String),
    Err(String),
}

/// A program that was started.
pub(super) struct Program {
    pub(super) name: String,
    pub(super) first_subscription: u32,
    pub(super) usage: UsageWatch,
    pub(super) hello: Option<Hello>,
    pub(super) ready: bool,
    pub(super) end: Option<End>,
    pub(super) error: Option<ProgramError>,
    /// Lines with samples, not looked into while messages are under way.
    pub(super) bulk: Vec<String>,
    pub(super) not_understood: u64,
    pub(super) last_errors: VecDeque<String>,
    pub(super) ended: Option<ExitStatus>,
    /// The laboratory killed it: at its limit.
    pub(super) hung: bool,
    /// The laboratory killed it: because another one failed.
    pub(super) killed: bool,
    kept_bytes: usize,
    child: Child,
    stdin: Option<ChildStdin>,
    readers: Vec<thread::JoinHandle<()>>,
}

/// Variables that would configure a system behind the laboratory's back.
const FOREIGN: &[&str] = &[
    "ROS_",
    "RMW_",
    "RCUTILS_",
    "CYCLONEDDS_",
    "FASTDDS_",
    "FASTRTPS_",
    "ZENOH_",
    "FEROS_",
    "IOX_",
];

impl Program {
    pub(super) fn start(
        start: &Start<'_>,
        index: usize,
        events: &SyncSender<Event>,
    ) -> std::io::Result<Self> {
        let mut words: Vec<String> = Vec::new();
        // What the laboratory started ends with it, however it ends.
        if which("setpriv").is_some() {
            words.extend(["setpriv", "--pdeathsig", "KILL"].map(str::to_owned));
        }
        if start.realtime {
            words.extend(["chrt", "--fifo", "50"].map(str::to_owned));
        }
        if let Some(processors) = &start.processors {
            words.extend(["taskset", "--cpu-list", processors].map(str::to_owned));
        }
        words.extend(start.words.iter().cloned());
        let mut command = match start.namespace {
            Some(namespace) => namespace.command(&words[0]),
            None => Command::new(&words[0]),
        };
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            if FOREIGN.iter().any(|prefix| name.starts_with(prefix)) {
                command.env_remove(&*name);
            }
        }
        command
            .args(&words[1..])
            .envs(start.environment)
            .current_dir(start.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // SIGINT of the terminal is the laboratory's.
            .process_group(0);
        let mut child = command.spawn()?;
        let mut readers = Vec::new();
        if let Some(stdout) = child.stdout.take() {
            readers.push(reader(stdout, index, Said::Out, events.clone())?);
        }
        if let Some(stderr) = child.stderr.take() {
            readers.push(reader(stderr, index, Said::Err, events.clone())?);
        }
        Ok(Self {
            name: start.name.clone(),
            first_subscription: start.first_subscription,
            usage: UsageWatch::new(child.id()),
            hello: None,
            ready: false,
            end: None,
            error: None,
            bulk: Vec::new(),
            not_understood: 0,
            last_errors: VecDeque::new(),
            ended: None,
            hung: false,
            killed: false,
            kept_bytes: 0,
            stdin: child.stdin.take(),
            child,
            readers,
        })
    }

    /// Takes in what it said.
    pub(super) fn hear(&mut self, said: Said) {
        let line = match said {
            Said::Err(line) => {
                self.last_errors.push_back(line);
                if self.last_errors.len() > 5 {
                    self.last_errors.pop_front();
                }
                return;
            }
            Said::Out(line) => line,
        };
        if ["{\"samples\"", "{\"published\"", "{\"layers\"", "{\"points\""]
            .iter()
            .any(|begin| line.starts_with(begin))
        {
            self.kept_bytes += line.len();
            if self.kept_bytes <= MOST_KEPT_BYTES {
                self.bulk.push(line);
            }
            return;
        }
        match serde_json::from_str(&line) {
            Ok(Line::Hello(hello)) => self.hello = Some(hello),
            Ok(Line::Ready {}) => self.ready = true,
            Ok(Line::End(end)) => self.end = Some(end),
            Ok(Line::Error(error)) => self.error = Some(error),
            Ok(_) => self.bulk.push(line),
            Err(_) => self.not_understood += 1,
        }
    }

    /// Whether it has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        if self.ended.is_none()
            && let Ok(Some(status)) = self.child.try_wait()
        {
            self.ended = Some(status);
        }
        self.ended.is_some()
    }

    /// Whether it ended in another way than it should.
    pub(super) fn has_failed(&self) -> bool {
        self.error.is_some() || self.ended.is_some_and(|status| !status.success())
    }

    /// Tells it to end.
    pub(super) fn stop(&mut self) {
        self.stdin = None;
    }

    /// Asks a program that reads no standard input to end.
    pub(super) fn terminate(&mut self) {
        if !self.has_ended() {
            let _ = rustix::process::kill_process(Pid::from_child(&self.child), Signal::TERM);
        }
    }

    /// Ends it, and the group that it leads: by number, and only while the number is its own.
    pub(super) fn kill(&mut self) {
        self.stdin = None;
        if self.has_ended() {
            return;
        }
        let _ = rustix::process::kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.kill();
        self.ended = self.child.wait().ok();
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether all that it said has been heard.
    pub(super) fn is_silent(&self) -> bool {
        self.readers.iter().all(thread::JoinHandle::is_finished)
    }

    /// What its threads did while it was watched.
    pub(super) fn thread_activity(&self) -> Vec<ThreadActivity> {
        self.usage.thread_activity()
    }

    /// What it cost.
    pub(super) fn into_usage(mut self) -> BTreeMap<String, f64> {
        std::mem::replace(&mut self.usage, UsageWatch::new(0)).finish()
    }

    /// Why it failed, in a sentence.
    pub(super) fn failure(&self) -> Option<String> {
        let said = self.last_errors.iter().rev().find(|line| !line.trim().is_empty());
        let said = said.map_or_else(String::new, |line| format!(": {}", line.trim()));
        if let Some(error) = &self.error {
            return Some(match error.kind {
                ErrorKind::NotMatched => format!("{} found nobody: {}", self.name, error.text),
                _ => format!("{}: {}", self.name, error.text),
            });
        }
        let status = self.ended?;
        if status.success() {
            return (self.end.is_none() && self.ready)
                .then(|| format!("{} ended without its last line{said}", self.name));
        }
        Some(format!("{} ended with {status}{said}", self.name))
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        self.kill();
    }
}

fn reader(
    stream: impl Read + Send + 'static,
    program: usize,
    said: fn(String) -> Said,
    events: SyncSender<Event>,
) -> std::io::Result<thread::JoinHandle<()>> {
    thread::Builder::new().name("lab-reader".into()).spawn(move || {
        let mut stream = BufReader::with_capacity(1 << 16, stream);
        let mut line = Vec::new();
        loop {
            line.clear();
            match (&mut stream).take(LONGEST_LINE_BYTES).read_until(b'\n', &mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) => {}
            }
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            if !text.is_empty() && events.send(Event { program, said: said(text) }).is_err() {
                return;
            }
        }
    })
}

/// How the folders of cells begin.
const SCRATCH: &str = ".feros-lab-cell-";

/// A folder that goes with its cell.
pub(super) fn scratch() -> std::io::Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix(SCRATCH).tempdir()
}

/// Removes the folders of laboratories that were killed. Only for who holds the lock of the
/// machine: then no cell is running.
pub(super) fn remove_left_scratch() {
    for entry in
        std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().filter_map(Result::ok)
    {
        if entry.file_name().to_string_lossy().starts_with(SCRATCH) {
            // Another user's stays where it is.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// What is put in place of words in braces.
pub(super) struct Placeholders {
    pub(super) all: Vec<(&'static str, String)>,
}

impl Placeholders {
    pub(super) fn fill(&self, text: &str) -> String {
        self.all.iter().fold(text.to_owned(), |text, (name, value)| {
            text.replace(&format!("{{{name}}}"), value)
        })
    }

    pub(super) fn path(&self, text: &str) -> PathBuf {
        self.fill(text).into()
    }
}

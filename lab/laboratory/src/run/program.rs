//! A program of a system under test: starts it, reads its output, ends it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::SyncSender;
use std::thread;

use feros_lab_contract::now_nanos;
use feros_link::Namespace;
use feros_process::{ChildGroup, Signal, read_lines};

use crate::contract::{End, ErrorKind, Hello, Line, ProgramError};
use crate::machine::which;
use crate::record::ThreadActivity;
use crate::usage::UsageWatch;

/// The limit on a line. The laboratory does not understand the parts of a longer one, which the
/// contract does not allow.
const LONGEST_LINE_BYTES: usize = 256 << 20;

/// The limit on the output of a program that is kept in memory; its raw file has the rest.
const MOST_KEPT_BYTES: usize = 1 << 30;

/// The settings for starting a program.
pub(super) struct Start<'a> {
    /// The name for people, such as `listener 0`.
    pub(super) name: String,
    pub(super) words: Vec<String>,
    pub(super) environment: &'a BTreeMap<String, String>,
    /// The prefixes of the variables that would configure a system without the laboratory's
    /// knowledge. The program does not get such variables of the user.
    pub(super) foreign: &'a BTreeSet<&'a str>,
    pub(super) folder: &'a Path,
    pub(super) namespace: Option<&'a Namespace>,
    pub(super) realtime: bool,
    /// The processors that the program may use; `None` means all processors.
    pub(super) processors: Option<String>,
    /// The index of the program's first subscription among the subscriptions of the cell.
    pub(super) first_subscription: u32,
}

/// A line of a program's output, or the end of its output.
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
    /// The times on CLOCK_MONOTONIC at which the program was started, was heard to be ready, had
    /// what it waited for, and was seen to have ended.
    pub(super) started_nanos: u64,
    pub(super) ready_nanos: Option<u64>,
    pub(super) settled_nanos: Option<u64>,
    pub(super) ended_nanos: Option<u64>,
    pub(super) end: Option<End>,
    pub(super) error: Option<ProgramError>,
    /// Lines with samples, which are not parsed while messages are on their way.
    pub(super) bulk: Vec<String>,
    pub(super) not_understood: u64,
    pub(super) last_errors: VecDeque<String>,
    pub(super) ended: Option<ExitStatus>,
    /// Whether the laboratory killed the program at its time limit.
    pub(super) hung: bool,
    /// Whether the laboratory killed the program because another one failed.
    pub(super) killed: bool,
    kept_bytes: usize,
    child: ChildGroup,
    stdin: Option<ChildStdin>,
    readers: Vec<thread::JoinHandle<()>>,
}

/// The variable with the libraries that a program loads before its own.
const PRELOAD: &str = "LD_PRELOAD";

/// The prefix of the variables that the laboratory sets for programs.
const OF_LABORATORY: &str = "FEROS_LAB_";

impl Program {
    pub(super) fn start(
        start: &Start<'_>,
        index: usize,
        events: &SyncSender<Event>,
    ) -> std::io::Result<Self> {
        let mut words: Vec<String> = Vec::new();
        // The program ends with the laboratory, no matter how the laboratory ends.
        if which("setpriv").is_some() {
            words.extend(["setpriv", "--pdeathsig", "KILL"].map(str::to_owned));
        }
        if start.realtime {
            words.extend(["chrt", "--fifo", "50"].map(str::to_owned));
        }
        if let Some(processors) = &start.processors {
            words.extend(["taskset", "--cpu-list", processors].map(str::to_owned));
        }
        // The library is for the program alone, and not for the programs that start it.
        if let Some(library) = start.environment.get(PRELOAD) {
            words.extend(["env".to_owned(), format!("{PRELOAD}={library}")]);
        }
        words.extend(start.words.iter().cloned());
        let mut command = match start.namespace {
            Some(namespace) => namespace.command(&words[0]),
            None => Command::new(&words[0]),
        };
        for (name, _) in std::env::vars_os() {
            let name = name.to_string_lossy();
            let is_foreign = start.foreign.iter().any(|prefix| name.starts_with(prefix));
            if is_foreign || name.starts_with(OF_LABORATORY) {
                command.env_remove(&*name);
            }
        }
        command
            .args(&words[1..])
            .envs(start.environment.iter().filter(|(name, _)| *name != PRELOAD))
            .current_dir(start.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let started_nanos = now_nanos();
        // The terminal's SIGINT is for the laboratory, and does not reach the program.
        let mut child = ChildGroup::spawn(&mut command)?;
        let (stdin, stdout, stderr) = child.take_pipes();
        let out = stdout.map(|stdout| reader(stdout, index, Said::Out, events.clone()));
        let err = stderr.map(|stderr| reader(stderr, index, Said::Err, events.clone()));
        let readers = out.into_iter().chain(err).collect::<Result<_, _>>()?;
        Ok(Self {
            name: start.name.clone(),
            first_subscription: start.first_subscription,
            usage: UsageWatch::new(child.id()),
            hello: None,
            ready: false,
            started_nanos,
            ready_nanos: None,
            settled_nanos: None,
            ended_nanos: None,
            end: None,
            error: None,
            bulk: Vec::new(),
            not_understood: 0,
            last_errors: VecDeque::new(),
            ended: None,
            hung: false,
            killed: false,
            kept_bytes: 0,
            stdin,
            child,
            readers,
        })
    }

    /// Processes a line of the program's output.
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
        if ["{\"samples\"", "{\"published\"", "{\"points\""]
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
            Ok(Line::Ready {}) => {
                self.ready = true;
                self.ready_nanos.get_or_insert_with(now_nanos);
            }
            // A time before the start or in the future is not a time of this program.
            Ok(Line::Settled { at_nanos }) => {
                let at_nanos = at_nanos.clamp(self.started_nanos, now_nanos());
                self.settled_nanos.get_or_insert(at_nanos);
            }
            Ok(Line::End(end)) => self.end = Some(end),
            Ok(Line::Error(error)) => self.error = Some(error),
            Ok(_) => self.bulk.push(line),
            Err(_) => self.not_understood += 1,
        }
    }

    /// Whether the program has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        self.ended = self.child.status();
        if self.ended.is_some() {
            self.ended_nanos.get_or_insert_with(now_nanos);
        }
        self.ended.is_some()
    }

    /// Whether the program has reported an error or has failed.
    pub(super) fn has_failed(&self) -> bool {
        self.error.is_some() || self.ended.is_some_and(|status| !status.success())
    }

    /// Tells the program to end.
    pub(super) fn stop(&mut self) {
        self.stdin = None;
    }

    /// Sends SIGINT, as a terminal does.
    pub(super) fn interrupt(&mut self) {
        self.child.signal_child(Signal::INT);
    }

    /// Asks a program that does not read its standard input to end.
    pub(super) fn terminate(&mut self) {
        self.child.signal_child(Signal::TERM);
    }

    /// Kills the program and its process group, unless the program has ended.
    pub(super) fn kill(&mut self) {
        self.stdin = None;
        self.ended = self.child.kill().ok();
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Whether all output of the program has been read.
    pub(super) fn is_silent(&self) -> bool {
        self.readers.iter().all(thread::JoinHandle::is_finished)
    }

    /// The activity of the program's threads while it was watched.
    pub(super) fn thread_activity(&self) -> Vec<ThreadActivity> {
        self.usage.thread_activity()
    }

    /// The cost of the program.
    pub(super) fn into_usage(self) -> BTreeMap<String, f64> {
        self.usage.finish()
    }

    /// The reason for the program's failure, as a sentence.
    pub(super) fn failure(&self) -> Option<String> {
        let said = self.last_errors.iter().rev().find(|line| !line.trim().is_empty());
        let said = said.map_or_else(String::new, |line| format!(": {}", line.trim()));
        if let Some(error) = &self.error {
            return Some(match error.kind {
                ErrorKind::NotMatched => {
                    format!("{} found no counterpart: {}", self.name, error.text)
                }
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

fn reader(
    stream: impl Read + Send + 'static,
    program: usize,
    said: fn(String) -> Said,
    events: SyncSender<Event>,
) -> std::io::Result<thread::JoinHandle<()>> {
    read_lines("lab-reader", stream, LONGEST_LINE_BYTES, move |line| {
        let mut text = line.unwrap_or_default();
        text.truncate(text.trim_end().len());
        if !text.is_empty() {
            // After the cell has ended, nobody listens.
            let _ = events.send(Event { program, said: said(text) });
        }
    })
}

/// The prefix of the names of cells' folders.
const SCRATCH: &str = ".feros-lab-cell-";

/// Creates a folder that is removed with its cell.
pub(super) fn scratch() -> std::io::Result<tempfile::TempDir> {
    tempfile::Builder::new().prefix(SCRATCH).tempdir()
}

/// Removes the folders of laboratories that were killed. The caller must hold the lock of the
/// machine, so that no cell is running.
pub(super) fn remove_left_scratch() {
    for entry in
        std::fs::read_dir(std::env::temp_dir()).into_iter().flatten().filter_map(Result::ok)
    {
        if entry.file_name().to_string_lossy().starts_with(SCRATCH) {
            // Folders of other users stay.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

/// The values that replace placeholders in braces.
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

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::path::Path;
    use std::sync::mpsc::sync_channel;

    use super::{Event, OF_LABORATORY, Program, Said, Start};

    #[test]
    fn programs_run_without_foreign_variables() {
        let is_usable =
            |name: &String| name != "PATH" && name.len() > 2 && !name.starts_with(OF_LABORATORY);
        let of_user = std::env::vars().map(|(name, _)| name).find(is_usable).unwrap();
        let own = BTreeMap::from([(format!("{of_user}_OF_PEER"), "1".to_owned())]);
        let of_program = |foreign: &BTreeSet<&str>| {
            let start = Start {
                name: "env".into(),
                words: vec!["env".into()],
                environment: &own,
                foreign,
                folder: Path::new("/"),
                namespace: None,
                realtime: false,
                processors: None,
                first_subscription: 0,
            };
            let (sender, events) = sync_channel(1);
            let _program = Program::start(&start, 0, &sender).unwrap();
            drop(sender);
            let mut names = Vec::new();
            for Event { said, .. } in events {
                if let Said::Out(line) = said {
                    names.extend(line.split_once('=').map(|(name, _)| name.to_owned()));
                }
            }
            names
        };
        assert!(of_program(&BTreeSet::new()).contains(&of_user));
        let names = of_program(&BTreeSet::from([&of_user[..]]));
        assert!(!names.contains(&of_user), "{of_user} is in {names:?}");
        assert!(own.keys().all(|name| names.contains(name)), "{names:?}");
    }
}

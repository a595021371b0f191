//! A running program of a peer, and its output.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use feros_lab::contract::{CONTRACT, Fill, Line, Placement, Role, Topology};
use rustix::process::{Pid, Signal, kill_process};

/// The time after which a hanging test is ended. The results of tests do not depend on speed.
const WATCHDOG: Duration = Duration::from_secs(180);
/// The value of `--timeout`: no latency can be longer.
const TIMEOUT_SECONDS: u64 = 40;
/// The time that listeners may continue after their talker has ended, before the test stops them.
const PATIENCE: Duration = Duration::from_secs(10);
/// The limit on unread lines of a program; a run has fewer.
const LINES: usize = 1000;
const COUNT: usize = 20;
const WARM_UP: usize = 5;

/// The arguments that differ between runs.
pub(crate) struct Options {
    pub(crate) role: Role,
    pub(crate) placement: Placement,
    pub(crate) topic: String,
    pub(crate) to: String,
    pub(crate) size_bytes: usize,
    pub(crate) is_text: bool,
    pub(crate) matched: usize,
    pub(crate) index: usize,
    pub(crate) subscriptions: usize,
    pub(crate) nodes: usize,
    /// The fill of payloads that this program writes or expects.
    pub(crate) fill: Fill,
    /// Whether messages are reliable; otherwise they may be lost.
    pub(crate) is_reliable: bool,
    pub(crate) graph: String,
    /// The topics that join the members of a robot.
    pub(crate) topology: Topology,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            role: Role::Talker,
            placement: Placement::Local,
            topic: "lab".into(),
            to: "lab_to".into(),
            size_bytes: 300,
            is_text: false,
            matched: 1,
            index: 0,
            subscriptions: 1,
            nodes: 1,
            fill: Fill::None,
            is_reliable: true,
            graph: String::new(),
            topology: Topology::Ring,
        }
    }
}

impl Options {
    /// The arguments in the form in which the laboratory appends them.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let mut all = vec![
            ("role", self.role.to_string()),
            ("placement", self.placement.to_string()),
            ("topic", self.topic.clone()),
            ("type", if self.is_text { "string" } else { "bytes" }.into()),
            ("size", self.size_bytes.to_string()),
            ("rate", "200".into()),
            ("count", COUNT.to_string()),
            ("seconds", "0".into()),
            ("warm-up", WARM_UP.to_string()),
            ("reliability", if self.is_reliable { "reliable" } else { "best_effort" }.into()),
            ("durability", "volatile".into()),
            ("history", "keep_last".into()),
            ("depth", "100".into()),
            ("deadline-ms", "0".into()),
            ("publish", "default".into()),
            ("timeout", TIMEOUT_SECONDS.to_string()),
            ("samples", "all".into()),
            ("fill", self.fill.to_string()),
            ("work-micros", "0".into()),
            ("executor", "default".into()),
        ];
        match self.role {
            Role::Talker => all.push(("matched", self.matched.to_string())),
            Role::Listener => all.push(("index", self.index.to_string())),
            Role::Relay => all.extend([("to", self.to.clone()), ("index", self.index.to_string())]),
            Role::Pair | Role::Listeners => {
                all.push(("subscriptions", self.subscriptions.to_string()))
            }
            Role::Chain | Role::Nodes => all.push(("nodes", self.nodes.to_string())),
            Role::Executor => all.extend([("idle", "7".into()), ("seconds", "0.05".into())]),
            Role::Graph => all.push(("graph", self.graph.clone())),
            Role::Member => all.extend([
                ("nodes", self.nodes.to_string()),
                ("index", self.index.to_string()),
                ("topology", self.topology.to_string()),
            ]),
            Role::Server | Role::Client | Role::Calls | Role::Newcomer => {}
        }
        all.into_iter().flat_map(|(name, value)| [format!("--{name}"), value]).collect()
    }
}

/// A started program, which is ended when this value is dropped.
pub(crate) struct Program {
    child: Child,
    lines: Receiver<String>,
    said: Said,
}

impl Program {
    pub(crate) fn start(command: &mut Command, options: &Options) -> Result<Self, String> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|error| format!("it does not start: {error}"))?;
        let (sender, lines) = sync_channel(LINES);
        let output = BufReader::new(child.stdout.take().unwrap());
        let mut errors = child.stderr.take().unwrap();
        // Both readers end with the program.
        let said =
            move || output.lines().map_while(Result::ok).try_for_each(|line| sender.send(line));
        thread::Builder::new().name("stdout".into()).spawn(said).unwrap();
        let complained = move || {
            let mut text = Vec::new();
            let _ = errors.read_to_end(&mut text);
            String::from_utf8_lossy(&text).into_owned()
        };
        let stderr = thread::Builder::new().name("stderr".into()).spawn(complained).unwrap();
        let Options { size_bytes, is_reliable, .. } = *options;
        let said = Said { stderr: Some(stderr), size_bytes, is_reliable, ..Said::default() };
        Ok(Self { child, lines, said })
    }

    fn next(&mut self, until: Instant) -> Result<Option<()>, String> {
        match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(text) => {
                let line = serde_json::from_str(&text)
                    .map_err(|error| format!("a line is not of the contract ({error}): {text}"))?;
                self.said.lines.push(line);
                Ok(Some(()))
            }
            Err(RecvTimeoutError::Disconnected) => Ok(None),
            Err(RecvTimeoutError::Timeout) => Err("time is over".into()),
        }
    }

    pub(crate) fn wait_ready(&mut self) -> Result<(), String> {
        self.wait_for("ready", |line| matches!(line, Line::Ready {}))
    }

    /// Waits until the program has what it waits for.
    pub(crate) fn wait_settled(&mut self) -> Result<(), String> {
        self.wait_for("settled", |line| matches!(line, Line::Settled { .. }))
    }

    fn wait_for(&mut self, name: &str, is_it: fn(&Line) -> bool) -> Result<(), String> {
        let until = Instant::now() + WATCHDOG;
        while !self.said.lines.iter().any(is_it) {
            if self.next(until)?.is_none() {
                return Err(format!("it ended without `{name}`: {}", self.said.all()));
            }
        }
        Ok(())
    }

    /// Sends SIGINT, which ends a member.
    pub(crate) fn interrupt(&self) {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let _ = pid.map(|pid| kill_process(pid, Signal::INT));
    }

    pub(crate) fn close_input(&mut self) {
        self.child.stdin.take();
    }

    /// Waits for the program's end. A program that only receives is stopped if it does not end on
    /// its own.
    pub(crate) fn finish(&mut self) -> Result<&Said, String> {
        let began = Instant::now();
        loop {
            let may_be_told = self.child.stdin.is_some() && self.only_receives();
            match self.next(began + if may_be_told { PATIENCE } else { WATCHDOG }) {
                Ok(Some(())) => {}
                Ok(None) => break,
                Err(_) if may_be_told && began.elapsed() >= PATIENCE => self.close_input(),
                Err(error) => return Err(self.complaint(&error)),
            }
        }
        let status = self.wait(began + WATCHDOG).map_err(|error| self.complaint(&error))?;
        if !status.success() {
            return Err(self.complaint(&format!("it ended with {status}")));
        }
        self.said.check_order()?;
        Ok(&self.said)
    }

    fn complaint(&mut self, error: &str) -> String {
        let has_ended = matches!(self.said.lines.last(), Some(Line::End(_)));
        let when = if has_ended { "its output was complete, and then " } else { "" };
        format!("{when}{error}: {}", self.said.all())
    }

    fn only_receives(&self) -> bool {
        let hello = self.said.lines.iter().find_map(|line| match line {
            Line::Hello(hello) => Some(hello.role.as_str()),
            _ => None,
        });
        matches!(hello, Some("listener" | "relay"))
    }

    /// Waits for the exit status.
    pub(crate) fn wait(&mut self, until: Instant) -> Result<ExitStatus, String> {
        loop {
            if let Some(status) = self.child.try_wait().map_err(|error| error.to_string())? {
                return Ok(status);
            }
            if Instant::now() > until {
                return Err("it does not end".into());
            }
            thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The output lines of a program.
#[derive(Default)]
pub(crate) struct Said {
    lines: Vec<Line>,
    stderr: Option<thread::JoinHandle<String>>,
    size_bytes: usize,
    is_reliable: bool,
}

impl Said {
    fn all(&mut self) -> String {
        let stderr =
            self.stderr.take_if(|stderr| stderr.is_finished()).map(thread::JoinHandle::join);
        let stderr = stderr.and_then(Result::ok).unwrap_or_default();
        let last = self.lines.iter().filter(|line| matches!(line, Line::Error(_) | Line::End(_)));
        format!("{:?} {}", last.collect::<Vec<_>>(), stderr.chars().take(2000).collect::<String>())
    }

    fn check_order(&mut self) -> Result<(), String> {
        let is_whole = matches!(self.lines.first(), Some(Line::Hello(hello))
            if hello.contract == CONTRACT && !hello.version.is_empty() && !hello.system.is_empty())
            && self.lines.iter().filter(|line| matches!(line, Line::Ready {})).count() == 1
            && matches!(self.lines.last(), Some(Line::End(_)));
        if is_whole {
            return Ok(());
        }
        let said = self.all();
        Err(format!("not `hello` first, one `ready` and `end` last: {:?} {said}", self.lines))
    }

    fn end(&self) -> Result<&feros_lab::contract::End, String> {
        self.lines
            .iter()
            .find_map(|line| if let Line::End(end) = line { Some(end) } else { None })
            .ok_or_else(|| "no end".into())
    }

    /// Checks that every message was published once, in order, with plausible times.
    pub(crate) fn check_published(&self) -> Result<(), String> {
        let (mut numbers, mut calls, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for line in &self.lines {
            if let Line::Published(published) = line {
                numbers.extend_from_slice(&published.numbers);
                calls.extend_from_slice(&published.call_nanos);
                times.extend_from_slice(&published.at_nanos);
            }
        }
        let wanted: Vec<u64> = (0..(WARM_UP + COUNT) as u64).collect();
        if numbers != wanted || self.end()?.sent != wanted.len() as u64 {
            return Err(format!("published were {numbers:?}, {:?}", self.end()?));
        }
        check_nanos(&calls, wanted.len())?;
        if times.len() != wanted.len() || !times.is_sorted() {
            return Err(format!("times of publishing: {times:?}"));
        }
        Ok(())
    }

    /// Checks that a subscription received every measured message once, with plausible times.
    pub(crate) fn check_received(
        &self,
        subscription: usize,
        subscriptions: usize,
    ) -> Result<(), String> {
        let (mut numbers, mut nanos, mut times) = (Vec::new(), Vec::new(), Vec::new());
        for line in &self.lines {
            if let Line::Samples(samples) = line
                && samples.subscription as usize == subscription
            {
                numbers.extend_from_slice(&samples.numbers);
                nanos.extend(samples.nanos.iter().map(|nanos| u64::try_from(*nanos).unwrap_or(0)));
                times.extend_from_slice(&samples.at_nanos);
            }
        }
        let all = numbers.len();
        let measured: Vec<u64> =
            numbers.iter().copied().filter(|number| *number >= WARM_UP as u64).collect();
        let sent: Vec<u64> = (WARM_UP as u64..(WARM_UP + COUNT) as u64).collect();
        let is_complete = if self.is_reliable {
            measured == sent
        } else {
            !measured.is_empty() && measured.iter().all(|number| sent.contains(number))
        };
        if !is_complete {
            return Err(format!("subscription {subscription} received {numbers:?}"));
        }
        check_nanos(&nanos, all)?;
        if times.len() != all {
            return Err(format!("{} times of receipt for {all} messages", times.len()));
        }
        let end = self.end()?;
        // A listener has only one subscription, regardless of its index.
        let place = if subscriptions == 1 { 0 } else { subscription };
        let bytes = (all * self.size_bytes) as u64;
        if end.received.len() != subscriptions
            || end.received[place] != all as u64
            || end.bytes[place] != bytes
        {
            return Err(format!(
                "subscription {subscription} had {all} samples of {bytes} bytes and said {end:?}"
            ));
        }
        if end.first_nanos == 0 || end.last_nanos < end.first_nanos {
            return Err(format!("times of the first and last message: {end:?}"));
        }
        Ok(())
    }

    /// Checks that a relay published the messages it received, and reports only counts.
    pub(crate) fn check_relayed(&self) -> Result<(), String> {
        let end = self.end()?;
        let has_samples =
            self.lines.iter().any(|line| matches!(line, Line::Samples(_) | Line::Published(_)));
        if has_samples || end.sent < COUNT as u64 || end.received != [end.sent] {
            return Err(format!("a relay said {:?}", self.lines));
        }
        Ok(())
    }

    pub(crate) fn check_silent(&self) -> Result<(), String> {
        let end = self.end()?;
        if self.lines.len() != 3
            || end.sent != 0
            || end.received.iter().any(|received| *received != 0)
        {
            return Err(format!("nodes without endpoints said {:?}", self.lines));
        }
        Ok(())
    }

    /// Checks that a program reports once that it has what it waits for, between `ready` and `end`,
    /// with a time between these moments.
    pub(crate) fn check_settled(&self, began: u64, ended: u64) -> Result<(), String> {
        let [_, Line::Ready {}, Line::Settled { at_nanos }, Line::End(_)] = self.lines.as_slice()
        else {
            return Err(format!("not `ready`, `settled` and `end`: {:?}", self.lines));
        };
        match (began..=ended).contains(at_nanos) {
            true => Ok(()),
            false => Err(format!("{at_nanos} is not from {began} to {ended}")),
        }
    }

    /// Checks that a graph reports no samples of single messages.
    pub(crate) fn check_graph(&self) -> Result<(), String> {
        let has_samples =
            self.lines.iter().any(|line| matches!(line, Line::Samples(_) | Line::Published(_)));
        if has_samples || self.end()?.sent != 0 {
            return Err(format!("a graph said {:?}", self.lines));
        }
        Ok(())
    }

    pub(crate) fn check_events(&self) -> Result<(), String> {
        let rate = self.lines.iter().find_map(|line| match line {
            Line::Values(values) => values.get("events_per_second").copied(),
            _ => None,
        });
        match rate {
            Some(rate) if rate > 0.0 => Ok(()),
            _ => Err(format!("no rate of events in {:?}", self.lines)),
        }
    }
}

/// Checks that there are `count` times, all above zero and below the time limit of a run.
fn check_nanos(nanos: &[u64], count: usize) -> Result<(), String> {
    let possible = 1..TIMEOUT_SECONDS * 1_000_000_000;
    if nanos.len() == count && nanos.iter().all(|nanos| possible.contains(nanos)) {
        return Ok(());
    }
    Err(format!("{count} durations were expected: {nanos:?}"))
}

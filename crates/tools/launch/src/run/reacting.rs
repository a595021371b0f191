//! The reactions to events of a run: what the supervisor tells about its processes, and how long it
//! waits for answers at the end.

use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value as Json, json};

use super::child::Child;
use super::options::StateChange;
use super::request_queue::Request;
use crate::action::{EventKind, IoStream};
use crate::plan::{Event, Reactions};

/// The time that reactions may take after the launch has begun to end.
const PATIENCE: Duration = Duration::from_secs(5);
/// The time that Python may take to end after that.
const GRACE: Duration = Duration::from_secs(3);

/// The limit on bytes of lines that wait for handlers. Above it, processes whose output handlers
/// wait for are not read until the handlers have caught up.
const MOST_WAITING_BYTES: usize = 256 << 10;
/// The bytes that a waiting line needs in addition to its text.
const LINE_BYTES: usize = 1 << 10;

/// The reactions that are being planned.
#[derive(Default)]
pub(super) struct Reacting {
    reactions: Option<Arc<Reactions>>,
    /// The number of events whose reactions are not planned yet.
    pending: usize,
    /// The number of these events that are lines.
    pending_lines: usize,
    waiting_bytes: usize,
    /// The time at which the launch waits no longer.
    due: Option<Instant>,
}

impl Reacting {
    pub(super) fn new(reactions: Option<&Arc<Reactions>>) -> Self {
        if let Some(reactions) = reactions {
            reactions.begin_run();
        }
        Self { reactions: reactions.cloned(), ..Self::default() }
    }

    /// The request for the reactions to an event, if the launch has any.
    pub(super) fn request(&mut self, event: impl FnOnce() -> Event) -> Option<Request> {
        let reactions = Arc::clone(self.reactions.as_ref()?);
        let event = event();
        self.pending += 1;
        self.pending_lines += usize::from(event.kind == EventKind::ProcessIo);
        self.waiting_bytes += waiting_bytes(&event);
        Some(Request::React(reactions, Box::new(event)))
    }

    /// The reactions, if the launch has any.
    pub(super) fn reactions(&self) -> Option<Arc<Reactions>> {
        self.reactions.clone()
    }

    /// The full names of the nodes whose changes have reactions.
    pub(super) fn watched_nodes(&self) -> Vec<String> {
        self.reactions.as_ref().map(|reactions| reactions.watched_nodes()).unwrap_or_default()
    }

    /// Notes that a request was answered, or could not be made.
    pub(super) fn answered(&mut self, event: &Event) {
        self.pending = self.pending.saturating_sub(1);
        let is_line = usize::from(event.kind == EventKind::ProcessIo);
        self.pending_lines = self.pending_lines.saturating_sub(is_line);
        self.waiting_bytes = self.waiting_bytes.saturating_sub(waiting_bytes(event));
    }

    /// Whether lines may be read for handlers.
    pub(super) fn has_room(&self) -> bool {
        self.waiting_bytes < MOST_WAITING_BYTES
    }

    /// Whether handlers wait for a stream of the process of this action.
    pub(super) fn hears(&self, action: Option<u64>, stream: IoStream) -> bool {
        self.reactions.as_ref().is_some_and(|reactions| reactions.hears(action, stream))
    }

    /// Whether a reaction that is being planned may register a handler for the lines of now. Only
    /// as many lines are kept for it as have room, since nobody may want them.
    pub(super) fn may_hear(&self) -> bool {
        self.pending > self.pending_lines && self.has_room()
    }

    /// From now on the launch does not wait for long.
    pub(super) fn begin_end(&mut self) {
        self.due = Some(Instant::now() + PATIENCE);
    }

    /// The time until which the end of the launch waits.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due.filter(|due| self.is_pending() && *due > Instant::now())
    }

    /// Whether a reaction is not planned yet.
    pub(super) fn is_pending(&self) -> bool {
        self.pending > 0
    }

    /// Whether the end of the launch waits for a reaction.
    pub(super) fn is_awaited(&self) -> bool {
        self.due().is_some()
    }

    /// Ends Python if a reaction takes too long; returns the time until which to wait for its end.
    pub(super) fn abort(&self) -> Option<Instant> {
        let reactions = self.reactions.as_ref().filter(|_| self.is_pending())?;
        reactions.abort();
        Some(Instant::now() + GRACE)
    }
}

fn waiting_bytes(event: &Event) -> usize {
    if event.kind != EventKind::ProcessIo {
        return 0;
    }
    let text = ["text", "hex"].iter().find_map(|key| event.details[key].as_str());
    LINE_BYTES + text.map_or(0, str::len)
}

/// The completion of an action, or a timer whose time has come.
pub(super) fn of_action(kind: EventKind, action: u64) -> Event {
    Event { kind, action: Some(action), details: json!({}) }
}

/// An event that a launch file has made, by the number of its object.
pub(super) fn own(object: u64) -> Event {
    Event { kind: EventKind::Own, action: None, details: json!({ "id": object }) }
}

/// A line that a process has written. Python gets it byte for byte.
pub(super) fn written(child: &Child, stream: IoStream, text: Vec<u8>) -> Event {
    let mut details = facts(child);
    details["stream"] = stream.name().into();
    match String::from_utf8(text) {
        Ok(text) => details["text"] = text.into(),
        Err(error) => {
            let digits = error.as_bytes().iter().map(|byte| format!("{byte:02x}"));
            details["hex"] = digits.collect::<String>().into();
        }
    }
    Event { kind: EventKind::ProcessIo, action: child.process.action, details }
}

/// The start of a process.
pub(super) fn started(child: &Child) -> Event {
    let details = facts(child);
    Event { kind: EventKind::ProcessStart, action: child.process.action, details }
}

/// The end of a process.
pub(super) fn ended(child: &Child, status: ExitStatus) -> Event {
    let mut details = facts(child);
    details["returncode"] = json!(exit_code(status));
    Event { kind: EventKind::ProcessExit, action: child.process.action, details }
}

/// The exit code. As in Python, a signal has a negative number.
pub(super) fn exit_code(status: ExitStatus) -> Option<i32> {
    status.code().or_else(|| status.signal().map(|signal| -signal))
}

/// A change of the state of a node.
pub(super) fn changed(node: &str, change: &StateChange) -> Event {
    let details = json!({
        "node": node,
        "transition": change.transition,
        "start": change.start,
        "goal": change.goal,
    });
    Event { kind: EventKind::State, action: None, details }
}

/// The end of the launch.
pub(super) fn shutdown(reason: &str, by_sigint: bool) -> Event {
    let details = json!({ "reason": reason, "due_to_sigint": by_sigint });
    Event { kind: EventKind::Shutdown, action: None, details }
}

/// What Python sees of a process.
fn facts(child: &Child) -> Json {
    json!({
        "name": child.process.name,
        "cmd": child.words,
        "cwd": child.process.directory.as_ref().map(|folder| folder.to_string_lossy()),
        "env": null,
        "pid": child.pid,
    })
}

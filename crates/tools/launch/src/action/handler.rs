//! Reactions to events, which only launch files in Python have
//! (`launch/launch/event_handlers`).

use super::Item;
use crate::position::Position;

/// What happens when an event occurs.
#[derive(Clone, Debug)]
pub(crate) struct Handler {
    /// The number of the Python object; `None` for `on_exit` of a process.
    pub(crate) id: Option<u64>,
    pub(crate) at: Position,
    pub(crate) kind: EventKind,
    pub(crate) target: HandlerTarget,
    /// Whether only the first event counts.
    pub(crate) once: bool,
    pub(crate) reaction: Reaction,
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    ProcessStart,
    ProcessExit,
    Shutdown,
}

impl EventKind {
    /// The name in messages to Python.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ProcessStart => "process_start",
            Self::ProcessExit => "process_exit",
            Self::Shutdown => "shutdown",
        }
    }
}

/// The processes whose events count.
#[derive(Clone, Debug)]
pub(crate) enum HandlerTarget {
    Any,
    /// The processes that these actions start.
    Actions(Vec<u64>),
    /// The processes of the actions for which a Python function returns true.
    Function(u64),
}

#[derive(Clone, Debug)]
pub(crate) enum Reaction {
    Actions(Vec<Item>),
    /// The actions that a Python function returns.
    Function {
        id: u64,
        name: String,
    },
}

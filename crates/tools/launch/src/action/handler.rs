//! Reactions to events, which only launch files in Python have
//! (`launch/launch/event_handlers`).

use super::Item;
use crate::position::Position;
use crate::substitution::Template;

/// What happens when an event occurs.
#[derive(Clone, Debug)]
pub(crate) struct Handler {
    /// The number of the Python object; `None` for `on_exit` of a process.
    pub(crate) id: Option<u64>,
    pub(crate) at: Position,
    pub(crate) kind: EventKind,
    pub(crate) target: HandlerTarget,
    /// The changes of states that count.
    pub(crate) states: StateFilter,
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
    /// A change of the state of a managed node
    /// (`launch_ros/launch_ros/event_handlers/on_state_transition.py`).
    State,
}

/// The changes of states that count; a missing label accepts every state or transition.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateFilter {
    pub(crate) transition: Option<String>,
    pub(crate) start: Option<String>,
    pub(crate) goal: Option<String>,
}

/// The managed nodes that an event is for.
#[derive(Clone, Debug)]
pub(crate) enum NodeMatch {
    /// The node of this action.
    Action(u64),
    /// The node with this name.
    Name(Template),
    /// The nodes of the actions for which a Python function returns true.
    Function(u64),
}

impl EventKind {
    /// The name in messages to Python.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ProcessStart => "process_start",
            Self::ProcessExit => "process_exit",
            Self::Shutdown => "shutdown",
            Self::State => "state",
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

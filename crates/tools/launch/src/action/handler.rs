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
    /// The kind of events; `None` if a function chooses among all events.
    pub(crate) kind: Option<EventKind>,
    pub(crate) target: HandlerTarget,
    /// The changes of states that count.
    pub(crate) states: StateFilter,
    /// The streams whose text counts.
    pub(crate) streams: Vec<IoStream>,
    /// Whether only the first event counts.
    pub(crate) once: bool,
    pub(crate) reaction: Reaction,
}

impl Handler {
    /// Whether an event of this kind may concern the handler, before its functions are asked.
    pub(crate) fn may_concern(&self, kind: EventKind, action: Option<u64>) -> bool {
        let is_of_target = match &self.target {
            HandlerTarget::Actions(ids) => action.is_some_and(|action| ids.contains(&action)),
            HandlerTarget::Any | HandlerTarget::Function(_) | HandlerTarget::Events { .. } => true,
        };
        self.kind.is_none_or(|own| own == kind) && is_of_target
    }
}

/// The kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventKind {
    ProcessStart,
    ProcessExit,
    /// Text that a process writes.
    ProcessIo,
    /// The completion of an action (`launch/launch/action.py`, `visit`).
    Complete,
    /// The time of a timer has come.
    Timer,
    Shutdown,
    /// An event that a launch file has made.
    Own,
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

/// The processes that an event is for.
#[derive(Clone, Debug)]
pub enum ProcessMatch {
    /// The process of this action, by the number of its Python object.
    Action(u64),
    /// The process with this name in the output, such as `talker-1`.
    Name(String),
    /// The processes of the actions for which a Python function returns true, by the number of the
    /// function. The launch calls it when it performs the step.
    Function(u64),
}

impl EventKind {
    /// The name in messages to Python.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::ProcessStart => "process_start",
            Self::ProcessExit => "process_exit",
            Self::ProcessIo => "process_io",
            Self::Complete => "execution_complete",
            Self::Timer => "timer",
            Self::Own => "py",
            Self::Shutdown => "shutdown",
            Self::State => "state",
        }
    }
}

/// A standard stream of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IoStream {
    Stdin,
    Stdout,
    Stderr,
}

impl IoStream {
    pub(crate) const ALL: [Self; 3] = [Self::Stdin, Self::Stdout, Self::Stderr];

    /// The name in messages to Python.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Stdin => "stdin",
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// The actions whose events count.
#[derive(Clone, Debug)]
pub(crate) enum HandlerTarget {
    Any,
    /// These actions.
    Actions(Vec<u64>),
    /// The actions for which a Python function returns true.
    Function(u64),
    /// The events for which a Python function returns true.
    Events {
        id: u64,
        name: String,
    },
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

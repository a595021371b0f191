//! The steps of a plan: processes to start, components to load, messages to log, and delayed steps.

use std::path::PathBuf;
use std::time::Duration;

use feros_process::Signal;

use crate::action::ProcessMatch;
use crate::level::Level;
use crate::output::Output;
use crate::position::Position;
use crate::value::Value;

/// One step.
#[derive(Clone, Debug)]
pub enum Step {
    /// Start a process.
    Start(Box<Process>),
    /// Load components into a container that is running or will run.
    Load(Load),
    /// Log a message.
    Log(Level, String),
    /// Perform steps later.
    After(Delayed),
    /// End the launch, for this reason.
    Shutdown(String),
    /// Make a managed node do a transition.
    Change(Change),
    /// Send a signal to processes, or make them end.
    Signal(ProcessSignal),
    /// Drop the steps of a timer.
    Cancel(Cancel),
    /// Tell the handlers that the action with this number is complete.
    Complete(u64),
    /// Tell the handlers that the time of the timer with this number has come.
    Fire(u64),
    /// Tell the handlers of an event of the launch file, by its number and the name of its class.
    Emit(u64, String),
    /// Perform steps when an event occurs.
    Watch(Watch),
    /// Call this function of a launch file in Python; its steps are not known yet.
    Call(String),
    /// The action at this place reads what is known only when the event of its reaction occurs.
    Unknown(Position),
}

/// A transition of a managed node.
#[derive(Clone, Debug)]
pub struct Change {
    /// The position in the launch file.
    pub at: Position,
    /// The full name of the node.
    pub node: String,
    /// The number of the transition, a constant of `lifecycle_msgs/msg/Transition`.
    pub transition: u8,
}

/// A signal to processes.
#[derive(Clone, Debug)]
pub struct ProcessSignal {
    /// The position in the launch file.
    pub at: Position,
    /// The processes.
    pub processes: ProcessMatch,
    /// The processes in words, such as `talker-1`.
    pub whom: String,
    /// The signal. Without it, the processes end as at the end of the launch, and are not started
    /// again.
    pub signal: Option<Signal>,
}

/// The end of a timer before its time.
#[derive(Clone, Debug)]
pub struct Cancel {
    /// The position of the timer in the launch file.
    pub at: Position,
    /// The number of the timer.
    pub timer: u64,
}

/// The reaction to an event. It is planned anew when the event occurs.
#[derive(Clone, Debug)]
pub struct Watch {
    /// The position in the launch file.
    pub at: Position,
    /// The event in words, such as `talker-1 ends`.
    pub when: String,
    /// Whether only the first event counts.
    pub once: bool,
    /// The steps as they would be at the start of the launch.
    pub steps: Vec<Step>,
}

/// Steps that are performed some time after the preceding steps.
#[derive(Clone, Debug)]
pub struct Delayed {
    /// The position in the launch file.
    pub at: Position,
    /// The number of the Python object that is the timer, by which it is cancelled.
    pub timer: Option<u64>,
    /// The delay.
    pub delay: Duration,
    /// Whether the delay is measured on `/clock`, simulated time.
    pub by_clock: bool,
    /// The delayed steps, in order.
    pub steps: Vec<Step>,
}

/// A process to start.
#[derive(Clone, Debug)]
pub struct Process {
    /// The name in the output, such as `talker-1`.
    pub name: String,
    /// The position in the launch file.
    pub at: Position,
    /// The command line.
    pub command: Vec<Word>,
    /// Whether a shell runs the words, which are then joined by spaces.
    pub by_shell: bool,
    /// The folder in which the process runs, if it is not the launcher's.
    pub directory: Option<PathBuf>,
    /// The differences from the launcher's environment: a value, or `None` for a removed variable.
    pub environment: Vec<(String, Option<String>)>,
    /// Whether the process gets only the variables of `environment`.
    pub replaces_environment: bool,
    /// The destinations of the process's output.
    pub output: Output,
    /// The rules for restarting the process, if it is restarted.
    pub respawn: Option<Respawn>,
    /// Whether the launch ends when the process ends.
    pub ends_launch: bool,
    /// The number of the Python object that starts the process, to which reactions refer.
    pub action: Option<u64>,
    /// Whether handlers wait until the process has ended for good.
    pub tells_completion: bool,
    /// The time that the process may take to end after SIGINT before it gets SIGTERM.
    pub sigterm_timeout: Duration,
    /// The time that the process may take to end after SIGTERM before it gets SIGKILL.
    pub sigkill_timeout: Duration,
    /// Whether the process writes its output to a pseudo terminal.
    pub emulate_tty: bool,
    /// The known facts about the process's node, if it has one.
    pub node: Option<NodeFacts>,
    /// Whether the process's node is a managed node that is configured and activated after each
    /// start.
    pub autostart: bool,
    /// The components to load, if the process is a container.
    pub components: Vec<Component>,
}

/// A word of a command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// The word itself.
    Text(String),
    /// The path of a file with these parameters, which is written when the process starts.
    ParameterFile(ParameterFile),
}

/// A parameter file to write.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterFile {
    /// The file's text.
    pub text: String,
    /// The parameters, to be shown to people; empty if the file is a copy of another file with its
    /// substitutions evaluated.
    pub entries: Vec<(String, Value)>,
}

/// The known facts about a node.
#[derive(Clone, Debug, Default)]
pub struct NodeFacts {
    /// The name, if the launch file gives one.
    pub name: Option<String>,
    /// The namespace, if the launch file gives one.
    pub namespace: Option<String>,
    /// The sources of the node's parameters, in order.
    pub parameters: Vec<Parameters>,
    /// The remaps of the node's names.
    pub remaps: Vec<(String, String)>,
}

impl NodeFacts {
    /// The fully qualified name, if it is known.
    pub fn full_name(&self) -> Option<String> {
        let name = self.name.as_deref()?;
        Some(format!("{}/{name}", self.namespace.as_deref().unwrap_or("").trim_end_matches('/')))
    }
}

/// A source of parameters: the launch file or a parameter file.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameters {
    /// Values in the launch file.
    Values(Vec<(String, Value)>),
    /// A parameter file.
    File(PathBuf),
    /// The text of a parameter file whose substitutions have been evaluated.
    Text(String),
}

/// Components for a container.
#[derive(Clone, Debug)]
pub struct Load {
    /// The position in the launch file.
    pub at: Position,
    /// The full name of the container's node.
    pub container: String,
    /// The components, in order.
    pub components: Vec<Component>,
}

/// A component to load.
#[derive(Clone, Debug)]
pub struct Component {
    /// The position in the launch file.
    pub at: Position,
    /// The package of the component.
    pub package: String,
    /// The type of the component, such as `demo::Talker`.
    pub plugin: String,
    /// The known facts about the node; it has the component's defaults for the others.
    pub node: NodeFacts,
    /// Arguments for the container, such as `use_intra_process_comms`.
    pub extra_arguments: Vec<(String, Value)>,
}

/// The rules for restarting a process after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Respawn {
    /// The delay before a restart. Without it, the delay grows while the process keeps dying early.
    pub delay: Option<Duration>,
    /// The maximum number of restarts, if there is a limit.
    pub max_retries: Option<u32>,
}

//! The steps of a plan: processes to start, components to load, messages to log, and delayed steps.

use std::path::PathBuf;
use std::time::Duration;

use crate::level::Level;
use crate::position::Position;
use crate::value::Value;

/// The steps of a launch, in order.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The launch file.
    pub file: PathBuf,
    /// The steps.
    pub steps: Vec<Step>,
    /// Possible mistakes that do not stop the plan.
    pub warnings: Vec<String>,
}

/// One step.
#[derive(Clone, Debug)]
pub enum Step {
    /// Start a process.
    Start(Box<Process>),
    /// Load components into a container that runs or will run.
    Load(Load),
    /// Log a message.
    Log(Level, String),
    /// Perform steps later.
    After(Delayed),
    /// End everything, for this reason.
    Shutdown(String),
}

/// Steps that are performed some time after the steps before them.
#[derive(Clone, Debug)]
pub struct Delayed {
    /// The place in the launch file.
    pub at: Position,
    /// The delay.
    pub delay: Duration,
    /// Whether the delay counts by `/clock`, simulated time.
    pub by_clock: bool,
    /// The delayed steps, in order.
    pub steps: Vec<Step>,
}

/// A process to start.
#[derive(Clone, Debug)]
pub struct Process {
    /// The name in the output, such as `talker-1`.
    pub name: String,
    /// The place in the launch file.
    pub at: Position,
    /// The command line.
    pub command: Vec<Word>,
    /// The folder it runs in, if it is not the launcher's.
    pub directory: Option<PathBuf>,
    /// The differences from the launcher's environment: a value, or `None` for a removed variable.
    pub environment: Vec<(String, Option<String>)>,
    /// The destinations of its output.
    pub output: Output,
    /// The rules for restarting it, if it is restarted.
    pub respawn: Option<Respawn>,
    /// Whether the launch ends with it.
    pub ends_launch: bool,
    /// The time that it may take to end after SIGINT, before it gets SIGTERM.
    pub sigterm_timeout: Duration,
    /// The time that it may take to end after SIGTERM, before it gets SIGKILL.
    pub sigkill_timeout: Duration,
    /// Whether its output is a terminal to it.
    pub emulate_tty: bool,
    /// The known facts about its node, if it has one.
    pub node: Option<NodeFacts>,
    /// Whether its node is managed, and is configured and activated after each start.
    pub autostart: bool,
    /// The components that it loads, if it is a container.
    pub components: Vec<Component>,
}

/// A word of a command line.
#[derive(Clone, Debug, PartialEq)]
pub enum Word {
    /// The word itself.
    Text(String),
    /// The path of a file with these parameters, which is made when the process starts.
    ParameterFile(ParameterFile),
}

/// A parameter file to make.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterFile {
    /// The file's text.
    pub text: String,
    /// The parameters, for people; empty for a copy of another file with its substitutions done.
    pub entries: Vec<(String, Value)>,
}

/// The known facts about a process's node.
#[derive(Clone, Debug, Default)]
pub struct NodeFacts {
    /// The name, if the launch file gives one.
    pub name: Option<String>,
    /// The namespace, if the launch file gives one.
    pub namespace: Option<String>,
    /// The sources of its parameters, in order.
    pub parameters: Vec<Parameters>,
    /// The remaps of its names.
    pub remaps: Vec<(String, String)>,
}

impl NodeFacts {
    /// The fully qualified name, if it is known.
    pub fn full_name(&self) -> Option<String> {
        let name = self.name.as_deref()?;
        Some(format!("{}/{name}", self.namespace.as_deref().unwrap_or("").trim_end_matches('/')))
    }
}

/// A source of parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameters {
    /// The launch file.
    Values(Vec<(String, Value)>),
    /// A parameter file.
    File(PathBuf),
    /// A parameter file after its substitutions.
    Text(String),
}

/// Components for a container.
#[derive(Clone, Debug)]
pub struct Load {
    /// The place in the launch file.
    pub at: Position,
    /// The container's node, fully qualified.
    pub container: String,
    /// The components, in order.
    pub components: Vec<Component>,
}

/// A component to load.
#[derive(Clone, Debug)]
pub struct Component {
    /// The place in the launch file.
    pub at: Position,
    /// Its package.
    pub package: String,
    /// The type, such as `demo::Talker`.
    pub plugin: String,
    /// The node's name, if it is not the component's own.
    pub name: Option<String>,
    /// The node's namespace, if it is not the component's own.
    pub namespace: Option<String>,
    /// The sources of its parameters, in order.
    pub parameters: Vec<Parameters>,
    /// The remaps of its names.
    pub remaps: Vec<(String, String)>,
    /// Arguments for the container, such as `use_intra_process_comms`.
    pub extra_arguments: Vec<(String, Value)>,
}

/// The destinations of an output stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sinks {
    /// To the terminal.
    pub screen: bool,
    /// To the launch's log file.
    pub log: bool,
}

/// The destinations of a process's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Standard output.
    pub stdout: Sinks,
    /// Standard error.
    pub stderr: Sinks,
}

impl Output {
    pub(crate) const MODES: [&'static str; 5] = ["screen", "log", "both", "own_log", "full"];

    /// The output of a mode's name; the default mode is `log`: standard error is shown, and
    /// everything is logged.
    pub(crate) fn from_mode(mode: &str) -> Option<Self> {
        let sinks = |screen, log| Sinks { screen, log };
        match mode {
            "screen" => Some(Self { stdout: sinks(true, false), stderr: sinks(true, false) }),
            "log" | "own_log" => {
                Some(Self { stdout: sinks(false, true), stderr: sinks(mode == "log", true) })
            }
            "both" | "full" => Some(Self { stdout: sinks(true, true), stderr: sinks(true, true) }),
            _ => None,
        }
    }
}

/// The rules for restarting a process after its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Respawn {
    /// The delay before; without it, a delay that grows while the process keeps dying early.
    pub delay: Option<Duration>,
    /// The most restarts, if there is a limit.
    pub max_retries: Option<u32>,
}

impl Plan {
    /// The processes.
    pub fn processes(&self) -> impl Iterator<Item = &Process> {
        self.all_steps().into_iter().filter_map(|step| {
            if let Step::Start(process) = step { Some(process.as_ref()) } else { None }
        })
    }

    /// All steps, including delayed ones, each of which comes after the step that it waits for.
    pub fn all_steps(&self) -> Vec<&Step> {
        let mut all = Vec::new();
        let mut rest: Vec<&Step> = self.steps.iter().rev().collect();
        while let Some(step) = rest.pop() {
            all.push(step);
            if let Step::After(delayed) = step {
                rest.extend(delayed.steps.iter().rev());
            }
        }
        all
    }

    /// The number of components to load.
    pub fn component_count(&self) -> usize {
        let loaded = self.all_steps().into_iter().map(|step| match step {
            Step::Start(process) => process.components.len(),
            Step::Load(load) => load.components.len(),
            Step::Log(..) | Step::After(_) | Step::Shutdown(_) => 0,
        });
        loaded.sum()
    }
}

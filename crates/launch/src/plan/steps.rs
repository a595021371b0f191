//! The steps of a plan: processes to start, components to load, messages to log, and what is done
//! later.

use std::path::PathBuf;
use std::time::Duration;

use crate::level::Level;
use crate::position::Position;
use crate::value::Value;

/// What is to be done, in order.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The launch file.
    pub file: PathBuf,
    /// The steps.
    pub steps: Vec<Step>,
    /// What seems wrong though it can be done.
    pub warnings: Vec<String>,
}

/// One thing to do.
#[derive(Clone, Debug)]
pub enum Step {
    /// Start a process.
    Start(Box<Process>),
    /// Load components into a container that is there or will be.
    Load(Load),
    /// Log a message.
    Log(Level, String),
    /// Do something later.
    After(Delayed),
    /// End everything, for this reason.
    Shutdown(String),
}

/// What is done some time after the steps before it.
#[derive(Clone, Debug)]
pub struct Delayed {
    /// Where the file asks for it.
    pub at: Position,
    /// How much later.
    pub delay: Duration,
    /// Whether that is time of `/clock`, which somebody simulates.
    pub by_clock: bool,
    /// What is to be done, in order.
    pub steps: Vec<Step>,
}

/// A process to start.
#[derive(Clone, Debug)]
pub struct Process {
    /// The name in the output, such as `talker-1`.
    pub name: String,
    /// Where the file asks for it.
    pub at: Position,
    /// The command line.
    pub command: Vec<Word>,
    /// The folder it runs in, if it is not this process's.
    pub directory: Option<PathBuf>,
    /// What differs from this process's environment: a value, or `None` for what is taken away.
    pub environment: Vec<(String, Option<String>)>,
    /// Where its output goes.
    pub output: Output,
    /// Whether and how it is started again.
    pub respawn: Option<Respawn>,
    /// Whether everything ends with it.
    pub ends_launch: bool,
    /// How long it may take to end after SIGINT, before it gets SIGTERM.
    pub sigterm_timeout: Duration,
    /// How long it may take to end after SIGTERM, before it gets SIGKILL.
    pub sigkill_timeout: Duration,
    /// Whether its output is a terminal to it.
    pub emulate_tty: bool,
    /// What is known of its node, if it has one.
    pub node: Option<NodeFacts>,
    /// Whether its node is managed, and is configured and activated each time it has started.
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

/// A parameter file that is to be made.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterFile {
    /// The file's text.
    pub text: String,
    /// The parameters, for people; empty when it is a copy of another file with substitutions done.
    pub entries: Vec<(String, Value)>,
}

/// What is known of a process's node.
#[derive(Clone, Debug, Default)]
pub struct NodeFacts {
    /// The name, if the launch file says it.
    pub name: Option<String>,
    /// The namespace, if the launch file says it.
    pub namespace: Option<String>,
    /// Where its parameters come from, in order.
    pub parameters: Vec<Parameters>,
    /// What its names are replaced with.
    pub remaps: Vec<(String, String)>,
}

impl NodeFacts {
    /// The fully qualified name, if it is known.
    pub fn full_name(&self) -> Option<String> {
        let name = self.name.as_deref()?;
        Some(format!("{}/{name}", self.namespace.as_deref().unwrap_or("").trim_end_matches('/')))
    }
}

/// Where parameters come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameters {
    /// The launch file.
    Values(Vec<(String, Value)>),
    /// A parameter file.
    File(PathBuf),
    /// A parameter file after its substitutions were done.
    Text(String),
}

/// Components for a container.
#[derive(Clone, Debug)]
pub struct Load {
    /// Where the file asks for it.
    pub at: Position,
    /// The container's node, fully qualified.
    pub container: String,
    /// The components, in order.
    pub components: Vec<Component>,
}

/// A component to load.
#[derive(Clone, Debug)]
pub struct Component {
    /// Where the file asks for it.
    pub at: Position,
    /// The package it is of.
    pub package: String,
    /// The type, such as `demo::Talker`.
    pub plugin: String,
    /// The node's name, if it is not the component's own.
    pub name: Option<String>,
    /// The node's namespace, if it is not the component's own.
    pub namespace: Option<String>,
    /// Where its parameters come from, in order.
    pub parameters: Vec<Parameters>,
    /// What its names are replaced with.
    pub remaps: Vec<(String, String)>,
    /// Arguments for the container, such as `use_intra_process_comms`.
    pub extra_arguments: Vec<(String, Value)>,
}

/// Where a stream of output goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sinks {
    /// To the terminal.
    pub screen: bool,
    /// To the launch's log file.
    pub log: bool,
}

/// Where the output of a process goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// Standard output.
    pub stdout: Sinks,
    /// Standard error.
    pub stderr: Sinks,
}

impl Output {
    pub(crate) const MODES: [&'static str; 5] = ["screen", "log", "both", "own_log", "full"];

    /// The output of a mode's name; without one it is `log`: standard error is seen, all is logged.
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

/// How a process is started again after it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Respawn {
    /// How long to wait before; without it a wait that grows while the process keeps dying at once.
    pub delay: Option<Duration>,
    /// How often, if there is a limit.
    pub max_retries: Option<u32>,
}

impl Plan {
    /// The processes.
    pub fn processes(&self) -> impl Iterator<Item = &Process> {
        self.all_steps().into_iter().filter_map(|step| {
            if let Step::Start(process) = step { Some(process.as_ref()) } else { None }
        })
    }

    /// The steps with those that are done later, each of these behind what it waits for.
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

    /// How many components are loaded.
    pub fn component_count(&self) -> usize {
        let loaded = self.all_steps().into_iter().map(|step| match step {
            Step::Start(process) => process.components.len(),
            Step::Load(load) => load.components.len(),
            Step::Log(..) | Step::After(_) | Step::Shutdown(_) => 0,
        });
        loaded.sum()
    }
}

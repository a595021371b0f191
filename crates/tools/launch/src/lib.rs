//! Launch files: reads, plans and runs the XML, YAML and Python launch files of ROS 2.
//!
//! A launch file passes through four stages. `tree` reads XML and YAML into one tree, with the
//! position of each entity and attribute. `action` converts the entities into actions, and checks
//! the complete file. A [`Plan`] evaluates the actions with given arguments: processes and
//! components, with complete command lines. [`run`] performs the plan.
//!
//! ```
//! use feros_launch::{Packages, Planner};
//!
//! let folder = tempfile::tempdir()?;
//! let file = folder.path().join("demo.launch.xml");
//! std::fs::write(
//!     &file,
//!     r#"<launch>
//!          <arg name="greeting" default="hello"/>
//!          <executable cmd="echo $(var greeting) world" output="screen"/>
//!        </launch>"#,
//! )?;
//! let plan = Planner::new(Packages::from_env()).plan(&file, &[("greeting".into(), "good morning".into())])?;
//! let process = plan.processes().next().expect("there is one");
//! assert_eq!(process.command_line(), "echo 'good morning' world");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `tree`, `position` | XML and YAML as one tree, with positions |
//! | `action` | the tags, and the check of each element |
//! | `substitution`, `expression`, `value` | strings with substitutions, `$(eval ...)`, values |
//! | `python` | the Python process that reads launch files in Python, and their actions as data |
//! | `plan`, `packages` | evaluation with arguments into steps; `plan/actions` dispatches on the tag |
//! | `commandline`, `output` | the words of a command line, where the output of a process goes |
//! | `component_packages` | packages of components that no prefix has to have |
//! | `missing_package`, `missing_module` | where a package or a module that is not installed can be had |
//! | `python_program` | the Python that a program names in its first line |
//! | `xml_form` | the actions of a file as XML |
//! | `run` | runs the steps, in one thread that waits in one `poll` |
//! | `level`, `error` | severities and errors |
//!
//! # Invariants
//!
//! No process is started before the plan is complete. The commands of `$(command ...)` are the
//! exception: they run during planning, to their end or until a signal ends the planning, but do
//! not run when a file is only inspected. Another exception is Python: it starts at the first file
//! in Python, and ends with the plan. No process is left behind. The crate does not depend on
//! nodes, engines or messages.
#![forbid(unsafe_code)]

mod action;
mod commandline;
mod component_packages;
mod error;
mod expression;
mod level;
mod missing_module;
mod missing_package;
mod output;
mod packages;
mod plan;
mod position;
mod python;
mod python_program;
mod run;
mod substitution;
mod tree;
mod value;
mod xml_form;

pub use action::ProcessMatch;
pub use commandline::split_words;
pub use error::LaunchError;
pub use level::Level;
pub use missing_module::told_of_error;
pub use output::{Output, Sinks};
pub use packages::{CONTAINER_PACKAGES, FindError, Packages, SHIPPED_PREFIX};
pub use plan::{
    Argument, Cancel, Change, Component, Delayed, Load, NodeFacts, ParameterFile, Parameters, Plan,
    Planner, Process, ProcessSignal, Respawn, Step, Watch, Word, log_folder, parse_assignments,
};
pub use position::Position;
pub use python::{PythonHost, PythonOptions};
pub use python_program::imports_sitecustomize;
pub use run::{
    ComponentLoader, LifecycleManager, Outcome, RunError, RunOptions, ScreenForm, SimulatedClock,
    StateChange, run,
};
pub use value::Value;

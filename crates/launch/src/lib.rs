//! Launch files: ROS 2's XML and YAML launch syntax read, planned and run.
//!
//! A launch file passes through `tree` (one tree for both syntaxes, every piece with its place) ->
//! `action` (the meaning of each entity, checked as a whole) -> [`Plan`] (with given arguments:
//! processes, components, complete command lines) -> [`run`].
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
//! | `tree`, `position` | XML and YAML as one tree, with places |
//! | `action` | the tags, and the check of each element |
//! | `substitution`, `expression`, `value` | texts with substitutions, `$(eval ...)`, values |
//! | `plan`, `packages` | evaluation with arguments into steps; `plan/actions` dispatches on the tag |
//! | `run` | runs the steps: one thread that waits in one `poll` |
//! | `level`, `error` | severities and errors |
//!
//! # Invariants
//!
//! No process is started before the whole plan is complete. Commands of `$(command ...)` belong to
//! planning: they run to their end, and not for a file that is only looked at. No process is left
//! behind. The crate knows no node, engine or message.
#![forbid(unsafe_code)]

mod action;
mod error;
mod expression;
mod level;
mod packages;
mod plan;
mod position;
mod run;
mod substitution;
mod tree;
mod value;

pub use error::LaunchError;
pub use level::Level;
pub use packages::{FindError, Packages};
pub use plan::{
    Argument, Component, Delayed, Load, NodeFacts, Output, ParameterFile, Parameters, Plan,
    Planner, Process, Respawn, Sinks, Step, Word, log_folder, parse_assignments, split_words,
};
pub use position::Position;
pub use run::{
    ComponentLoader, LifecycleManager, Outcome, RunError, RunOptions, SimulatedClock, run,
};
pub use value::Value;

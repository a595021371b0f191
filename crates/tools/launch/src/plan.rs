//! The plan of a launch file with given arguments: the processes to start and the components to
//! load, with complete command lines and parameters.

mod actions;
mod after_mistakes;
mod arguments;
mod command;
mod complete;
mod components;
mod containers;
mod evaluator;
mod log_folder;
mod loops;
mod mistakes;
mod parameters;
mod planner;
mod print;
mod processes;
mod python;
mod python_state;
mod reactions;
mod scope;
mod steps;
mod substitutions;

pub use arguments::{Argument, parse_assignments};
pub use complete::Plan;
pub use log_folder::log_folder;
pub use planner::Planner;
pub(crate) use reactions::{Event, Reactions};
pub use steps::{
    Cancel, Change, Component, Delayed, Load, NodeFacts, ParameterFile, Parameters, Process,
    ProcessSignal, Respawn, Step, Watch, Word,
};

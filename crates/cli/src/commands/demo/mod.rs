//! `feros demo`: the main job, to be seen working: a talker and a listener in two processes, and a
//! stock ROS 2 node beside them when one is installed. Everything that is heard is printed, and at
//! the end who heard how much of whom.

mod args;
mod conversation;
mod coordinator;
mod discovery;
mod display;
mod nodes;
mod ros2;

use std::process::ExitCode;

pub(crate) use self::args::Args;
use self::args::Role;
use crate::error::CliError;

pub(crate) fn run(args: Args) -> Result<ExitCode, CliError> {
    match args.role {
        Some(Role::Talker) => nodes::talk(),
        Some(Role::Listener) => nodes::listen(),
        None => coordinator::run(&args),
    }
}

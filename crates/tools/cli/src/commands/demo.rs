//! `feros demo`: shows Feros at work: a talker and a listener in two processes, and a stock ROS 2
//! node as well if stock ROS 2 is installed. It prints every message that a node hears, and at the
//! end the number of messages that each listener heard from each talker.

mod args;
mod conversation;
mod coordinator;
mod discovery;
mod display;
mod nodes;
mod ros2;

pub(crate) use self::args::Args;
use self::args::Role;
use crate::error::CliError;

pub(crate) fn run(args: Args) -> Result<(), CliError> {
    match args.role {
        Some(Role::Talker) => nodes::talk(),
        Some(Role::Listener) => nodes::listen(),
        None => coordinator::run(&args),
    }
}

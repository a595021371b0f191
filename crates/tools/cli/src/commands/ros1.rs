//! `feros ros1`: the verbs for ROS 1.

mod bridge;
mod param;

use crate::error::CliError;
use crate::types::InterfaceArgs;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    Bridge(bridge::Args),
    Param(param::Args),
}

pub(crate) fn run(command: Command, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    match command {
        Command::Bridge(args) => bridge::run(&args, interfaces),
        Command::Param(args) => param::run(&args),
    }
}

//! `feros node`: nodes, and their endpoints.

mod info;
mod list;

use crate::error::CliError;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Info(info::Args),
}

pub(crate) fn run(command: Command) -> Result<(), CliError> {
    match command {
        Command::List(args) => list::run(&args),
        Command::Info(args) => info::run(&args),
    }
}

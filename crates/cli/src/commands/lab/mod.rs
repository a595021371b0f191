//! `feros lab`: experiments on Feros and on its peers, side by side.

mod list;
mod places;

use std::process::ExitCode;

use crate::error::CliError;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// What there is: scenarios, grids, systems and whether they are installed
    List(list::Args),
}

pub(crate) fn run(command: Command) -> Result<ExitCode, CliError> {
    match command {
        Command::List(args) => list::run(&args),
    }
}

//! `feros pkg`: packages that are installed under FEROS_PREFIX_PATH and AMENT_PREFIX_PATH, and the
//! creation of new packages.

mod create;
mod executables;
mod list;
mod prefix;
pub(super) mod xml;

use crate::error::CliError;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Prefix(prefix::Args),
    Executables(executables::Args),
    Xml(xml::Args),
    Create(create::Args),
}

pub(crate) fn run(command: Command) -> Result<(), CliError> {
    match command {
        Command::List(args) => list::run(&args),
        Command::Prefix(args) => prefix::run(&args),
        Command::Executables(args) => executables::run(&args),
        Command::Xml(args) => xml::run(&args),
        Command::Create(args) => create::run(&args),
    }
}

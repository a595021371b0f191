//! `feros interface`: the types of messages, services and actions.

mod arguments;
mod hash;
mod list;
mod package;
mod packages;
mod proto;
mod show;
pub(super) mod stubs;

use crate::error::CliError;
use crate::types::InterfaceArgs;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Show(show::Args),
    Proto(proto::Args),
    Package(package::Args),
    Packages(packages::Args),
    Hash(hash::Args),
    Stubs(stubs::Args),
}

pub(crate) fn run(command: Command, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    match command {
        Command::List(args) => list::run(&args, interfaces),
        Command::Show(args) => show::run(&args, interfaces),
        Command::Proto(args) => proto::run(&args, interfaces),
        Command::Package(args) => package::run(&args, interfaces),
        Command::Packages(args) => packages::run(&args, interfaces),
        Command::Hash(args) => hash::run(&args, interfaces),
        Command::Stubs(args) => stubs::run(&args, interfaces),
    }
}

//! `feros service`: services, calling them, and what passes between their ends.

mod call;
mod echo;
mod find;
mod list;
mod r#type;

use std::process::ExitCode;

use crate::error::CliError;
use crate::types::InterfaceArgs;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Type(r#type::Args),
    Find(find::Args),
    Call(call::Args),
    Echo(echo::Args),
}

pub(crate) fn run(command: Command, interfaces: &InterfaceArgs) -> Result<ExitCode, CliError> {
    match command {
        Command::List(args) => list::run(&args),
        Command::Type(args) => r#type::run(&args),
        Command::Find(args) => find::run(&args),
        Command::Call(args) => call::run(&args, interfaces),
        Command::Echo(args) => echo::run(&args, interfaces),
    }
}

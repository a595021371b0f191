//! `feros component`: builds and finds components, and loads them into containers.

mod build;
mod client;
mod component_args;
mod list;
mod load;
mod register;
mod standalone;
mod types;
mod unload;

use crate::error::CliError;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Types(types::Args),
    Load(load::Args),
    Unload(unload::Args),
    Standalone(standalone::Args),
    Build(build::Args),
    Register(register::Args),
}

pub(crate) fn run(command: Command) -> Result<(), CliError> {
    match command {
        Command::List(args) => list::run(&args),
        Command::Types(args) => types::run(&args),
        Command::Load(args) => load::run(&args),
        Command::Unload(args) => unload::run(&args),
        Command::Standalone(args) => standalone::run(&args),
        Command::Build(args) => build::run(&args),
        Command::Register(args) => register::run(&args),
    }
}

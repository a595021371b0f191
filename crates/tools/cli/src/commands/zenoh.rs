//! `feros zenoh`: the programs that the engine on Zenoh needs besides nodes.

mod access;
mod router;

use crate::error::CliError;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    Router(router::Args),
    Access(access::Args),
}

pub(crate) fn run(command: Command) -> Result<(), CliError> {
    match command {
        Command::Router(args) => router::run(&args),
        Command::Access(args) => access::run(&args),
    }
}

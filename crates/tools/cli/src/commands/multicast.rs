//! `feros multicast`: checks whether datagrams to a multicast group reach the other machines, which
//! discovery needs.

pub(super) mod group;
mod receive;
mod send;

use crate::error::CliError;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    Receive(receive::Args),
    Send(send::Args),
}

pub(crate) fn run(command: Command) -> Result<(), CliError> {
    match command {
        Command::Receive(args) => receive::run(&args),
        Command::Send(args) => send::run(&args),
    }
}

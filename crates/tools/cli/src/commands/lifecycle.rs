//! `feros lifecycle`: managed nodes, with the flags and the output of `ros2 lifecycle`.

mod get;
mod list;
mod nodes;
mod remote;
mod set;

use crate::error::CliError;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    Nodes(nodes::Args),
    Get(get::Args),
    List(list::Args),
    Set(set::Args),
}

pub(crate) fn run(command: Command) -> Result<(), CliError> {
    match command {
        Command::Nodes(args) => nodes::run(&args),
        Command::Get(args) => get::run(&args),
        Command::List(args) => list::run(&args),
        Command::Set(args) => set::run(&args),
    }
}

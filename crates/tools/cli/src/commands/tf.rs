//! `feros tf`: the poses of frames in other frames, from `/tf` and `/tf_static`.

mod echo;
mod graph;
mod monitor;
mod tree;

use crate::error::CliError;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    Echo(echo::Args),
    Tree(tree::Args),
    Monitor(monitor::Args),
}

pub(crate) fn run(command: Command) -> Result<(), CliError> {
    match command {
        Command::Echo(args) => echo::run(&args),
        Command::Tree(args) => tree::run(&args),
        Command::Monitor(args) => monitor::run(&args),
    }
}

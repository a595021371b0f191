//! `feros param`: parameters of nodes, with the flags and the output of `ros2 param`.

mod delete;
mod describe;
mod dump;
mod get;
mod list;
mod load;
mod python;
mod remote;
mod set;

pub(super) use self::remote::parameter_names;

use crate::error::CliError;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Get(get::Args),
    Set(set::Args),
    Describe(describe::Args),
    Dump(dump::Args),
    Load(load::Args),
    Delete(delete::Args),
}

pub(crate) fn run(command: Command) -> Result<(), CliError> {
    match command {
        Command::List(args) => list::run(&args),
        Command::Get(args) => get::run(&args),
        Command::Set(args) => set::run(&args),
        Command::Describe(args) => describe::run(&args),
        Command::Dump(args) => dump::run(&args),
        Command::Load(args) => load::run(&args),
        Command::Delete(args) => delete::run(&args),
    }
}

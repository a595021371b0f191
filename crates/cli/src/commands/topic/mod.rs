//! `feros topic`: topics, what goes over them, and feeding them.

mod bw;
mod delay;
pub(super) mod echo;
mod endpoint;
mod find;
mod hz;
mod info;
mod list;
mod r#pub;
mod r#type;
mod watch;
mod window;

use std::process::ExitCode;

use crate::error::CliError;
use crate::types::InterfaceArgs;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Info(info::Args),
    Type(r#type::Args),
    Find(find::Args),
    Echo(echo::Args),
    Pub(r#pub::Args),
    Hz(hz::Args),
    Bw(bw::Args),
    Delay(delay::Args),
}

pub(crate) fn run(command: Command, interfaces: &InterfaceArgs) -> Result<ExitCode, CliError> {
    match command {
        Command::List(args) => list::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Type(args) => r#type::run(&args),
        Command::Find(args) => find::run(&args),
        Command::Echo(args) => echo::run(&args, interfaces),
        Command::Pub(args) => r#pub::run(&args, interfaces),
        Command::Hz(args) => hz::run(&args),
        Command::Bw(args) => bw::run(&args),
        Command::Delay(args) => delay::run(&args, interfaces),
    }
}

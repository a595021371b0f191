//! `feros service`: services, their calls, and the events of their endpoints.

mod call;
mod echo;
mod find;
mod info;
mod list;
mod r#type;

use crate::error::CliError;
use crate::types::InterfaceArgs;

/// The arguments of `feros service`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Include hidden services; accepted here as well, as in `ros2`
    #[arg(long, global = true, hide = true)]
    include_hidden_services: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    List(list::Args),
    Info(info::Args),
    Type(r#type::Args),
    Find(find::Args),
    Call(call::Args),
    Echo(echo::Args),
}

pub(crate) fn run(args: Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    match args.command {
        Command::List(args) => list::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Type(args) => r#type::run(&args),
        Command::Find(args) => find::run(&args, interfaces),
        Command::Call(args) => call::run(&args, interfaces),
        Command::Echo(args) => echo::run(&args, interfaces),
    }
}

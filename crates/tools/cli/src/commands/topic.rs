//! `feros topic`: lists, watches, measures and feeds topics.

mod arrival;
mod bw;
mod delay;
pub(super) mod echo;
mod find;
mod hz;
mod info;
mod list;
mod r#pub;
mod r#type;
pub(super) mod watch;
pub(super) mod window;

use crate::error::CliError;
use crate::types::InterfaceArgs;

/// The arguments of `feros topic`.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Include hidden topics; accepted here as well, as in `ros2`
    #[arg(long, global = true, hide = true)]
    include_hidden_topics: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
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

pub(crate) fn run(args: Args, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    match args.command {
        Command::List(args) => list::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Type(args) => r#type::run(&args),
        Command::Find(args) => find::run(&args, interfaces),
        Command::Echo(args) => echo::run(&args, interfaces),
        Command::Pub(args) => r#pub::run(&args, interfaces),
        Command::Hz(args) => hz::run(&args, interfaces),
        Command::Bw(args) => bw::run(&args),
        Command::Delay(args) => delay::run(&args, interfaces),
    }
}

//! `feros action`: lists actions, and sends goals to them.

mod echo;
mod find;
mod info;
mod interrupt;
mod list;
mod send_goal;
mod r#type;

use feros_engine::GraphSnapshot;

use crate::error::CliError;
use crate::nearest::did_you_mean;
use crate::types::InterfaceArgs;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Info(info::Args),
    Type(r#type::Args),
    Find(find::Args),
    #[command(name = "send_goal")]
    SendGoal(send_goal::Args),
    Echo(echo::Args),
}

pub(crate) fn run(command: Command, interfaces: &InterfaceArgs) -> Result<(), CliError> {
    match command {
        Command::List(args) => list::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Type(args) => r#type::run(&args),
        Command::Find(args) => find::run(&args, interfaces),
        Command::SendGoal(args) => send_goal::run(&args, interfaces),
        Command::Echo(args) => echo::run(&args, interfaces),
    }
}

/// The error that an action does not exist, with the actions of similar names.
fn no_such_action(graph: &GraphSnapshot, name: &str) -> CliError {
    let actions = graph.actions();
    let likely = did_you_mean(name, actions.keys().map(String::as_str));
    CliError::failed(format!("there is no action {name}{likely}"))
}

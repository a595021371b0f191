//! `feros interface`: the types of messages, services and actions.

mod hash;
mod list;
mod package;
mod packages;
mod proto;
mod show;

use std::process::ExitCode;

use feros_interface::{Interface, Namespace};

use crate::error::CliError;
use crate::types::InterfaceArgs;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    List(list::Args),
    Show(show::Args),
    Proto(proto::Args),
    Package(package::Args),
    Packages(packages::Args),
    Hash(hash::Args),
}

pub(crate) fn run(command: Command, interfaces: &InterfaceArgs) -> Result<ExitCode, CliError> {
    match command {
        Command::List(args) => list::run(&args, interfaces),
        Command::Show(args) => show::run(&args, interfaces),
        Command::Proto(args) => proto::run(&args, interfaces),
        Command::Package(args) => package::run(&args, interfaces),
        Command::Packages(args) => packages::run(&args, interfaces),
        Command::Hash(args) => hash::run(&args, interfaces),
    }
}

/// Which kinds of interfaces are meant; none chosen means all.
#[derive(clap::Args, Clone, Copy)]
struct Kinds {
    /// Only messages
    #[arg(short = 'm', long)]
    only_msgs: bool,
    /// Only services
    #[arg(short = 's', long)]
    only_srvs: bool,
    /// Only actions
    #[arg(short = 'a', long)]
    only_actions: bool,
}

impl Kinds {
    fn includes(self, namespace: Namespace) -> bool {
        let chosen = match namespace {
            Namespace::Msg => self.only_msgs,
            Namespace::Srv => self.only_srvs,
            Namespace::Action => self.only_actions,
        };
        chosen || !(self.only_msgs || self.only_srvs || self.only_actions)
    }

    fn include(self, interface: &Interface) -> bool {
        self.includes(interface.namespace())
    }
}

/// The type that an argument names; `-` reads it from standard input, as `feros topic type
/// /chatter | feros interface show -`.
fn type_argument(text: &str) -> Result<String, CliError> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut line = String::new();
    std::io::stdin()
        .read_line(&mut line)
        .map_err(|error| CliError::failed(format!("standard input cannot be read: {error}")))?;
    match line.trim() {
        "" => Err(CliError::usage(
            "no type came from standard input: give its name, such as std_msgs/msg/String",
        )),
        name => Ok(name.to_owned()),
    }
}

//! Arguments that several verbs of `feros interface` take.

use feros_interface::{Interface, Namespace};

use crate::error::CliError;

/// The kinds of interfaces to list; without an option, all kinds.
#[derive(clap::Args, Clone, Copy)]
pub(super) struct Kinds {
    /// List only messages
    #[arg(short = 'm', long)]
    only_msgs: bool,
    /// List only services
    #[arg(short = 's', long)]
    only_srvs: bool,
    /// List only actions
    #[arg(short = 'a', long)]
    only_actions: bool,
}

impl Kinds {
    pub(super) fn includes(self, namespace: Namespace) -> bool {
        let chosen = match namespace {
            Namespace::Msg => self.only_msgs,
            Namespace::Srv => self.only_srvs,
            Namespace::Action => self.only_actions,
        };
        chosen || !(self.only_msgs || self.only_srvs || self.only_actions)
    }

    pub(super) fn include(self, interface: &Interface) -> bool {
        self.includes(interface.namespace())
    }
}

/// The type that an argument names; `-` reads it from standard input, as in `feros topic type
/// /chatter | feros interface show -`.
pub(super) fn type_argument(text: &str) -> Result<String, CliError> {
    if text != "-" {
        return Ok(text.to_owned());
    }
    let mut line = String::new();
    std::io::stdin()
        .read_line(&mut line)
        .map_err(|error| CliError::failed(format!("standard input cannot be read: {error}")))?;
    match line.trim() {
        "" => Err(CliError::usage(
            "standard input holds no type name: write one to it, such as std_msgs/msg/String",
        )),
        name => Ok(name.to_owned()),
    }
}

//! `feros component standalone`: runs one component in a container of its own.

use std::hash::{BuildHasher as _, RandomState};
use std::process::Child;
use std::time::Duration;

use feros_component::remote::ContainerClient;
use rustix::process::{Pid, Signal, kill_process};

use super::client::CALL_TIMEOUT;
use super::component_args::ComponentArgs;
use crate::connection::Connection;
use crate::ending;
use crate::error::CliError;
use crate::notices;
use crate::packages::container_command;

/// How often to check whether the container has ended.
const POLL_PERIOD: Duration = Duration::from_millis(100);

/// Run a component in a container of its own, until Ctrl-C
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  feros component standalone demo demo::Talker -r chatter:=/said"
)]
pub(crate) struct Args {
    #[command(flatten)]
    component: ComponentArgs,
    /// Name of the container's node
    #[arg(short, long, value_name = "NAME")]
    container_node_name: Option<String>,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    ending::in_peace();
    let own_name = || format!("standalone_container_{:012x}", random_number());
    let name = args.container_node_name.clone().unwrap_or_else(own_name);
    let connection = Connection::open()?;
    let arguments = ["--ros-args".to_owned(), "-r".to_owned(), format!("__node:={name}")];
    let mut child = container_command("component_container")?
        .args(arguments)
        .spawn()
        .map_err(|error| CliError::failed(format!("the container cannot be started: {error}")))?;
    if let Err(error) = load(&connection, &name, args, &mut child) {
        notices::warn(format!("{error}, terminating container."));
        end(&mut child);
        return match error {
            CliError::Interrupted => Err(error),
            _ => Err(CliError::Ended(1)),
        };
    }
    loop {
        match child.try_wait()? {
            Some(status) if status.success() => return Ok(()),
            Some(status) => return Err(CliError::failed(format!("the container ended: {status}"))),
            None => {}
        }
        if let Err(CliError::Interrupted) = connection.wait_until(POLL_PERIOD, |_| false) {
            end(&mut child);
            return Ok(());
        }
    }
}

fn load(
    connection: &Connection,
    name: &str,
    args: &Args,
    child: &mut Child,
) -> Result<(), CliError> {
    let client = ContainerClient::new(&connection.node, name).map_err(CliError::usage)?;
    while client.wait(POLL_PERIOD).is_err() {
        if let Some(status) = child.try_wait()? {
            return Err(CliError::failed(format!(
                "the container ended before it was ready: {status}"
            )));
        }
        connection.wait_until(Duration::ZERO, |_| false)?;
    }
    let loaded = client.load(&args.component.request(), CALL_TIMEOUT);
    loaded.map(drop).map_err(|error| CliError::failed(format!("Failed to load component: {error}")))
}

/// Ends the container as Ctrl-C does, and waits for it. On a terminal it has already received
/// Ctrl-C, and a second signal does no harm.
fn end(child: &mut Child) {
    if matches!(child.try_wait(), Ok(None)) {
        // A container that has already ended needs no signal.
        let _ = kill_process(Pid::from_child(child), Signal::TERM);
    }
    if let Err(error) = child.wait() {
        notices::warn(format!("cannot wait for the container to end: {error}"));
    }
}

/// A random number, so that no other process is likely to have the same.
fn random_number() -> u64 {
    RandomState::new().hash_one(std::process::id()) & 0xffff_ffff_ffff
}

//! `feros component standalone`: runs one component in a container of its own.

use std::hash::{BuildHasher as _, RandomState};
use std::process::Command;
use std::time::{Duration, Instant};

use feros_component::remote::ContainerClient;
use feros_process::{ChildGroup, Signal};

use super::client::CALL_TIMEOUT;
use super::component_args::ComponentArgs;
use crate::connection::Connection;
use crate::ending;
use crate::error::CliError;
use crate::notices;
use crate::packages::container_words;

/// How often to check whether the container has ended.
const POLL_PERIOD: Duration = Duration::from_millis(100);

/// The time that the container may take to end. It is shorter than the time in which further
/// signals are ignored, so no signal leaves the container behind.
const LEAVE_LIMIT: Duration = Duration::from_secs(9);

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
    let words = container_words("component_container")?;
    let mut child = ChildGroup::spawn(Command::new(&words[0]).args(&words[1..]).args(arguments))
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
        match child.status() {
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
    child: &mut ChildGroup,
) -> Result<(), CliError> {
    let client = ContainerClient::new(&connection.node, name).map_err(CliError::usage)?;
    while client.wait(POLL_PERIOD).is_err() {
        if let Some(status) = child.status() {
            return Err(CliError::failed(format!(
                "the container ended before it was ready: {status}"
            )));
        }
        connection.wait_until(Duration::ZERO, |_| false)?;
    }
    let loaded = client.load(&args.component.request(), CALL_TIMEOUT);
    loaded.map(drop).map_err(|error| CliError::failed(format!("Failed to load component: {error}")))
}

/// Ends the container as Ctrl-C does, and waits for it.
fn end(child: &mut ChildGroup) {
    child.signal_child(Signal::TERM);
    match child.wait_until(Instant::now() + LEAVE_LIMIT) {
        Ok(Some(_)) => {}
        // The container is killed when `child` is dropped.
        Ok(None) => notices::warn("the container does not end, so it is killed"),
        Err(error) => notices::warn(format!("cannot wait for the container to end: {error}")),
    }
}

/// Returns a random number, which is very probably unique among all processes.
fn random_number() -> u64 {
    RandomState::new().hash_one(std::process::id()) & 0xffff_ffff_ffff
}

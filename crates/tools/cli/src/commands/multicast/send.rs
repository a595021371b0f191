//! `feros multicast send`: sends one datagram.

use super::group::GroupArgs;
use crate::error::CliError;
use crate::output;

/// Send one multicast datagram, for `feros multicast receive` on other machines
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros multicast send --ttl 2")]
pub(crate) struct Args {
    #[command(flatten)]
    group: GroupArgs,
    /// Number of routers that the datagram may pass; 1 keeps it on this network, 0 on this machine
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=255))]
    ttl: Option<u32>,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    output::print("Sending one UDP multicast datagram...\n")?;
    let sent = args.group.sender(args.ttl).and_then(|socket| socket.send(b"Hello World!"));
    sent.map(|_| ()).map_err(|error| {
        CliError::failed(format!(
            "failed to send to group {}: {error}; `feros doctor` shows which interfaces support \
             multicast",
            args.group
        ))
    })
}

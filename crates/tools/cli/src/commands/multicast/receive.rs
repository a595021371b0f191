//! `feros multicast receive`: waits for one datagram.

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use feros_wording::within;

use super::group::GroupArgs;
use crate::error::CliError;
use crate::output;
use crate::value_parsers::parse_seconds;

/// The size of the receive buffer. Datagrams that these commands send are smaller.
const MAX_DATAGRAM_BYTES: usize = 4096;

/// Wait for one multicast datagram, such as one from `feros multicast send`
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros multicast receive --timeout 10")]
pub(crate) struct Args {
    #[command(flatten)]
    group: GroupArgs,
    /// Wait at most this long, and then fail
    #[arg(long, value_name = "SECONDS", value_parser = parse_seconds)]
    timeout: Option<Duration>,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let group = args.group;
    let failed = |error: std::io::Error| {
        CliError::failed(format!(
            "failed to listen to group {group}: {error}; `feros doctor` shows which interfaces \
             support multicast"
        ))
    };
    let socket = group.receiver().map_err(failed)?;
    output::print("Waiting for UDP multicast datagram...\n")?;
    let mut buffer = [0; MAX_DATAGRAM_BYTES];
    match receive(&socket, &mut buffer, args.timeout) {
        Ok((size, from)) => {
            let text = String::from_utf8_lossy(&buffer[..size]);
            output::print_lines([format!("Received from {from}: '{text}'")])
        }
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
            Err(CliError::failed(format!(
                "no datagram arrived in group {group} {}: send one from another machine with `feros multicast send`; \
                 if it does not arrive, a firewall or the network blocks multicast",
                within(args.timeout.unwrap_or_default())
            )))
        }
        Err(error) => Err(failed(error)),
    }
}

/// Waits for a datagram, at most for a time. With a limit, the system does not wait again by itself
/// after the process was suspended (signal(7)).
fn receive(
    socket: &UdpSocket,
    buffer: &mut [u8],
    timeout: Option<Duration>,
) -> std::io::Result<(usize, SocketAddr)> {
    let began = Instant::now();
    loop {
        // A socket cannot have a timeout of zero.
        let left = timeout.map(|timeout| timeout.saturating_sub(began.elapsed()));
        socket.set_read_timeout(left.map(|left| left.max(Duration::from_millis(1))))?;
        match socket.recv_from(buffer) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            received => return received,
        }
    }
}

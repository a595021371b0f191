//! Stops and continues processes, which have a short lease.

use std::process::Command;

use super::{Peer, Place, program};

/// The time after which other processes give up a process that is silent.
const LEASE: &str = "<Domain><Discovery><LeaseDuration>1s</LeaseDuration></Discovery></Domain>";

/// Starts a process whose lease is one second.
pub(crate) fn start_with_short_lease(place: &Place, name: &str) -> Peer {
    let mut command = place.command(program());
    command.env("CYCLONEDDS_URI", LEASE);
    Peer::start_by(command, name)
}

/// Sends a signal, such as `STOP`.
pub(crate) fn signal(peer: &Peer, name: &str) {
    let pid = peer.pid().to_string();
    assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
}

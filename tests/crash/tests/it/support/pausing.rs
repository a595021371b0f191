//! Stops and continues processes that have a short lease.

use std::process::Command;

use super::{Peer, Place, program};

/// Starts a process that other processes give up after a silence of one second.
pub(crate) fn start_with_short_lease(place: &Place, name: &str) -> Peer {
    start(place, name, "<LeaseDuration>1s</LeaseDuration>")
}

/// Starts such a process, which announces itself to known processes only every hour.
pub(crate) fn start_with_rare_announcements(place: &Place, name: &str) -> Peer {
    start(place, name, "<LeaseDuration>1s</LeaseDuration><SPDPInterval>1 hr</SPDPInterval>")
}

fn start(place: &Place, name: &str, discovery: &str) -> Peer {
    let mut command = place.command(program());
    let settings = format!("<Domain><Discovery>{discovery}</Discovery></Domain>");
    command.env("CYCLONEDDS_URI", settings);
    Peer::start_by(command, name)
}

/// Sends a signal, such as `STOP`.
pub(crate) fn signal(peer: &Peer, name: &str) {
    let pid = peer.pid().to_string();
    assert!(Command::new("kill").args(["-s", name, &pid]).status().unwrap().success());
}

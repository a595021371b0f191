//! Peers in Python (`tests/pyzeros_peer.py`, `tests/sdk_peer.py`), which run as processes that the
//! test starts.
#![allow(dead_code, reason = "each test uses some of it")]

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use feros_test_support::skip;

use crate::network::{DOMAIN_ID, Network};

/// A process that ends with the test.
pub(crate) struct Peer(Child);

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.kill(); // the process may already have ended
        let _ = self.0.wait();
    }
}

fn python() -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../.venv-zenoh/bin/python");
    let python = std::env::var_os("FEROS_ZENOH_PYTHON").map_or_else(default, PathBuf::from);
    if python.exists() {
        return Some(python);
    }
    skip(format!("{} is missing; scripts/setup.sh makes it", python.display()));
    None
}

/// Starts a node of pyzeros that is connected to the test's router. Returns `None` if pyzeros is
/// not installed.
pub(crate) fn pyzeros(network: &Network) -> Option<Peer> {
    start(network, "pyzeros_peer.py")
}

/// Starts a node of zenoh-ros2-sdk that is connected to the test's router. Returns `None` if the
/// SDK is not installed.
pub(crate) fn sdk(network: &Network) -> Option<Peer> {
    start(network, "sdk_peer.py")
}

fn start(network: &Network, script: &str) -> Option<Peer> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(script);
    let mut command = Command::new(python()?);
    command.arg(script).args([&network.endpoint, &DOMAIN_ID.to_string()]).stdin(Stdio::piped());
    // The SDK compiles its messages when they are first used.
    command.env("CYDR_CACHE_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cydr"));
    let mut peer = Peer(command.stdout(Stdio::piped()).spawn().unwrap());
    let mut line = String::new();
    BufReader::new(peer.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n", "the peer starts");
    Some(peer)
}

//! Peers in Python (`tests/pyzeros_peer.py`, `tests/sdk_peer.py`), which run as processes that the
//! test starts.
#![allow(dead_code, reason = "each test uses some of it")]

use std::path::{Path, PathBuf};
use std::process::Command;

use feros_test_support::{TestProcess, skip};

use crate::network::{DOMAIN_ID, Network};

fn python() -> Option<PathBuf> {
    let default = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../.venv-zenoh/bin/python");
    let python = std::env::var_os("FEROS_ZENOH_PYTHON").map_or_else(default, PathBuf::from);
    if python.exists() {
        return Some(python);
    }
    skip(format!("{} is missing; scripts/setup.sh makes it", python.display()));
    None
}

/// Starts a node of pyzeros that is connected to the test's router; `None` if pyzeros is not
/// installed.
pub(crate) fn pyzeros(network: &Network) -> Option<TestProcess> {
    start(network, "pyzeros_peer.py")
}

/// Starts a node of zenoh-ros2-sdk that is connected to the test's router; `None` if the SDK is not
/// installed.
pub(crate) fn sdk(network: &Network) -> Option<TestProcess> {
    start(network, "sdk_peer.py")
}

fn start(network: &Network, script: &str) -> Option<TestProcess> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(script);
    let mut command = Command::new(python()?);
    command.arg(script).args([&network.endpoint, &DOMAIN_ID.to_string()]);
    // The SDK compiles its messages when they are first used.
    command.env("CYDR_CACHE_DIR", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cydr"));
    let mut peer = TestProcess::of(command);
    assert_eq!(peer.line(), "ready", "the peer starts");
    Some(peer)
}

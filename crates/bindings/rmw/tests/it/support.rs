//! Helpers of the tests: build the library, and run nodes on it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use feros_interop::{Domain, Peer};

/// The library, built once per run of the tests.
pub(crate) fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let library = feros_test_support::built(&[env!("CARGO_PKG_NAME")]).join("librmw_feros.so");
        assert!(library.is_file(), "{} is missing", library.display());
        library
    })
}

/// An rclpy node on this library.
pub(crate) fn on_feros(domain: &Domain, name: &str) -> Peer {
    Peer::start_prepared(domain, "/", name, |command| {
        command.env("LD_PRELOAD", library());
    })
}

/// An rclpy node on the stock rmw implementation.
pub(crate) fn stock(domain: &Domain, name: &str) -> Peer {
    Peer::start_prepared(domain, "/", name, |command| {
        command.env_remove("LD_PRELOAD");
    })
}

/// Runs a Python script that prints `ok` at its end, with or without the library; returns the
/// output of the script.
pub(crate) fn run_python(domain: &Domain, script: &str, preload: bool) -> String {
    let mut command = Command::new(feros_interop::python_with_ros2());
    command.args(["-c", script]);
    domain.confine(&mut command);
    command.env_remove("LD_PRELOAD");
    if preload {
        command.env("LD_PRELOAD", library());
    }
    let _watchdog = feros_test_support::Watchdog::start();
    let output = command.output().expect("Python runs");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.success() && said.trim_end().ends_with("ok"),
        "{:?}\n{said}\n{complained}",
        output.status
    );
    said
}

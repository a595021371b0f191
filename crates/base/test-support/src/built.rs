//! Builds programs and libraries of other packages, which tests start or load. They are not
//! dependencies of the tests, so the tests must ask cargo to build them.

use std::path::{Path, PathBuf};
use std::process::Command;

/// The variable with which `./test` says that all packages of the workspace have been built. Tests
/// then do not call cargo: it would wait for the lock of the target folder, because `./test` builds
/// other test programs while these tests run.
const ALL_BUILT: &str = "FEROS_TESTS_BUILT";

/// Builds these packages, unless `./test` has built them. Returns the folder with their programs
/// and libraries, which is the parent of the folder that contains the test program.
///
/// # Panics
/// When cargo cannot build them.
pub fn built(packages: &[&str]) -> PathBuf {
    let test = std::env::current_exe().expect("a test knows its own path");
    let folder = test.ancestors().nth(2).expect("a test is in target/PROFILE/deps").to_owned();
    if std::env::var_os(ALL_BUILT).is_some() {
        return folder;
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["build", "--quiet", "--locked"]).current_dir(workspace);
    cargo.args(packages.iter().flat_map(|package| ["--package", package]));
    if !cfg!(debug_assertions) {
        cargo.arg("--release");
    }
    let status = cargo.status().expect("cargo runs");
    assert!(status.success(), "cargo cannot build {}: {status}", packages.join(", "));
    folder
}

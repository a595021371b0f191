//! Runs the tf2 of C++ for comparison: a small program that uses Debian's libtf2, and is built here
//! if libtf2 is installed.

use std::path::{Path, PathBuf};
use std::process::Command;

use feros_test_support::TestProcess;

/// Builds and starts the program, which reads one command per line. Returns `None` and reports a
/// skip if `libtf2-dev` is not installed.
pub(crate) fn start() -> Option<TestProcess> {
    if !Path::new("/usr/include/tf2/buffer_core.h").is_file() {
        feros_test_support::skip("the tf2 of C++ is missing; apt-get install libtf2-dev");
        return None;
    }
    Some(TestProcess::of(Command::new(build())))
}

fn build() -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cpp/tf2_peer.cpp");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    // Each process builds its own copy of the program and renames it atomically, since other
    // processes may do the same.
    let built_here = folder.join(format!("tf2_peer_{}", std::process::id()));
    let libraries = ["-ltf2", "-lrostime", "-lcpp_common", "-lconsole_bridge", "-lboost_thread"];
    let built = Command::new("g++")
        .args(["-O2", "-DNDEBUG", "-w", "-o"])
        .arg(&built_here)
        .arg(&source)
        .args(libraries)
        .output()
        .expect("g++ is installed where libtf2-dev is");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let program = folder.join("tf2_peer");
    std::fs::rename(&built_here, &program).expect("both are in the folder of cargo");
    program
}

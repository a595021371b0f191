//! A node of real roscpp, compiled here against Debian's headers.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use feros_interop::interop_is_skipped;
use feros_test_support::skip;

/// The program; `None`, which is reported, if the environment skips the interop tests, or if there
/// is no compiler or no header of ROS 1.
///
/// # Panics
/// When it does not compile.
pub(crate) fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    if interop_is_skipped() {
        return None;
    }
    // It is compiled once. If that is not possible, each test reports the reason.
    PROGRAM.get_or_init(compile).as_deref().map_err(skip).ok()
}

const LIBRARIES: [&str; 8] = [
    "-lnodeletlib",
    "-lroscpp",
    "-lrosconsole",
    "-lroscpp_serialization",
    "-lrostime",
    "-lboost_thread",
    "-lboost_system",
    "-lpthread",
];

/// Checks the tools; an error names the missing one.
fn compile() -> Result<PathBuf, String> {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/ros1/roscpp.cpp");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.join("ros1_roscpp");
    let changed = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
    if changed(&program).is_some_and(|built| Some(built) > changed(Path::new(source))) {
        return Ok(program);
    }
    if Command::new("c++").arg("--version").output().is_err() {
        return Err("there is no C++ compiler (c++); apt-get install g++ brings one".to_owned());
    }
    let headers = ["ros/ros.h", "nodelet/loader.h", "std_msgs/String.h"];
    if let Some(missing) =
        headers.iter().find(|header| !Path::new("/usr/include").join(header).exists())
    {
        return Err(format!(
            "there is no {missing}; apt-get install libroscpp-dev libnodeletlib-dev libnodelet-dev \
             libstd-msgs-dev brings the headers of ROS 1"
        ));
    }
    // Two test programs may compile it at once: each writes its own file, and the last one stays.
    let made = folder.join(format!("ros1_roscpp.{}", std::process::id()));
    let output = Command::new("c++")
        .args(["-std=c++17", "-Wall", "-Wextra", source, "-o"])
        .arg(&made)
        .args(LIBRARIES)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && made.exists(), "roscpp.cpp does not compile: {said}");
    std::fs::rename(&made, &program).unwrap();
    Ok(program)
}

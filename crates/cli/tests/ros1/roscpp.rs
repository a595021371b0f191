//! A node of real roscpp, compiled here against Debian's headers.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The program; `None`, which is said, where the environment says to skip the interop tests, or
/// there is no compiler or no header of ROS 1.
///
/// # Panics
/// When it does not compile.
pub(crate) fn program() -> Option<&'static Path> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    PROGRAM.get_or_init(compile).as_deref()
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

fn compile() -> Option<PathBuf> {
    if std::env::var_os("FEROS_SKIP_INTEROP").is_some_and(|value| value == "1") {
        eprintln!("skipped: FEROS_SKIP_INTEROP=1");
        return None;
    }
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/ros1/roscpp.cpp");
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let program = folder.join("ros1_roscpp");
    let changed = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
    if changed(&program).is_some_and(|built| Some(built) > changed(Path::new(source))) {
        return Some(program);
    }
    if Command::new("c++").arg("--version").output().is_err() {
        eprintln!("skipped: there is no C++ compiler (c++)");
        return None;
    }
    let headers = ["ros/ros.h", "nodelet/loader.h", "std_msgs/String.h"];
    if let Some(missing) =
        headers.iter().find(|header| !Path::new("/usr/include").join(header).exists())
    {
        eprintln!(
            "skipped: there is no {missing}; apt-get install libroscpp-dev libnodeletlib-dev libnodelet-dev \
             libstd-msgs-dev brings the headers of ROS 1"
        );
        return None;
    }
    // Two test programs may compile it at once: each writes its own, and the last one stays.
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
    Some(program)
}

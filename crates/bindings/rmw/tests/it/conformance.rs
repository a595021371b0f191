//! `test_rmw_implementation` of ROS 2, compiled by the scripts in the folder that `FEROS_STOCK`
//! names: 132 cases in 16 programs, in Jazzy and in Kilted.

use std::path::PathBuf;
use std::process::Command;

use feros_interop::{Domain, distribution, kit_of_cpp, prefix_of_ros2};

use crate::support::library;

/// The smallest number of cases that the suite has. In Jazzy and in Kilted, stock ROS 2 passes
/// exactly this number.
const LEAST: usize = 132;

/// The number of cases that passed, if none failed.
fn passed(said: &str) -> Option<usize> {
    let (before, _) = said.rsplit_once(" passed, 0 failed")?;
    before.rsplit(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[test]
fn the_suite_of_rmw_implementations_passes() {
    let Some(kit) = kit_of_cpp() else { return };
    let Some(prefix) = prefix_of_ros2() else { return };
    let domain = Domain::reserve_without_ros2();
    // The programs of one distribution do not run with another one.
    let name = format!("test_rmw_implementation_{}", distribution().name());
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let run = |script: &str, arguments: &[&std::ffi::OsStr]| {
        let mut command = Command::new(kit.join("test_rmw_implementation").join(script));
        command.args(arguments);
        domain.confine(&mut command);
        command.env_remove("LD_PRELOAD");
        let output = command.output().expect("the script of the kit runs");
        String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr)
    };
    let (prefix, folder) = (prefix.as_os_str(), folder.as_os_str());
    run("build.sh", &[prefix, folder]);
    let directory = library().parent().expect("a folder").as_os_str();
    let said = run("run.sh", &[prefix, folder, "rmw_feros".as_ref(), directory]);
    assert!(passed(&said) >= Some(LEAST), "{said}");
}

#[test]
fn the_result_of_the_suite_is_read() {
    assert_eq!(passed("16 programs\n132 passed, 0 failed\n"), Some(132));
    for other in ["131 passed, 1 failed", "132 passed, 10 failed", "passed, 0 failed", ""] {
        assert_eq!(passed(other), None, "{other}");
    }
}

//! `test_rmw_implementation` of ROS 2: 132 cases in 16 programs, compiled by the scripts in the
//! folder that `FEROS_STOCK` names.

use std::path::PathBuf;
use std::process::Command;

use feros_interop::{Domain, kit_of_cpp, prefix_of_ros2};

use crate::support::library;

/// The result that stock ROS 2 reaches.
const CASES: &str = "132 passed, 0 failed";

#[test]
fn the_suite_of_rmw_implementations_passes() {
    let Some(kit) = kit_of_cpp() else { return };
    let Some(prefix) = prefix_of_ros2() else { return };
    let domain = Domain::reserve_without_ros2();
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("test_rmw_implementation");
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
    assert!(said.contains(CASES), "{said}");
}

//! Finds a stock ROS 2 on this machine: a Python that has rclpy.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::discovery::Discovery;
use crate::error::CliError;
use crate::process_group::{ProcessEvent, ProcessGroup};

/// The variable that names the folder with stock ROS 2, a Python environment or an installation, if
/// that is not in one of the usual places.
pub(super) const VARIABLE: &str = "FEROS_ROS2";

/// How long Python may take to load rclpy.
const IMPORT_LIMIT: Duration = Duration::from_secs(60);

const PROBE: &str = "import rclpy, std_msgs.msg";
const NODE: &str = include_str!("ros2_node.py");

/// The result of the search for stock ROS 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Search {
    /// A Python that has rclpy.
    Found(PathBuf),
    /// The usual Pythons do not have rclpy.
    Missing,
    /// The Python of the folder that the user named does not have it.
    Wrong(PathBuf),
    /// The user wants to end the demo.
    Interrupted,
}

/// Tries the Pythons that may have rclpy, in order of likelihood.
pub(super) fn find(group: &mut ProcessGroup, discovery: &Discovery) -> Result<Search, CliError> {
    let named = std::env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    let candidates = match &named {
        Some(folder) => vec![python_of(folder)],
        None => usual_pythons(),
    };
    for python in candidates {
        let mut command = python_command(&python);
        command.args(["-c", PROBE]);
        if named.is_none() {
            // Most of the usual Pythons have no rclpy, so the error is not worth showing.
            command.stderr(Stdio::null());
        }
        match try_python(group, discovery.apply(&mut command))? {
            Probe::Loads => return Ok(Search::Found(python)),
            Probe::Fails => {}
            Probe::Interrupted => return Ok(Search::Interrupted),
        }
    }
    Ok(named.map_or(Search::Missing, Search::Wrong))
}

enum Probe {
    Loads,
    Fails,
    Interrupted,
}

fn try_python(group: &mut ProcessGroup, command: &mut Command) -> Result<Probe, CliError> {
    let deadline = Instant::now() + IMPORT_LIMIT;
    let Ok(member) = group.start("rclpy", command) else { return Ok(Probe::Fails) };
    loop {
        match group.next(deadline) {
            ProcessEvent::Line(..) => {}
            ProcessEvent::Ended(_) if group.end(member)?.success() => return Ok(Probe::Loads),
            ProcessEvent::Ended(_) => return Ok(Probe::Fails),
            ProcessEvent::Interrupted => return Ok(Probe::Interrupted),
            ProcessEvent::Timeout => {
                group.end(member)?;
                // The end of this process is still in the queue. It is taken out here, so that it
                // does not pass for the end of a participant later.
                while group.next(Instant::now() + IMPORT_LIMIT) != ProcessEvent::Ended(member) {}
                return Ok(Probe::Fails);
            }
        }
    }
}

/// The Python of a folder with stock ROS 2. An installation without a Python of its own is for the
/// system's Python, which loads rclpy when the installation is sourced.
fn python_of(folder: &Path) -> PathBuf {
    let own = folder.join("bin/python");
    let is_installation = folder.join("share/rclpy").is_dir();
    if is_installation && !own.exists() { "python3".into() } else { own }
}

/// The Pythons that `scripts/setup.sh` installed in folders above the current folder or above this
/// executable; then the system's Pythons.
fn usual_pythons() -> Vec<PathBuf> {
    let folders = [std::env::current_dir().ok(), std::env::current_exe().ok()];
    let above = folders.iter().flatten().flat_map(|folder| folder.ancestors());
    let mut found: Vec<PathBuf> = above
        .map(|folder| folder.join(".venv/bin/python"))
        .filter(|python| python.is_file())
        .collect();
    found.push("python3".into());
    found
}

fn python_command(python: &Path) -> Command {
    let mut command = Command::new(python);
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// The command that runs the node of the demo.
pub(super) fn node(python: &Path) -> Command {
    let mut command = python_command(python);
    command.args(["-c", NODE]);
    command
}

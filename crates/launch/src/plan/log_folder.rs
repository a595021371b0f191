//! The folder of ROS 2's logs.

use std::path::PathBuf;

/// The variable with the folder.
pub(super) const LOG_VARIABLE: &str = "ROS_LOG_DIR";

/// The folder of logs in an environment: `ROS_LOG_DIR`, `ROS_HOME/log` or `~/.ros/log`. `None` if
/// none of the three variables is set.
pub fn log_folder(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let folder = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder(LOG_VARIABLE)
        .or_else(|| folder("ROS_HOME").map(|home| home.join("log")))
        .or_else(|| folder("HOME").map(|home| home.join(".ros/log")))
}

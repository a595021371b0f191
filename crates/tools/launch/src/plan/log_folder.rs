//! The folder for logs of ROS 2.

use std::path::PathBuf;

/// The environment variable with the folder.
pub(super) const LOG_VARIABLE: &str = "ROS_LOG_DIR";

/// The log folder in an environment: `ROS_LOG_DIR`, `ROS_HOME/log` or `~/.ros/log`. `None` if none
/// of `ROS_LOG_DIR`, `ROS_HOME` and `HOME` is set.
pub fn log_folder(variable: impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let folder = |name| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    folder(LOG_VARIABLE)
        .or_else(|| folder("ROS_HOME").map(|home| home.join("log")))
        .or_else(|| folder("HOME").map(|home| home.join(".ros/log")))
}

//! The programs that this command starts with the Python interpreter beside it.

use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;

use feros_launch::{PythonHost, PythonOptions};
use feros_process::python_interpreter;

use crate::notices;

/// The code that finds the host for launch files and becomes it.
const LAUNCH_HOST: &str = include_str!("python/launch_host.py");

/// The start of Python for launch files. Their output goes to standard error if standard output
/// is for results.
pub(crate) fn launch_host(prints_to_standard_error: bool) -> PythonOptions {
    PythonOptions {
        host: PythonHost::Command(vec![
            python_interpreter(),
            "-c".to_owned(),
            LAUNCH_HOST.to_owned(),
        ]),
        arguments: std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect(),
        prints_to_standard_error,
        notice: Some(|text| notices::note(text)),
    }
}

/// The Python process at the other end of standard input, which is a socket.
///
/// # Errors
/// When standard input cannot be duplicated.
pub(crate) fn launch_host_on_standard_input() -> io::Result<PythonHost> {
    let socket = io::stdin().as_fd().try_clone_to_owned()?;
    Ok(PythonHost::Socket(Arc::new(UnixStream::from(socket))))
}

/// The modules of Feros's wheel that have the names of stock ROS 2 and are no interfaces.
const OF_WHEEL: [&str; 14] = [
    "ament_index_python",
    "launch",
    "launch_ros",
    "launch_xml",
    "launch_yaml",
    "message_filters",
    "rclpy",
    "rosidl_parser",
    "rosidl_runtime_py",
    "sensor_msgs_py",
    "tf2_geometry_msgs",
    "tf2_py",
    "tf2_ros",
    "tf2_sensor_msgs",
];

/// Whether Feros's wheel has a module with this name, so that a Python that lacks the module lacks
/// the wheel.
pub(crate) fn wheel_has(module: &str) -> bool {
    module == "feros"
        || OF_WHEEL.contains(&module)
        || feros_interface::shipped_packages().contains(&module)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_modules_of_the_wheel_are_known() {
        let folder =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../bindings/python/python/feros/compat");
        let names = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
        let names: Vec<_> = names.map(|name| name.into_string().unwrap()).collect();
        let is_module = |name: &&String| !name.starts_with(['_', '.']);
        for name in names.iter().filter(is_module) {
            assert!(wheel_has(name), "{name}");
        }
        for name in OF_WHEEL {
            assert!(names.iter().any(|there| there == name), "{name}");
        }
        assert!(!wheel_has("cv2"));
    }
}

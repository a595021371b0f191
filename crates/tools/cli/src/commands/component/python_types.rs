//! The components in Python, which only the interpreter of containers can list: entry points of
//! installed distributions name them.

use std::process::{Command, Stdio};

use feros_files::{default_prefix, named_prefixes};
use feros_process::python_interpreter;
use serde::Deserialize;

use crate::notices;

/// The code that prints the components.
const LIST: &str = include_str!("../../python/component_types.py");

/// A component in Python.
#[derive(Deserialize)]
pub(super) struct PythonComponent {
    pub(super) package: String,
    pub(super) plugin: String,
    /// The object, such as `camera.detector:Detector`.
    pub(super) object: String,
}

/// The components in Python, by package and name; none if there is no interpreter, or if it lacks
/// the package `feros`.
pub(super) fn python_components() -> Vec<PythonComponent> {
    let mut command = Command::new(python_interpreter());
    let prefixes = named_prefixes().into_iter().chain(default_prefix());
    command.args(["-c", LIST]).args(prefixes).stdin(Stdio::null());
    let Ok(output) = command.output() else { return Vec::new() };
    let found = serde_json::from_slice(&output.stdout);
    found.unwrap_or_else(|_| {
        let text = String::from_utf8_lossy(&output.stderr);
        let last = text.lines().last().unwrap_or("it printed no list");
        notices::warn(format!("the components in Python are not listed: {last}"));
        Vec::new()
    })
}

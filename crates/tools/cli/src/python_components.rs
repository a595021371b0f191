//! The components in Python, which only the interpreter of containers can list: entry points of
//! installed distributions name them.

use std::process::{Command, Stdio};

use feros_files::searched_prefixes;
use feros_process::python_interpreter;
use serde::Deserialize;

use crate::notices;

/// The code that prints the components.
const LIST: &str = include_str!("python/component_types.py");

/// A component in Python.
#[derive(Deserialize)]
pub(crate) struct PythonComponent {
    pub(crate) package: String,
    pub(crate) plugin: String,
    /// The object, such as `camera.detector:Detector`.
    pub(crate) object: String,
    /// Why the object does not exist; `None` if it probably does.
    fault: Option<String>,
}

/// The components in Python, by package and name; none if there is no interpreter, or if it lacks
/// the package `feros`. Warns about entry points that name what does not exist.
pub(crate) fn python_components() -> Vec<PythonComponent> {
    let mut found = listed().unwrap_or_else(|reason| {
        notices::warn(format!("the components in Python are not listed: {reason}"));
        Vec::new()
    });
    found.retain(|component| {
        let PythonComponent { package, plugin, object, fault } = component;
        if let Some(fault) = fault {
            notices::warn(format!(
                "the entry point `{plugin} = {object}` of the package {package} names no class: \
                 {fault}"
            ));
        }
        fault.is_none()
    });
    found
}

/// The packages that have components in Python.
pub(crate) fn packages() -> Vec<String> {
    listed().unwrap_or_default().into_iter().map(|component| component.package).collect()
}

/// The entry points, or why they are not known.
fn listed() -> Result<Vec<PythonComponent>, String> {
    let mut command = Command::new(python_interpreter());
    command.args(["-c", LIST]).args(searched_prefixes()).stdin(Stdio::null());
    let Ok(output) = command.output() else { return Ok(Vec::new()) };
    serde_json::from_slice(&output.stdout).map_err(|_| {
        let text = String::from_utf8_lossy(&output.stderr);
        text.lines().last().unwrap_or("it printed no list").to_owned()
    })
}

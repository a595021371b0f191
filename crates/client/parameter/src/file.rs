//! Parameter files: YAML files with values for the parameters of nodes.
//!
//! ```yaml
//! /**:                      # every node
//!   ros__parameters:
//!     use_sim_time: true
//! /robot/camera:            # or nested: robot: {camera: {ros__parameters: …}}
//!   ros__parameters:
//!     rate: 30.0
//!     lens: {focal_length: 3.5}   # the parameter lens.focal_length
//! ```

mod text;

pub use text::to_text;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use feros_yaml::{Content, Node, Scalar};

use crate::node_pattern::NodePattern;
use crate::overrides::ParameterOverrides;
use crate::value::ParameterValue;
use crate::yaml::{self, LIMITS, YamlError};

/// The limit on the size of a parameter file, in bytes.
const MAX_FILE_BYTES: u64 = 16 << 20;

const KEY: &str = "ros__parameters";
const NODES: &str =
    "the name of a node, such as /robot/camera, /** or *, with ros__parameters: below it";
const PARAMETERS: &str = "a mapping from names of parameters to values";

/// A parameter file that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParameterFileError {
    /// The file cannot be read.
    #[error("parameter file {}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        reason: String,
    },
    /// The file is not a parameter file.
    #[error("parameter file {}: {source}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The position and the problem.
        source: YamlError,
    },
}

/// Reads a parameter file.
///
/// # Errors
/// When the file cannot be read, or is not a parameter file; the error names the file, the line and
/// what was expected.
pub fn read(path: &Path) -> Result<ParameterOverrides, ParameterFileError> {
    let unreadable =
        |reason: String| ParameterFileError::Unreadable { path: path.to_owned(), reason };
    let file = feros_files::open(path).map_err(|error| unreadable(error.to_string()))?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| unreadable(error.to_string()))?;
    if bytes.len() as u64 > MAX_FILE_BYTES {
        return Err(unreadable(format!("it is larger than {} MiB", MAX_FILE_BYTES >> 20)));
    }
    let text =
        String::from_utf8(bytes).map_err(|_| unreadable("it is not UTF-8 text".to_owned()))?;
    parse(&text).map_err(|source| ParameterFileError::Malformed { path: path.to_owned(), source })
}

/// Reads the text of a parameter file. Several YAML documents in one text are merged, as in rcl
/// (`rcl_yaml_param_parser/src/parse.c`): a later document wins over an earlier one.
///
/// # Errors
/// When the text is not a parameter file; the error names the line and what was expected.
///
/// ```
/// use feros_parameter::file;
/// use feros_engine::NodeName;
/// let overrides = file::parse("/**: {ros__parameters: {rate: 5, lens: {focus: 1.5}}}")?;
/// let values = overrides.for_node(&NodeName::new("/robot", "camera")?);
/// assert_eq!(values["rate"], 5.into());
/// assert_eq!(values["lens.focus"], 1.5.into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse(text: &str) -> Result<ParameterOverrides, YamlError> {
    let mut overrides = ParameterOverrides::default();
    for document in feros_yaml::documents(text, LIMITS)? {
        match &document.content {
            Content::Mapping(entries) => nodes("", entries, &mut overrides)?,
            // An empty document.
            Content::Scalar(scalar) if scalar.is_plain() && matches!(&*scalar.text, "" | "~") => {}
            _ => return Err(YamlError::new(document.place, "the file is not a mapping", NODES)),
        }
    }
    Ok(overrides)
}

type Entries = [(Scalar, Node)];

/// Reads a mapping whose keys are names of nodes and namespaces below `prefix`, or
/// `ros__parameters`.
fn nodes(
    prefix: &str,
    entries: &Entries,
    overrides: &mut ParameterOverrides,
) -> Result<(), YamlError> {
    for (key, value) in entries {
        let name = name_of(key)?;
        let refused = |problem: String| Err(YamlError::new(key.place, problem, NODES));
        if name == KEY {
            if prefix.is_empty() {
                return refused("there is no node name above ros__parameters".to_owned());
            }
            let Content::Mapping(entries) = &value.content else {
                let problem = "ros__parameters has no parameters";
                return Err(YamlError::new(value.place, problem, PARAMETERS));
            };
            let nodes = prefix
                .parse::<NodePattern>()
                .map_err(|problem| YamlError::new(key.place, problem, NODES))?;
            let mut values = BTreeMap::new();
            parameters("", entries, &mut values)?;
            overrides.entry(nodes).extend(values);
            continue;
        }
        let path = format!("{prefix}/{}", name.strip_prefix('/').unwrap_or(name));
        if let Err(problem) = path.parse::<NodePattern>() {
            return refused(problem);
        }
        let Content::Mapping(entries) = &value.content else {
            let problem = format!("{name} has a value outside of ros__parameters");
            let expected = "ros__parameters: below the name of the node";
            return Err(YamlError::new(value.place, problem, expected));
        };
        nodes(&path, entries, overrides)?;
    }
    Ok(())
}

/// Reads parameters. The names of parameters within a nested mapping begin with the key of that
/// mapping and a dot.
fn parameters(
    prefix: &str,
    entries: &Entries,
    values: &mut BTreeMap<String, ParameterValue>,
) -> Result<(), YamlError> {
    for (key, value) in entries {
        let name = format!("{prefix}{}", name_of(key)?);
        let value = match &value.content {
            Content::Scalar(text) => yaml::scalar(text),
            Content::List(items) => yaml::list(items),
            Content::Mapping(entries) => {
                parameters(&format!("{name}."), entries, values)?;
                continue;
            }
        };
        let value = value.map_err(|error| YamlError {
            problem: format!("parameter {name}: {}", error.problem),
            ..error
        })?;
        values.insert(name, value);
    }
    Ok(())
}

fn name_of(key: &Scalar) -> Result<&str, YamlError> {
    if key.text.is_empty() {
        return Err(YamlError::new(key.place, "a parameter name is empty", "a name and a colon"));
    }
    Ok(&key.text)
}

#[cfg(test)]
mod tests;

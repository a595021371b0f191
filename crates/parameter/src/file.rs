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

use saphyr_parser::{Event, ScalarStyle, Span};

use crate::node_pattern::NodePattern;
use crate::overrides::ParameterOverrides;
use crate::value::ParameterValue;
use crate::yaml::{Events, MAX_DEPTH, VALUE, YamlError, error_at};

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
/// use feros_rmw::NodeName;
/// let overrides = file::parse("/**: {ros__parameters: {rate: 5, lens: {focus: 1.5}}}")?;
/// let values = overrides.for_node(&NodeName::new("/robot", "camera")?);
/// assert_eq!(values["rate"], 5.into());
/// assert_eq!(values["lens.focus"], 1.5.into());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn parse(text: &str) -> Result<ParameterOverrides, YamlError> {
    let mut reader = Reader { events: Events::new(text), overrides: ParameterOverrides::default() };
    loop {
        match reader.events.next()? {
            Event::StreamEnd => return Ok(reader.overrides),
            Event::MappingStart(..) => reader.nodes("", 0)?,
            // An empty document.
            Event::Scalar(text, ScalarStyle::Plain, ..) if text.is_empty() || text == "~" => {}
            _ => return Err(reader.events.error("the file is not a mapping", NODES)),
        }
    }
}

struct Reader<'a> {
    events: Events<'a>,
    overrides: ParameterOverrides,
}

impl Reader<'_> {
    /// Reads a mapping whose keys are names of nodes and namespaces below `prefix`, or
    /// `ros__parameters`.
    fn nodes(&mut self, prefix: &str, depth: usize) -> Result<(), YamlError> {
        while let Some((key, place)) = self.key(depth)? {
            if key == KEY {
                if prefix.is_empty() {
                    return Err(error_at(
                        place,
                        "ros__parameters has no name of a node above it",
                        NODES,
                    ));
                }
                self.node(prefix, place)?;
                continue;
            }
            let path = format!("{prefix}/{}", key.strip_prefix('/').unwrap_or(&key));
            if let Err(problem) = path.parse::<NodePattern>() {
                return Err(error_at(place, problem, NODES));
            }
            match self.events.next()? {
                Event::MappingStart(..) => self.nodes(&path, depth + 1)?,
                _ => {
                    let problem = format!("{key} has a value outside of ros__parameters");
                    return Err(self
                        .events
                        .error(problem, "ros__parameters: below the name of the node"));
                }
            }
        }
        Ok(())
    }

    /// Reads the parameters below `ros__parameters`.
    fn node(&mut self, path: &str, place: Span) -> Result<(), YamlError> {
        let nodes: NodePattern =
            path.parse().map_err(|problem: String| error_at(place, problem, NODES))?;
        match self.events.next()? {
            Event::MappingStart(..) => {}
            _ => return Err(self.events.error("ros__parameters has no parameters", PARAMETERS)),
        }
        let mut values = BTreeMap::new();
        self.parameters("", 0, &mut values)?;
        self.overrides.entry(nodes).extend(values);
        Ok(())
    }

    fn parameters(
        &mut self,
        prefix: &str,
        depth: usize,
        values: &mut BTreeMap<String, ParameterValue>,
    ) -> Result<(), YamlError> {
        while let Some((key, _)) = self.key(depth)? {
            let name = format!("{prefix}{key}");
            let value = match self.events.next()? {
                Event::Scalar(text, style, _, tag) => {
                    self.events.scalar(&text, style, tag.as_deref())
                }
                Event::SequenceStart(..) => self.events.list(),
                Event::MappingStart(..) => {
                    self.parameters(&format!("{name}."), depth + 1, values)?;
                    continue;
                }
                _ => Err(self.events.error("there is no value", VALUE)),
            };
            let value = value.map_err(|error| YamlError {
                problem: format!("parameter {name}: {}", error.problem),
                ..error
            })?;
            values.insert(name, value);
        }
        Ok(())
    }

    /// Reads the next key of a mapping; `None` at the end of the mapping.
    fn key(&mut self, depth: usize) -> Result<Option<(String, Span)>, YamlError> {
        const NAME: &str = "a name and a colon";
        if depth > MAX_DEPTH {
            return Err(self
                .events
                .error(format!("mappings are nested more than {MAX_DEPTH} deep"), PARAMETERS));
        }
        match self.events.next()? {
            Event::MappingEnd => Ok(None),
            Event::Scalar(text, ..) if !text.is_empty() => {
                Ok(Some((text.into_owned(), self.events.place)))
            }
            Event::Scalar(..) => Err(self.events.error("a name is empty", NAME)),
            _ => Err(self.events.error("a name is a list or mapping", NAME)),
        }
    }
}

#[cfg(test)]
mod tests;

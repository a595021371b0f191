//! A launch file as a tree of entities, the same for XML and YAML: what they say is read in one
//! place only.

mod xml;
mod yaml;

use std::path::Path;
use std::sync::Arc;

use crate::error::LaunchError;
use crate::position::Position;

pub(crate) use yaml::{Content, Document};

/// The most bytes of a launch file; the largest known ones have some hundred thousand.
pub(crate) const MAX_FILE_BYTES: usize = 4 << 20;
/// The most entities and values of one file.
pub(crate) const MAX_NODES: usize = 100_000;
/// How deep entities may be nested.
pub(crate) const MAX_DEPTH: usize = 64;

/// An element of XML, or a mapping of YAML under its name.
#[derive(Clone, Debug)]
pub(crate) struct Entity {
    pub(crate) tag: String,
    pub(crate) at: Position,
    pub(crate) attributes: Vec<Attribute>,
    pub(crate) children: Vec<Entity>,
}

/// What an entity says of itself.
#[derive(Clone, Debug)]
pub(crate) struct Attribute {
    pub(crate) name: String,
    pub(crate) at: Position,
    pub(crate) value: AttributeValue,
}

/// The value of an attribute.
#[derive(Clone, Debug)]
pub(crate) enum AttributeValue {
    One(Scalar),
    List(Vec<Scalar>),
}

/// A text and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Scalar {
    pub(crate) text: String,
    /// Whether quotes in YAML say that it is a text, whatever it looks like.
    pub(crate) quoted: bool,
    pub(crate) at: Position,
    /// Whether each character stands in the file as it is, so that a place within the text is a
    /// place in the file.
    pub(crate) verbatim: bool,
}

impl Scalar {
    /// The place of a character of the text.
    pub(crate) fn position(&self, characters: usize) -> Position {
        if self.verbatim { self.at.advanced(characters) } else { self.at.clone() }
    }
}

/// Reads a launch file into its root entity, `launch`.
pub(crate) fn read_file(path: &Path, from: Option<&Position>) -> Result<Entity, LaunchError> {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
    let language =
        |reason| LaunchError::Language { path: path.to_owned(), from: from.cloned(), reason };
    match extension {
        "py" => {
            return Err(language(
                "Python launch files are programs. Write it as .launch.xml or .launch.yaml, or start it with ros2 launch",
            ));
        }
        "xml" | "launch" | "yaml" | "yml" => {}
        _ => return Err(language("its name ends neither in .xml nor in .yaml")),
    }
    let text = read_text(path, from)?;
    match extension {
        "yaml" | "yml" => parse_yaml(path, &text),
        _ => parse_xml(path, &text),
    }
}

/// Reads a text file of bounded size.
pub(crate) fn read_text(path: &Path, from: Option<&Position>) -> Result<String, LaunchError> {
    use std::io::Read as _;
    let unreadable =
        |cause| LaunchError::Unreadable { path: path.to_owned(), from: from.cloned(), cause };
    let file = std::fs::File::open(path).map_err(unreadable)?;
    let mut text = String::new();
    let limit = MAX_FILE_BYTES as u64 + 1;
    file.take(limit).read_to_string(&mut text).map_err(unreadable)?;
    if text.len() > MAX_FILE_BYTES {
        return Err(LaunchError::TooLarge { path: path.to_owned(), limit: MAX_FILE_BYTES });
    }
    Ok(text)
}

pub(crate) fn parse_xml(path: &Path, text: &str) -> Result<Entity, LaunchError> {
    xml::parse(&Arc::from(path), text)
}

pub(crate) fn parse_yaml(path: &Path, text: &str) -> Result<Entity, LaunchError> {
    yaml::parse(&Arc::from(path), text)
}

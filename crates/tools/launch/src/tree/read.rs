//! Reads launch files into trees, in the language that the file name implies.

use std::path::Path;
use std::sync::Arc;

use super::entity::Entity;
use super::xml;
use super::yaml;
use crate::error::LaunchError;
use crate::position::Position;

/// The limit on the bytes of a launch file; the largest known launch files have a few hundred
/// thousand.
const MAX_FILE_BYTES: usize = 4 << 20;

/// The language of a launch file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    Xml,
    Yaml,
}

impl Language {
    /// The language that the name of a file implies.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("py") => Some(Self::Python),
            Some("xml" | "launch") => Some(Self::Xml),
            Some("yaml" | "yml") => Some(Self::Yaml),
            _ => None,
        }
    }
}

/// Reads a launch file in XML or YAML into its root entity, `launch`. Without a language, the name
/// of the file implies it.
pub(crate) fn read_file(
    path: &Path,
    language: Option<Language>,
    from: Option<&Position>,
) -> Result<Entity, LaunchError> {
    let refused = |reason: &str| LaunchError::Language {
        path: path.to_owned(),
        from: from.cloned(),
        reason: reason.to_owned(),
    };
    match language.or_else(|| Language::of(path)) {
        Some(Language::Xml) => parse_xml(path, &read_text(path, from)?),
        Some(Language::Yaml) => parse_yaml(path, &read_text(path, from)?),
        Some(Language::Python) => Err(refused(
            "it is a Python program, and this launcher starts no Python; `feros launch` of Feros's \
             wheel does",
        )),
        None => Err(refused("its name ends neither in .xml nor in .yaml nor in .py")),
    }
}

/// Reads a text file of limited size.
pub(crate) fn read_text(path: &Path, from: Option<&Position>) -> Result<String, LaunchError> {
    use std::io::Read as _;
    let unreadable =
        |cause| LaunchError::Unreadable { path: path.to_owned(), from: from.cloned(), cause };
    let file = feros_files::open(path).map_err(unreadable)?;
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

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

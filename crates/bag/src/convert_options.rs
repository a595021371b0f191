//! The file of `ros2 bag convert --output-options`: the bags that are to be made, and of what.

use std::path::PathBuf;
use std::time::Duration;

use regex::Regex;

use crate::mcap_file::Compression;
use crate::selection::TopicSelection;
use crate::writer::WriterOptions;
use crate::yaml::{Node, YamlError};

/// A bag that is to be made.
#[derive(Debug, Clone)]
pub struct OutputBag {
    /// Its folder.
    pub uri: PathBuf,
    /// How it is written.
    pub writer: WriterOptions,
    /// The topics that go into it.
    pub selection: TopicSelection,
}

/// Reads a text with `output_bags`.
///
/// # Errors
/// When it is no YAML, a bag has no `uri`, or a value is none of its key.
pub fn read_output_bags(text: &str) -> Result<Vec<OutputBag>, YamlError> {
    let document = Node::parse(text)?;
    let bags = document.list("output_bags");
    if bags.is_empty() {
        return Err(YamlError::new("there are no output_bags", "a list of bags with a uri each"));
    }
    bags.iter().map(read_bag).collect()
}

fn read_bag(node: &Node) -> Result<OutputBag, YamlError> {
    let Some(uri) = node.text("uri") else {
        return Err(YamlError::new("a bag has no uri", "the folder that is to be made"));
    };
    if let Some(storage) = node.text("storage_id").filter(|id| !matches!(*id, "" | "mcap")) {
        let problem = format!("storage_id is {storage:?}");
        return Err(YamlError::new(problem, "mcap, which is the storage that is written"));
    }
    let mut writer = WriterOptions {
        max_file_bytes: node.number("max_bagfile_size", 0)?,
        max_file_duration: Duration::from_secs(node.number("max_bagfile_duration", 0)?),
        ..WriterOptions::default()
    };
    writer.storage.compression = match node.text("compression_format").unwrap_or_default() {
        "" => preset(node.text("storage_preset_profile").unwrap_or_default())?,
        "zstd" => Compression::Zstd { level: 0 },
        "lz4" => Compression::Lz4,
        other => {
            let problem = format!("compression_format is {other:?}");
            return Err(YamlError::new(problem, "zstd or lz4"));
        }
    };
    Ok(OutputBag { uri: PathBuf::from(uri), writer, selection: read_selection(node)? })
}

fn preset(name: &str) -> Result<Compression, YamlError> {
    Ok(match name {
        "" | "none" | "fastwrite" => Compression::None,
        "zstd_fast" => Compression::Zstd { level: 1 },
        "zstd_small" => Compression::Zstd { level: 19 },
        other => {
            let problem = format!("storage_preset_profile is {other:?}");
            return Err(YamlError::new(problem, "none, fastwrite, zstd_fast or zstd_small"));
        }
    })
}

fn read_selection(node: &Node) -> Result<TopicSelection, YamlError> {
    let names = |key| {
        let scalars = node.list(key).iter().filter_map(|node| match node {
            Node::Scalar(text) => Some(text.clone()),
            _ => None,
        });
        scalars.collect::<Vec<_>>()
    };
    let is_true = |key| node.text(key) == Some("true");
    let regex = |key| match node.text(key).filter(|text| !text.is_empty()) {
        None => Ok(None),
        Some(text) => Regex::new(text).map(Some).map_err(|error| {
            YamlError::new(format!("`{key}` is {text:?}: {error}"), "a regular expression")
        }),
    };
    let selection = TopicSelection {
        all_topics: is_true("all") || is_true("all_topics"),
        all_services: is_true("all") || is_true("all_services"),
        all_actions: is_true("all") || is_true("all_actions"),
        topics: names("topics"),
        services: names("services"),
        actions: names("actions"),
        topic_types: names("topic_types"),
        regex: regex("regex")?,
        exclude_regex: regex("exclude_regex")?,
        exclude_topics: names("exclude_topics"),
        exclude_services: names("exclude_services"),
        exclude_actions: names("exclude_actions"),
        exclude_topic_types: names("exclude_topic_types"),
        include_hidden_topics: is_true("include_hidden_topics"),
    };
    // Where nothing is said, everything is copied.
    if selection.is_empty() {
        let all = TopicSelection { include_hidden_topics: true, ..selection };
        return Ok(TopicSelection {
            all_topics: true,
            all_services: true,
            all_actions: true,
            ..all
        });
    }
    Ok(selection)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn bags_and_their_topics_are_read() {
        let text = "output_bags:\n- uri: a\n  storage_id: mcap\n  topics: [/x]\n  max_bagfile_size: 1000\n\
                    - uri: b\n  compression_format: zstd\n";
        let bags = read_output_bags(text).unwrap();
        assert_eq!(bags[0].writer.max_file_bytes, 1000);
        assert!(bags[0].selection.has("/x", "t") && !bags[0].selection.has("/y", "t"));
        assert_eq!(bags[1].writer.storage.compression, Compression::Zstd { level: 0 });
        assert!(bags[1].selection.has("/_hidden", "t"));
        for wrong in [
            "",
            "output_bags: [{}]",
            "output_bags: [{uri: a, storage_id: sqlite3}]",
            "output_bags: [{uri: a, regex: '('}]",
            "output_bags: [{uri: a, compression_format: x}]",
        ] {
            assert!(read_output_bags(wrong).is_err(), "{wrong}");
        }
    }
}

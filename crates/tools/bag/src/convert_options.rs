//! The file of `ros2 bag convert --output-options`: which bags to make, and from which topics.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use regex::Regex;

use crate::mcap_file::Compression;
use crate::selection::TopicSelection;
use crate::writer::WriterOptions;
use crate::yaml::{Node, YamlError};

/// Keys of rosbag2 about how a recorder receives. As in rosbag2, they have no effect, since copying
/// bags receives no messages.
const OF_RECORDING: [&str; 12] = [
    "compression_queue_size",
    "compression_threads",
    "compression_threads_priority",
    "disable_keyboard_controls",
    "ignore_leaf_topics",
    "include_unpublished_topics",
    "is_discovery_disabled",
    "max_cache_size",
    "node_prefix",
    "start_paused",
    "topic_polling_interval",
    "use_sim_time",
];
/// Keys of rosbag2 for features that Feros lacks, with the values that turn these features off.
const NOT_DONE: [(&str, &[&str]); 7] = [
    ("input_serialization_format", &["", "cdr"]),
    ("output_serialization_format", &["", "cdr"]),
    ("rmw_serialization_format", &["", "cdr"]),
    ("snapshot_duration", &["", "0"]),
    ("snapshot_mode", &["false", "False", "FALSE", "no", "off"]),
    ("storage_config_uri", &[""]),
    ("storage_id", &["", "mcap"]),
];
/// The keys that Feros supports.
const DONE: [&str; 26] = [
    "uri",
    "max_bagfile_size",
    "max_bagfile_duration",
    "storage_preset_profile",
    "compression_format",
    "compression_mode",
    "start_time_ns",
    "end_time_ns",
    "custom_data",
    "all",
    "all_topics",
    "all_services",
    "all_actions",
    "topics",
    "services",
    "actions",
    "topic_types",
    "regex",
    "exclude",
    "exclude_regex",
    "exclude_topics",
    "exclude_services",
    "exclude_actions",
    "exclude_topic_types",
    "include_hidden_topics",
    "topic_qos_profile_overrides",
];

/// A bag to be created.
#[derive(Debug, Clone)]
pub struct OutputBag {
    /// Its folder.
    pub uri: PathBuf,
    /// The options for writing it.
    pub writer: WriterOptions,
    /// The topics that go into it.
    pub selection: TopicSelection,
    /// The time in nanoseconds since 1970 before which messages are left out.
    pub start: Option<i64>,
    /// The time in nanoseconds since 1970 after which messages are left out.
    pub end: Option<i64>,
}

/// Reads the options of `ros2 bag convert`: YAML with the key `output_bags`.
///
/// # Errors
/// When the text is not YAML, a bag has no `uri`, a key is unknown, or a value is not valid for its
/// key.
pub fn read_output_bags(text: &str) -> Result<Vec<OutputBag>, YamlError> {
    let document = Node::parse_only(text)?;
    let bags = document.list("output_bags");
    if bags.is_empty() {
        return Err(YamlError::new(
            "the file has no output_bags",
            "a list of bags, each with a uri",
        ));
    }
    document.only_has("the file", &["output_bags"])?;
    bags.iter().map(read_bag).collect()
}

fn read_bag(node: &Node) -> Result<OutputBag, YamlError> {
    refuse_what_is_not_done(node)?;
    let Some(uri) = node.only_text("uri")? else {
        return Err(YamlError::new("a bag has no uri", "the folder to create"));
    };
    let mut writer = WriterOptions {
        max_file_bytes: number(node, "max_bagfile_size", 0)?,
        max_file_duration: Duration::from_secs(number(node, "max_bagfile_duration", 0)?),
        custom_data: custom_data(node)?,
        ..WriterOptions::default()
    };
    let of_preset = preset(node.only_text("storage_preset_profile")?.unwrap_or_default())?;
    let mode = node.only_text("compression_mode")?.unwrap_or_default().to_lowercase();
    if !matches!(&*mode, "" | "none" | "file" | "message") {
        let problem = format!("compression_mode is {mode:?}");
        return Err(YamlError::new(problem, "none, file or message"));
    }
    writer.storage.compression = match node.only_text("compression_format")?.unwrap_or_default() {
        "" => of_preset,
        "zstd" | "lz4" if mode == "none" => of_preset,
        "zstd" => Compression::Zstd { level: 0 },
        "lz4" => Compression::Lz4,
        other => {
            let problem = format!("compression_format is {other:?}");
            return Err(YamlError::new(problem, "zstd or lz4"));
        }
    };
    // Negative times mean "no limit" in rosbag2.
    let time = |key| number(node, key, -1).map(|time| (time >= 0).then_some(time));
    Ok(OutputBag {
        uri: PathBuf::from(uri),
        writer,
        selection: read_selection(node)?,
        start: time("start_time_ns")?,
        end: time("end_time_ns")?,
    })
}

fn refuse_what_is_not_done(node: &Node) -> Result<(), YamlError> {
    let not_done = NOT_DONE.iter().map(|(key, _)| *key);
    let known: Vec<&str> = DONE.iter().chain(&OF_RECORDING).copied().chain(not_done).collect();
    node.only_has("a bag of output_bags", &known)?;
    for (key, nothing) in NOT_DONE {
        let Some(text) = node.only_text(key)? else { continue };
        if !nothing.contains(&text) {
            let problem = format!("{key} is {text:?}, which Feros does not support");
            let last = nothing.last().copied().unwrap_or_default();
            return Err(YamlError::new(problem, format!("{last:?}, or no such key")));
        }
    }
    match node.get("topic_qos_profile_overrides") {
        None | Some(Node::Null) => Ok(()),
        Some(Node::Map(topics)) if topics.is_empty() => Ok(()),
        Some(_) => Err(YamlError::new(
            "Feros does not support topic_qos_profile_overrides: a copy keeps the recorded QoS",
            "no such key; `bag play` has --qos-profile-overrides-path",
        )),
    }
}

/// The same as [`Node::number`], but refuses a list or mapping.
fn number<N: std::str::FromStr>(node: &Node, key: &str, default: N) -> Result<N, YamlError> {
    node.only_text(key)?;
    node.number(key, default)
}

fn custom_data(node: &Node) -> Result<BTreeMap<String, String>, YamlError> {
    let Some(data) = node.get("custom_data") else { return Ok(BTreeMap::new()) };
    let Node::Map(entries) = data else {
        return Err(YamlError::new(
            "`custom_data` is not a mapping",
            "a mapping from keys to strings",
        ));
    };
    let texts = entries
        .iter()
        .map(|(key, _)| Ok((key.clone(), data.only_text(key)?.unwrap_or_default().to_owned())));
    texts.collect()
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
    let regex = |key| match node.only_text(key)?.filter(|text| !text.is_empty()) {
        None => Ok(None),
        Some(text) => Regex::new(text).map(Some).map_err(|error| {
            YamlError::new(format!("`{key}` is {text:?}: {error}"), "a regular expression")
        }),
    };
    let all = node.flag("all")?;
    // Older versions of rosbag2 call this key `exclude`.
    let exclude_regex = match regex("exclude_regex")? {
        None => regex("exclude")?,
        found => found,
    };
    let selection = TopicSelection {
        all_topics: all | node.flag("all_topics")?,
        all_services: all | node.flag("all_services")?,
        all_actions: all | node.flag("all_actions")?,
        topics: node.texts("topics")?,
        services: node.texts("services")?,
        actions: node.texts("actions")?,
        topic_types: node.texts("topic_types")?,
        regex: regex("regex")?,
        exclude_regex,
        exclude_topics: node.texts("exclude_topics")?,
        exclude_services: node.texts("exclude_services")?,
        exclude_actions: node.texts("exclude_actions")?,
        exclude_topic_types: node.texts("exclude_topic_types")?,
        include_hidden_topics: node.flag("include_hidden_topics")?,
    };
    // A bag without a selection gets everything.
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
        for wrong in ["", "output_bags: [{}]"] {
            assert!(read_output_bags(wrong).is_err(), "{wrong}");
        }
    }

    fn bag(keys: &str) -> Result<OutputBag, String> {
        let bags = read_output_bags(&format!("output_bags: [{{uri: a, {keys}}}]"));
        bags.map(|mut bags| bags.remove(0)).map_err(|error| error.to_string())
    }

    #[test]
    fn options_of_rosbag2_are_used_or_refused() {
        let made = bag("start_time_ns: 5, end_time_ns: -1, custom_data: {robot: r2}").unwrap();
        assert_eq!((made.start, made.end), (Some(5), None));
        assert_eq!(made.writer.custom_data["robot"], "r2");
        let made = bag("all: True, exclude: '^/cam', compression_threads: 4").unwrap();
        assert!(made.selection.has("/x", "t") && !made.selection.has("/camera", "t"));
        assert!(
            bag("topic_types: [std_msgs/String]")
                .unwrap()
                .selection
                .has("/x", "std_msgs/msg/String")
        );
        assert!(bag("snapshot_mode: false, storage_config_uri: '', storage_id: mcap").is_ok());
        let made = bag("compression_format: zstd, compression_mode: NONE").unwrap();
        assert_eq!(made.writer.storage.compression, Compression::None);
    }

    #[test]
    fn nothing_is_ignored() {
        for (keys, expected) in [
            ("storage_id: sqlite3", "storage_id is \"sqlite3\", which Feros does not support"),
            ("regex: '('", "a regular expression"),
            ("compression_format: x", "zstd or lz4"),
            ("compression_mode: x", "none, file or message"),
            ("start_time: 5", "has no key `start_time`; did you mean `start_time_ns`?"),
            ("exlude_topics: [/x]", "did you mean `exclude_topics`?"),
            ("topics: /x", "such as `topics: [/x]`"),
            ("all: 'x'", "true or false"),
            ("start_time_ns: 1.5", "a whole number"),
            ("start_time_ns: [1]", "`start_time_ns` is a list"),
            ("snapshot_mode: true", "does not support"),
            ("topic_qos_profile_overrides: {/x: {depth: 1}}", "does not support"),
            ("custom_data: [a]", "not a mapping"),
            ("uri: b", "has the key `uri` twice"),
        ] {
            let error = bag(keys).map(drop).unwrap_err();
            assert!(error.contains(expected), "{keys}: {error}");
        }
        let error = read_output_bags("output_bags: [{uri: a}]\noutput_bag: 1").unwrap_err();
        assert!(error.to_string().contains("did you mean `output_bags`?"), "{error}");
    }
}

//! The content of `metadata.yaml`. It is written in version 9, as rosbag2 of ROS 2 Kilted does
//! (`rosbag2_storage/include/rosbag2_storage/bag_metadata.hpp`); older versions can be read.

use std::collections::BTreeMap;

use feros_engine::QosProfile;

use crate::qos;
use crate::yaml::{Node, YamlError, entry, scalar};

/// The file that describes the content of a bag.
pub const METADATA_FILE: &str = "metadata.yaml";

/// The key of the file under which rosbag2 expects the metadata.
pub(crate) const INFORMATION: &str = "rosbag2_bagfile_information";

/// The version in which the metadata is written.
pub const METADATA_VERSION: u32 = 9;

/// The start that is stated for a bag without messages: the greatest time, so that any message is
/// earlier.
const NO_START: i64 = i64::MAX;

/// A topic of a bag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicMetadata {
    /// The fully qualified name.
    pub name: String,
    /// The type, as `package/msg/Name`.
    pub type_name: String,
    /// The serialization of its messages: `cdr`.
    pub serialization_format: String,
    /// The QoS that publishers offered during the recording.
    pub offered_qos_profiles: Vec<QosProfile>,
    /// The type's hash as `RIHS01_…`; empty if unknown.
    pub type_description_hash: String,
}

impl TopicMetadata {
    /// Describes a topic whose messages are in CDR. Its QoS and the hash of its type are unknown.
    pub fn new(name: impl Into<String>, type_name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            type_name: type_name.into(),
            serialization_format: "cdr".to_owned(),
            offered_qos_profiles: Vec::new(),
            type_description_hash: String::new(),
        }
    }
}

/// A topic of a bag with the number of its messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicInformation {
    /// The topic.
    pub topic: TopicMetadata,
    /// The number of its messages.
    pub message_count: u64,
}

/// The time range from a first message to a last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TimeRange {
    /// The time of the first message, in nanoseconds since 1970.
    pub start: i64,
    /// The time of the last message, in nanoseconds since 1970.
    pub end: i64,
}

impl TimeRange {
    /// The time from the first to the last message, in nanoseconds.
    pub fn duration(&self) -> i64 {
        self.end.saturating_sub(self.start)
    }

    /// Returns the smallest range that contains both; `None` stands for a range without messages.
    pub(crate) fn joined(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        match (one, other) {
            (Some(a), Some(b)) => Some(Self { start: a.start.min(b.start), end: a.end.max(b.end) }),
            (one, other) => one.or(other),
        }
    }

    /// Returns the range extended by one more message.
    pub(crate) fn with(range: Option<Self>, time: i64) -> Option<Self> {
        Self::joined(range, Some(Self { start: time, end: time }))
    }
}

/// A file of a bag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileInformation {
    /// Its path within the bag.
    pub path: String,
    /// When its messages were recorded; `None` without messages.
    pub time: Option<TimeRange>,
    /// The number of its messages.
    pub message_count: u64,
}

/// The description of a bag without its messages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BagMetadata {
    /// The version of the layout.
    pub version: u32,
    /// The format of its files: `mcap` or `sqlite3`.
    pub storage_identifier: String,
    /// When its messages were recorded; `None` without messages.
    pub time: Option<TimeRange>,
    /// The number of all messages.
    pub message_count: u64,
    /// The topics.
    pub topics: Vec<TopicInformation>,
    /// The compression, such as `zstd`, of whole files or messages, in addition to that of the
    /// storage format; empty if nothing is compressed.
    pub compression_format: String,
    /// The compressed unit: `FILE`, `MESSAGE`, or empty.
    pub compression_mode: String,
    /// The files, in the order in which they were written.
    pub files: Vec<FileInformation>,
    /// Custom entries of the recorder; Feros notes the number of lost messages here.
    pub custom_data: BTreeMap<String, String>,
    /// The ROS distribution that recorded the bag; `unknown` if the bag does not name one.
    pub ros_distro: String,
}

/// The distribution of bags that do not name one, since rosbag2 writes the name only since Iron.
pub(crate) const UNKNOWN_DISTRO: &str = "unknown";

impl Default for BagMetadata {
    fn default() -> Self {
        Self {
            version: METADATA_VERSION,
            storage_identifier: "mcap".to_owned(),
            time: None,
            message_count: 0,
            topics: Vec::new(),
            compression_format: String::new(),
            compression_mode: String::new(),
            files: Vec::new(),
            custom_data: BTreeMap::new(),
            ros_distro: UNKNOWN_DISTRO.to_owned(),
        }
    }
}

impl BagMetadata {
    /// Returns the text of `metadata.yaml`.
    pub fn to_yaml(&self) -> String {
        let body = self.body();
        let indented: String = body.lines().map(|line| format!("  {line}\n")).collect();
        format!("{INFORMATION}:\n{indented}")
    }

    /// Returns the text without its top-level key, as MCAP files contain it.
    pub(crate) fn body(&self) -> String {
        let mut out = format!(
            "version: {}\nstorage_identifier: {}\n",
            self.version,
            scalar(&self.storage_identifier)
        );
        write_time(&mut out, self.time, "");
        out.push_str(&format!("message_count: {}\n", self.message_count));
        out.push_str(&list_head("topics_with_message_count", self.topics.is_empty()));
        for TopicInformation { topic, message_count } in &self.topics {
            out.push_str(&format!(
                "  - topic_metadata:\n      name: {}\n      type: {}\n      serialization_format: {}\n",
                scalar(&topic.name),
                scalar(&topic.type_name),
                scalar(&topic.serialization_format)
            ));
            let profiles = &topic.offered_qos_profiles;
            out.push_str("      ");
            out.push_str(&list_head("offered_qos_profiles", profiles.is_empty()));
            qos::write_profiles(&mut out, profiles, "        ");
            let hash = scalar(&topic.type_description_hash);
            out.push_str(&format!(
                "      type_description_hash: {hash}\n    message_count: {message_count}\n"
            ));
        }
        out.push_str(&format!(
            "compression_format: {}\ncompression_mode: {}\n",
            scalar(&self.compression_format),
            scalar(&self.compression_mode)
        ));
        out.push_str(&list_head("relative_file_paths", self.files.is_empty()));
        for file in &self.files {
            out.push_str(&format!("  - {}\n", scalar(&file.path)));
        }
        out.push_str(&list_head("files", self.files.is_empty()));
        for file in &self.files {
            out.push_str(&format!("  - path: {}\n", scalar(&file.path)));
            write_time(&mut out, file.time, "    ");
            out.push_str(&format!("    message_count: {}\n", file.message_count));
        }
        if self.custom_data.is_empty() {
            out.push_str("custom_data: ~\n");
        } else {
            out.push_str("custom_data:\n");
        }
        for (key, value) in &self.custom_data {
            entry(key, value).lines().for_each(|line| out.push_str(&format!("  {line}\n")));
        }
        out.push_str(&format!("ros_distro: {}\n", scalar(&self.ros_distro)));
        out
    }

    /// Reads the text of `metadata.yaml`.
    ///
    /// # Errors
    /// When the text is not YAML, or a value is not valid for its key. A missing key is no error:
    /// its value becomes the default.
    pub fn from_yaml(text: &str) -> Result<Self, YamlError> {
        let document = Node::parse(text)?;
        let Some(node) = document.get(INFORMATION) else {
            return Err(YamlError::new(
                "there is no rosbag2_bagfile_information",
                "the metadata of a bag of rosbag2",
            ));
        };
        let text = |key| node.text(key).unwrap_or_default().to_owned();
        let topics = node.list("topics_with_message_count").iter().map(read_topic);
        let mut files = node.list("files").iter().map(read_file).collect::<Result<Vec<_>, _>>()?;
        if files.is_empty() {
            let paths = node.list("relative_file_paths").iter();
            files.extend(paths.filter_map(|path| match path {
                Node::Scalar(path) => {
                    Some(FileInformation { path: path.clone(), time: None, message_count: 0 })
                }
                _ => None,
            }));
        }
        let custom_data =
            node.entries("custom_data").iter().filter_map(|(key, value)| match value {
                Node::Scalar(text) => Some((key.clone(), text.clone())),
                _ => None,
            });
        Ok(Self {
            version: node.number("version", 0)?,
            storage_identifier: text("storage_identifier"),
            time: read_time(node)?,
            message_count: node.number("message_count", 0)?,
            topics: topics.collect::<Result<_, _>>()?,
            compression_format: text("compression_format"),
            compression_mode: text("compression_mode"),
            files,
            custom_data: custom_data.collect(),
            ros_distro: match node.text("ros_distro").unwrap_or_default() {
                "" => UNKNOWN_DISTRO.to_owned(),
                distro => distro.to_owned(),
            },
        })
    }
}

/// Returns the line of a key whose list follows below it, or ` []` behind the key for an empty
/// list.
fn list_head(key: &str, is_empty: bool) -> String {
    format!("{key}:{}\n", if is_empty { " []" } else { "" })
}

fn write_time(out: &mut String, time: Option<TimeRange>, indent: &str) {
    let (start, duration) = time.map_or((NO_START, 0), |time| (time.start, time.duration()));
    let start = format!("{indent}starting_time:\n{indent}  nanoseconds_since_epoch: {start}\n");
    let duration = format!("{indent}duration:\n{indent}  nanoseconds: {duration}\n");
    out.push_str(&if indent.is_empty() { duration + &start } else { start + &duration });
}

fn read_time(node: &Node) -> Result<Option<TimeRange>, YamlError> {
    let inner = |key: &str, inner: &str, default: i64| match node.get(key) {
        Some(value) => value.number(inner, default),
        None => Ok(default),
    };
    let start = inner("starting_time", "nanoseconds_since_epoch", NO_START)?;
    let duration = inner("duration", "nanoseconds", 0)?;
    let end = start.saturating_add(duration);
    Ok((start != NO_START).then_some(TimeRange { start, end }))
}

fn read_file(node: &Node) -> Result<FileInformation, YamlError> {
    let path = node.text("path").unwrap_or_default().to_owned();
    let message_count = node.number("message_count", 0)?;
    Ok(FileInformation { path, time: read_time(node)?, message_count })
}

fn read_topic(node: &Node) -> Result<TopicInformation, YamlError> {
    let Some(topic) = node.get("topic_metadata") else {
        return Err(YamlError::new("a topic has no topic_metadata", "its name, type and QoS"));
    };
    let text = |key| topic.text(key).unwrap_or_default().to_owned();
    let profiles = topic.get("offered_qos_profiles").unwrap_or(&Node::Null);
    Ok(TopicInformation {
        topic: TopicMetadata {
            name: text("name"),
            type_name: text("type"),
            serialization_format: text("serialization_format"),
            offered_qos_profiles: qos::read_profiles(profiles)?,
            type_description_hash: text("type_description_hash"),
        },
        message_count: node.number("message_count", 0)?,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn example() -> BagMetadata {
        let time =
            Some(TimeRange { start: 1_700_000_000_000_000_000, end: 1_700_000_005_000_000_000 });
        let mut topic = TopicMetadata::new("/image", "sensor_msgs/msg/Image");
        topic.offered_qos_profiles = vec![QosProfile::sensor_data(), QosProfile::keep_last(1)];
        topic.type_description_hash = "RIHS01_ab".to_owned();
        BagMetadata {
            time,
            message_count: 7,
            topics: vec![
                TopicInformation { topic, message_count: 7 },
                TopicInformation { topic: TopicMetadata::new("/b", "x/msg/Y"), message_count: 0 },
            ],
            files: vec![FileInformation { path: "bag_0.mcap".into(), time, message_count: 7 }],
            custom_data: [("lost: 5".to_owned(), "a\nb".to_owned())].into(),
            ..BagMetadata::default()
        }
    }

    #[test]
    fn metadata_reads_back() {
        for metadata in [example(), BagMetadata::default()] {
            let text = metadata.to_yaml();
            assert_eq!(BagMetadata::from_yaml(&text).unwrap(), metadata, "{text}");
        }
        let text = example().to_yaml();
        assert!(text.starts_with("rosbag2_bagfile_information:\n  version: 9\n"), "{text}");
        assert!(
            text.contains("\n          - history: keep_last\n            depth: 5\n"),
            "{text}"
        );
    }

    #[test]
    fn texts_that_yaml_reads_otherwise_are_kept() {
        let files = ["~", "null", ""].map(|path| FileInformation {
            path: path.into(),
            time: None,
            message_count: 0,
        });
        let long = "k".repeat(2000);
        let custom_data = [(long, "~".to_owned()), ("~".to_owned(), "null".to_owned())].into();
        let metadata = BagMetadata { files: files.into(), custom_data, ..BagMetadata::default() };
        assert_eq!(BagMetadata::from_yaml(&metadata.to_yaml()).unwrap(), metadata);
        let none = "rosbag2_bagfile_information:\n  relative_file_paths: [~, a_0.mcap]\n";
        assert_eq!(BagMetadata::from_yaml(none).unwrap().files[0].path, "a_0.mcap");
    }

    #[test]
    fn older_layouts_are_read() {
        // Version 5, as ROS 2 Humble writes it: QoS is a string, and hashes are missing.
        let text = "rosbag2_bagfile_information:\n  version: 5\n  storage_identifier: sqlite3\n  duration:\n    \
            nanoseconds: 5\n  starting_time:\n    nanoseconds_since_epoch: 10\n  message_count: 1\n  \
            topics_with_message_count:\n    - topic_metadata:\n        name: /a\n        type: std_msgs/msg/String\n        \
            serialization_format: cdr\n        offered_qos_profiles: \"- history: 1\\n  depth: 4\\n  reliability: 2\"\n      \
            message_count: 1\n  compression_format: \"\"\n  compression_mode: \"\"\n  relative_file_paths:\n    - a_0.db3\n";
        let metadata = BagMetadata::from_yaml(text).unwrap();
        assert_eq!(metadata.time, Some(TimeRange { start: 10, end: 15 }));
        assert_eq!(metadata.files[0].path, "a_0.db3");
        assert_eq!(metadata.ros_distro, "unknown");
        assert_eq!(crate::WriterOptions::default().ros_distro, "unknown", "only a user knows it");
        let profile = QosProfile::keep_last(4).best_effort();
        assert_eq!(metadata.topics[0].topic.offered_qos_profiles, [profile]);
        assert!(BagMetadata::from_yaml("a: 5").unwrap_err().to_string().contains("rosbag2"));
    }
}

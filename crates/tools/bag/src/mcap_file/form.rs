//! The form that rosbag2 gives an MCAP file: its profile, the names of its metadata, and what a
//! channel says about a topic.

use std::sync::Arc;

use crate::message::BagTopic;
use crate::metadata::TopicMetadata;
use crate::qos;
use crate::yaml::Node;
use feros_message::Schema;

/// The bytes before each record's body: its opcode and its length.
pub(super) const RECORD_HEAD: u64 = 9;
/// The profile of files with ROS 2 messages.
pub(super) const PROFILE: &str = "ros2";
/// The key in a channel's metadata for the QoS that publishers offered.
pub(super) const QOS_KEY: &str = "offered_qos_profiles";
/// The key in a channel's metadata for the hash of its type.
pub(super) const HASH_KEY: &str = "topic_type_hash";
/// The name of the record with the bag's metadata.
pub(super) const METADATA_NAME: &str = "rosbag2";
/// The key of the metadata in that record.
pub(super) const METADATA_KEY: &str = "serialized_metadata";

/// The topic of a channel. Malformed QoS is not reported, since no message needs it.
pub(super) fn topic_of(channel: &mcap::Channel<'_>) -> BagTopic {
    let text = |key| channel.metadata.get(key).cloned().unwrap_or_default();
    let schema = channel.schema.as_ref();
    let profiles = qos::read_profiles(&Node::Scalar(text(QOS_KEY)));
    BagTopic {
        metadata: TopicMetadata {
            name: channel.topic.clone(),
            type_name: schema.map(|schema| schema.name.clone()).unwrap_or_default(),
            serialization_format: channel.message_encoding.clone(),
            offered_qos_profiles: profiles.unwrap_or_default(),
            type_description_hash: text(HASH_KEY),
        },
        schema: schema.map_or_else(Schema::unknown, |schema: &Arc<mcap::Schema<'_>>| Schema {
            encoding: schema.encoding.clone(),
            text: String::from_utf8_lossy(&schema.data).into_owned(),
        }),
    }
}

/// Converts a time to an MCAP time, which is unsigned.
pub(super) fn to_mcap_time(time: i64) -> u64 {
    u64::try_from(time).unwrap_or(0)
}

pub(super) fn from_mcap_time(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}

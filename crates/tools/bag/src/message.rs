//! The messages of a bag, and their topics.

use std::sync::Arc;

use crate::metadata::TopicMetadata;
use feros_message::Schema;

/// A topic of a bag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BagTopic {
    /// Name, type and QoS.
    pub metadata: TopicMetadata,
    /// The definition of the type.
    pub schema: Schema,
}

/// A message as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BagMessage {
    /// Its topic.
    pub topic: Arc<BagTopic>,
    /// When it was received, in nanoseconds since 1970: a bag is ordered by this time.
    pub log_time: i64,
    /// When it was published, in nanoseconds since 1970; the time of receipt if this is unknown.
    pub publish_time: i64,
    /// Its number among the messages of its publisher; 0 if unknown.
    pub sequence: u32,
    /// The message as it is transmitted: CDR with its 4-byte header.
    pub data: Vec<u8>,
}

/// Selects messages of a bag.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MessageFilter {
    /// The time in nanoseconds since 1970 before which messages are left out.
    pub start: Option<i64>,
    /// The time in nanoseconds since 1970 after which messages are left out.
    pub end: Option<i64>,
    /// The topics whose messages are wanted; `None` means all topics.
    pub topics: Option<std::collections::BTreeSet<String>>,
}

impl MessageFilter {
    /// Whether messages of a topic are wanted.
    pub fn has_topic(&self, name: &str) -> bool {
        self.topics.as_ref().is_none_or(|topics| topics.contains(name))
    }

    /// Whether a message of this time is wanted.
    pub fn has_time(&self, log_time: i64) -> bool {
        self.start.is_none_or(|start| log_time >= start)
            && self.end.is_none_or(|end| log_time <= end)
    }
}

//! ROS 2 bags: records, reads, reindexes, converts and plays them, as rosbag2 does.
//!
//! [`BagWriter`] writes a folder of MCAP files with `metadata.yaml`, [`BagReader`] reads MCAP files
//! and the SQLite files of rosbag2, whole or damaged. [`Recorder`] and [`Player`] are the nodes
//! (with the feature `node`).
//!
//! ```
//! use feros_bag::{BagReader, BagTopic, BagWriter, MessageFilter, Schema, TopicMetadata, WriterOptions};
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("bag");
//! let name = "std_msgs/msg/String";
//! let topic = BagTopic {
//!     metadata: TopicMetadata::new("/chatter", name),
//!     schema: Schema::of_interface(feros_interface::shipped(), &name.parse()?)?,
//! };
//! let mut writer = BagWriter::create(&path, WriterOptions::default())?;
//! let chatter = writer.add_topic(topic)?;
//! writer.write(chatter, 1, 1_000, 999, b"\0\x01\0\0\x06\0\0\0hello\0")?;
//! writer.finish()?;
//!
//! let reader = BagReader::open(&path)?;
//! for message in reader.messages(&MessageFilter::default())? {
//!     assert_eq!(message?.log_time, 1_000);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `writer`, `reader`, `message`, `metadata` | bags, their messages and `metadata.yaml` |
//! | `storage`, `mcap_file`, `sqlite_file` | the two storages |
//! | `reindex`, `former`, `copy`, `merge`, `convert_options` | bags made from bags |
//! | `selection` | the topics to record, play or copy |
//! | `recorder`, `player`, `queue`, `adapted_qos`, `offered` | the nodes, with the feature `node` |
//! | `qos`, `yaml` | policies and YAML as rosbag2 writes them |
//! | `unpacking`, `interrupt`, `error` | limits for unpacking, a way to stop long reads, the errors |
//!
//! # Invariants
//!
//! - A message is never decoded.
//! - A number in a file is compared with the file's size before anything is allocated; the unpacked
//!   size (`unpacking`) and the steps of a query (`sqlite_file`) are bounded, and an `Interrupt`
//!   ends unpacking and queries.
//! - Data written before an error is intact.
#![forbid(unsafe_code)]

mod convert_options;
mod copy;
mod error;
mod former;
mod interrupt;
mod mcap_file;
mod merge;
mod message;
mod metadata;
mod qos;
mod reader;
mod reindex;
mod selection;
mod sqlite_file;
mod storage;
mod unpacking;
mod writer;
mod yaml;

#[cfg(feature = "node")]
mod adapted_qos;
#[cfg(feature = "node")]
mod offered;
#[cfg(feature = "node")]
pub mod player;
#[cfg(feature = "node")]
mod queue;
#[cfg(feature = "node")]
pub mod recorder;

pub use convert_options::{OutputBag, read_output_bags};
pub use copy::{CopyError, copy};
pub use error::{ReadError, WriteError};
pub use feros_message::Schema;
pub use interrupt::Interrupt;
pub use mcap_file::{Compression, McapOptions};
pub use message::{BagMessage, BagTopic, MessageFilter};
pub use metadata::{
    BagMetadata, FileInformation, METADATA_FILE, METADATA_VERSION, TimeRange, TopicInformation,
    TopicMetadata,
};
#[cfg(feature = "node")]
pub use player::{Player, PlayerOptions};
pub use qos::read_overrides;
pub use reader::{BagMessages, BagReader, ReaderOptions};
#[cfg(feature = "node")]
pub use recorder::{Recorder, RecorderOptions};
pub use reindex::{Reindexed, reindex};
pub use selection::{TopicKind, TopicSelection, topic_kind};
pub use storage::Storage;
pub use writer::{BagWriter, Split, TopicId, WriterOptions};
pub use yaml::YamlError;

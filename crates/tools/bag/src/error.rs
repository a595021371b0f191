//! The reasons why a bag cannot be read or written.

use std::path::{Path, PathBuf};

use crate::storage::Storage;
use crate::yaml::YamlError;

/// Why a bag cannot be opened or read further.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The path is not a bag.
    #[error("{} is not a bag: {reason}", path.display())]
    NotABag {
        /// The path that was to be opened.
        path: PathBuf,
        /// The missing part.
        reason: String,
    },
    /// The system does not let the file be read.
    #[error("{} cannot be read: {reason}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's description of the error.
        reason: String,
    },
    /// `metadata.yaml` is malformed.
    #[error(
        "{}: {source}. `feros bag reindex` rebuilds it from the files of the bag", path.display()
    )]
    Metadata {
        /// The file.
        path: PathBuf,
        /// The problem in the file.
        source: YamlError,
    },
    /// The file is damaged: its content is not what its format requires.
    #[error("{} is damaged: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// The problem, and its position in the file.
        reason: String,
    },
    /// The file is not a ROS 2 recording.
    #[error(
        "{} is an MCAP file with the profile {profile:?} instead of \"ros2\": its messages are not \
         ROS 2 messages", path.display()
    )]
    OtherProfile {
        /// The file.
        path: PathBuf,
        /// The profile that its header names.
        profile: String,
    },
    /// The bag does not have the storage that the caller named.
    #[error(
        "{} has the storage {its}, not {}: name {its}, or no storage", path.display(),
        named.name(), its = found.name()
    )]
    OtherStorage {
        /// The file.
        path: PathBuf,
        /// The storage of the file.
        found: Storage,
        /// The storage that the caller named.
        named: Storage,
    },
    /// A part of the bag is compressed with a method that this build cannot unpack.
    #[error("{} is compressed with {format:?}, but only zstd and lz4 are built in", path.display())]
    UnknownCompression {
        /// The file.
        path: PathBuf,
        /// The name of the compression.
        format: String,
    },
    /// The content of a file that is compressed as a whole is too large to be unpacked.
    #[error(
        "{} unpacks to more than {limit_bytes} bytes, nine tenths of the free space in {}: set TMPDIR \
         to a folder with more space", path.display(), folder.display()
    )]
    NoRoom {
        /// The file.
        path: PathBuf,
        /// The folder that it was to be unpacked into.
        folder: PathBuf,
        /// The limit in that folder, in bytes.
        limit_bytes: u64,
    },
    /// The caller interrupted the reading.
    #[error("reading {} was interrupted before its end", path.display())]
    Interrupted {
        /// The file.
        path: PathBuf,
    },
    /// A chunk, a record or a message is larger than the reader's limit; or the chunks that contain
    /// messages with later times than the index states are larger than this limit in total.
    #[error(
        "{}: reading needs {bytes} bytes at once, for a chunk, a record, or chunks that overlap more than the index \
         states; the limit is {limit} bytes: 1 GiB by default, and for a small file 64 MiB or 256 times its size, \
         whichever is larger", path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The size that the file states.
        bytes: u64,
        /// The limit.
        limit: usize,
    },
}

impl ReadError {
    pub(crate) fn io(path: &Path, error: &std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), reason: error.to_string() }
    }

    pub(crate) fn malformed(path: &Path, reason: impl ToString) -> Self {
        Self::Malformed { path: path.to_owned(), reason: reason.to_string() }
    }

    pub(crate) fn mcap(path: &Path, limit: usize, error: &mcap::McapError) -> Self {
        let path = path.to_owned();
        match error {
            mcap::McapError::Io(error) => Self::Io { path, reason: error.to_string() },
            mcap::McapError::UnsupportedCompression(format) => {
                Self::UnknownCompression { path, format: format.clone() }
            }
            mcap::McapError::ChunkTooLarge(bytes)
            | mcap::McapError::RecordTooLarge { len: bytes, .. } => {
                Self::TooLarge { path, bytes: *bytes, limit }
            }
            other => Self::Malformed { path, reason: other.to_string() },
        }
    }
}

/// Why a bag cannot be written or continued.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The folder exists already; a recording never replaces one.
    #[error("{} already exists: name another output, or remove it", path.display())]
    Exists {
        /// The folder that was to be created.
        path: PathBuf,
    },
    /// The disk is full. The messages written before are intact.
    #[error(
        "{}: the disk is full. The bag ends here, with {kept} messages that are intact; free some \
         space, or record to another disk with `--output`", path.display()
    )]
    DiskFull {
        /// The file.
        path: PathBuf,
        /// The number of messages in the bag.
        kept: u64,
    },
    /// The system does not let the file be written.
    #[error(
        "{} cannot be written: {reason}. The bag ends here, with {kept} messages that are intact",
        path.display()
    )]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's description of the error.
        reason: String,
        /// The number of messages in the bag.
        kept: u64,
    },
    /// A file cannot hold another topic.
    #[error("{}: topic {topic} cannot be added: an MCAP file holds at most 65535 topics", path.display())]
    TooManyTopics {
        /// The file.
        path: PathBuf,
        /// The topic.
        topic: String,
    },
    /// The bag has ended already, since an earlier write failed.
    #[error("the bag has ended, because it could not be written: start a new one")]
    Ended,
}

impl WriteError {
    pub(crate) fn io(path: &Path, error: &std::io::Error, kept: u64) -> Self {
        let path = path.to_owned();
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                Self::DiskFull { path, kept }
            }
            _ => Self::Io { path, reason: error.to_string(), kept },
        }
    }
}

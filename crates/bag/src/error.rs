//! Why a bag cannot be read, or not be written.

use std::path::{Path, PathBuf};

use crate::yaml::YamlError;

/// Why a bag cannot be opened or not be read on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is no bag.
    #[error("{} is no bag: {reason}", path.display())]
    NotABag {
        /// What was to be opened.
        path: PathBuf,
        /// What is missing.
        reason: String,
    },
    /// The system does not let the file be read.
    #[error("{} cannot be read: {reason}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// `metadata.yaml` is none.
    #[error(
        "{}: {source}. `feros bag reindex` makes it anew from the files of the bag", path.display()
    )]
    Metadata {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: YamlError,
    },
    /// A file is not what its name says.
    #[error("{} is damaged: {reason}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        reason: String,
    },
    /// The file is no recording of ROS 2.
    #[error(
        "{} is an MCAP file of the profile {profile:?}, not of \"ros2\": its messages are none of \
         ROS 2", path.display()
    )]
    OtherProfile {
        /// The file.
        path: PathBuf,
        /// The profile that its header names.
        profile: String,
    },
    /// Something in the bag is compressed by what is not built in.
    #[error("{} is compressed by {format:?}: only zstd and lz4 are built in", path.display())]
    UnknownCompression {
        /// The file.
        path: PathBuf,
        /// The name of the compression.
        format: String,
    },
    /// A file that is compressed as a whole is too large to be unpacked.
    #[error(
        "{} unpacks to more than {limit_bytes} bytes, nine tenths of what is free in {}: name a \
         folder with more room by TMPDIR", path.display(), folder.display()
    )]
    NoRoom {
        /// The file.
        path: PathBuf,
        /// Where it was to be unpacked.
        folder: PathBuf,
        /// What it may take there.
        limit_bytes: u64,
    },
    /// Whoever reads has ended it.
    #[error("{} is read no further: interrupted", path.display())]
    Interrupted {
        /// The file.
        path: PathBuf,
    },
    /// A chunk, or chunks that come later than the index tells, are larger than the limit of the
    /// reader.
    #[error(
        "{}: a chunk or record takes {bytes} bytes, or chunks with later messages than the index \
         tells do, more than the {limit} that a reader holds at once: 1 GiB unless told otherwise, \
         and of a small file 256 times its size or 64 MiB", path.display()
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size as the file says.
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

/// Why a bag cannot be written, or not be written on.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// A recording replaces nothing.
    #[error("{} exists already: name another output, or remove it", path.display())]
    Exists {
        /// The folder that was to be made.
        path: PathBuf,
    },
    /// The disk is full. What was written before is intact.
    #[error(
        "{}: the disk is full. The bag ends here, with {kept} messages that are intact; free some \
         space, or record to another disk by `--output`", path.display()
    )]
    DiskFull {
        /// The file.
        path: PathBuf,
        /// The messages of the bag.
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
        /// What the system says.
        reason: String,
        /// The messages of the bag.
        kept: u64,
    },
    /// A file has no more room for topics.
    #[error("{}: topic {topic} is one too many: an MCAP file has at most 65535", path.display())]
    TooManyTopics {
        /// The file.
        path: PathBuf,
        /// The topic.
        topic: String,
    },
    /// Writing failed before.
    #[error("the bag ended when it could not be written: begin a new one")]
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

//! The storages of bags: the formats of their files.

use std::path::Path;

/// The format of a bag's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Storage {
    /// MCAP, which Feros and rosbag2 write by default.
    Mcap,
    /// SQLite, in which rosbag2 wrote bags by default before ROS 2 Iron.
    Sqlite3,
}

impl Storage {
    /// The name of the storage in `metadata.yaml` and on command lines of rosbag2.
    pub fn name(self) -> &'static str {
        match self {
            Self::Mcap => "mcap",
            Self::Sqlite3 => "sqlite3",
        }
    }

    /// The storage of a file according to its name; `None` for a file that is not part of a bag.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let stem = stem(path);
        let is_named = |end| stem.ends_with(end);
        is_named(".mcap")
            .then_some(Self::Mcap)
            .or_else(|| is_named(".db3").then_some(Self::Sqlite3))
    }
}

/// Returns the name of a file, without the extension that a compression of the whole file adds.
pub(crate) fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.strip_suffix(".zstd").map_or(name.clone(), str::to_owned)
}

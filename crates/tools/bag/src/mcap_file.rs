//! MCAP files as rosbag2 writes them (`rosbag2_storage_mcap/src/mcap_storage.cpp`). This module
//! writes them, reads them with the help of their index, scans those without an index, and rebuilds
//! a missing index.

mod chunk;
mod definitions;
mod form;
mod index;
mod indexed;
mod read;
mod scan;
mod summary;
mod write;

pub(crate) use index::reindex;
pub(crate) use read::{McapFile, McapMessages};
pub(crate) use write::McapFileWriter;
pub use write::{Compression, McapOptions};

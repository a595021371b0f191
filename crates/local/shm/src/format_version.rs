//! The version of the format of the data that processes share.

/// The format of announcements and of everything in shared memory.
pub const FORMAT_VERSION: u32 = 5;

//! The process segment: memory of a process that publishers in other processes of the host can
//! access, so that they find the process's subscriptions and can wake its executors.
//!
//! The segment is an anonymous file (memfd). Other processes open it as `/proc/<pid>/fd/<number>`,
//! which the kernel allows only to processes of the same user with at least the same rights. The
//! file has no name that could be left behind, and it vanishes when the last process that maps it
//! has ended. Its size is sealed, so that accesses cannot fail later.

#[cfg(not(loom))]
mod layout;
#[cfg(not(loom))]
mod mapping;
#[cfg(not(loom))]
mod numbers;
#[cfg(not(loom))]
mod process;
#[cfg(not(loom))]
mod token;

pub(crate) mod entry;

pub use entry::{MAX_ATTACHMENTS, Room};
#[cfg(not(loom))]
pub use layout::{EntryId, MAX_DOORBELLS, MAX_SUBSCRIPTIONS};
#[cfg(not(loom))]
pub(crate) use layout::{Layout, SEGMENT_BYTES, WrongContent};
#[cfg(not(loom))]
pub(crate) use mapping::Mapping;
#[cfg(not(loom))]
pub use process::{
    Attachment, AttachmentsFull, ProcessSegment, SegmentFull, SharedDoorbell, SubscriptionEntry,
    Unavailable,
};
#[cfg(not(loom))]
pub(crate) use process::{FILE_NAME, create_file};
#[cfg(not(loom))]
pub use token::{process_token, random_id};

//! The process segment: memory of a process to which publishers in other processes of the host have
//! access, in order to wake its executors and to find its subscriptions.
//!
//! It is an anonymous file (memfd) that others open as `/proc/<pid>/fd/<number>`, which the kernel
//! allows only to processes of the same user with no fewer rights. It has no name that could stay
//! behind, and it vanishes when the last process that maps it ends. Its size is sealed, so that no
//! access can fail later.

#[cfg(not(loom))]
mod layout;
#[cfg(not(loom))]
mod mapping;
#[cfg(not(loom))]
mod numbers;
#[cfg(not(loom))]
mod process;

pub(crate) mod entry;

pub use entry::{MAX_ATTACHMENTS, Room};
#[cfg(not(loom))]
pub(crate) use layout::{Layout, SEGMENT_BYTES, WrongContent};
#[cfg(not(loom))]
pub use layout::{MAX_DOORBELLS, MAX_SUBSCRIPTIONS};
#[cfg(not(loom))]
pub(crate) use mapping::Mapping;
#[cfg(not(loom))]
pub use process::{
    Attachment, AttachmentsFull, EntryId, ProcessSegment, SegmentFull, SharedDoorbell,
    SubscriptionEntry, Unavailable,
};
#[cfg(not(loom))]
pub(crate) use process::{FILE_NAME, create_file};

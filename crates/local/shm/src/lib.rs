//! The shared-memory transport: messages in shared memory between processes of one host.
//!
//! - [`Announcement`] contains what an endpoint announces to the other side. [`classify`] chooses
//!   the transport of a match, with the reason.
//! - [`ProcessSegment`] is the memory in which publishers of other processes find this process's
//!   subscriptions, and the doorbells of its executors. [`Peer`] is the same memory from the point
//!   of view of those publishers.
//! - [`HostNode`], [`HostPublisher`] and [`Link`] transfer the messages. iceoryx2 registers the
//!   participants and cleans up. The messages go through Feros's own rings (queues with fixed
//!   slots).
//! - [`CallMemory`], [`ClientChannel`] and [`ServerChannel`] transfer the requests and responses of
//!   services.
//!
//! # Checking the concurrency
//!
//! The rings between publisher and subscription, the protocols of a subscription's entry, and the
//! channels of calls run under [loom](https://docs.rs/loom), which tries the possible orders of
//! threads and memory accesses that the language allows. This takes a few seconds:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p feros-shm --release --lib
//! ```
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | `announcement`, `declined`, `reason`, `classify` | what endpoints announce, and the transport of a match, with the reasons against more direct transports |
//! | `host_id`, `transport_set`, `token`, `format_version`, `limits` | the location of a process, the allowed transports, identities, the version of all formats, and the system's limits |
//! | `segment`, `peer` | the process segment, and the segment of another process |
//! | `node`, `space`, `sweep`, `dead` | the iceoryx2 node of a process, the user's folder, and the removal of files that killed processes have left |
//! | `publisher`, `pool`, `chunks`, `populate` | the memory of a publisher, its chunks, the subscriptions that hold them, and their pages |
//! | `link`, `receiving_end`, `port`, `sample` | a subscription's connection to one publisher, and its messages |
//! | `connection`, `ring`, `sending_end` | one connection, which iceoryx2 makes and ends, with Feros's own rings (decision 0013) |
//! | `ipc`, `storage`, `closed_storage`, `service`, `reentrant` | the configuration of iceoryx2, and the files that iceoryx2 gets (decision 0011) |
//! | `call` | the memory for calls, which a client provides, and the channels in this memory, which servers claim |
//! | `process_handle`, `process_end` | handles of other processes, and reports of their end |
//! | `error` | the errors |
//!
//! # Invariants
//!
//! - The content of shared memory is untrusted, and is checked where it is used. A process of the
//!   same user can cause messages to be lost. It can cause a crash only through iceoryx2's internal
//!   files (`SECURITY.md`), which are read only by processes that share them.
//! - No access to memory allocates a page: all pages are present before they are written. So a full
//!   `/dev/shm` cannot end a process with a signal.
//! - Every change to the layout of memory that processes share increments [`FORMAT_VERSION`].
#![deny(unsafe_code)] // allowed again where memory is mapped
#![cfg_attr(loom, allow(dead_code, unreachable_pub))] // used only by modules without loom

mod call;
mod format_version;
mod segment;

// Loom explores the rings, the entries of the segment and the channels of calls. The modules that
// are excluded below rely on these, on mutexes, and on the system.
#[cfg(not(loom))]
mod announcement;
#[cfg(not(loom))]
mod chunks;
#[cfg(not(loom))]
mod classify;
#[cfg(not(loom))]
#[allow(unsafe_code)] // implements unsafe functions of iceoryx2
mod closed_storage;
#[cfg(not(loom))]
#[allow(unsafe_code)] // keeps references into memory that is mapped
mod connection;
#[cfg(not(loom))]
mod dead;
#[cfg(not(loom))]
mod declined;
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
mod host_id;
#[cfg(not(loom))]
mod ipc;
#[cfg(not(loom))]
mod limits;
#[cfg(not(loom))]
#[allow(unsafe_code)] // reads what other processes wrote
mod link;
#[cfg(not(loom))]
mod node;
#[cfg(not(loom))]
mod peer;
#[cfg(not(loom))]
#[allow(unsafe_code)] // writes into memory that is mapped
mod pool;
#[cfg(not(loom))]
#[allow(unsafe_code)] // makes pages present
mod populate;
#[cfg(not(loom))]
mod port;
#[cfg(not(loom))]
mod process_end;
#[cfg(not(loom))]
mod process_handle;
#[cfg(not(loom))]
#[allow(unsafe_code)] // lends memory that is mapped
mod publisher;
#[cfg(not(loom))]
mod reason;
#[cfg(not(loom))]
mod receiving_end;
#[cfg(not(loom))]
#[allow(unsafe_code)] // a trait of iceoryx2 asks for it
mod reentrant;
mod ring;
#[cfg(not(loom))]
#[allow(unsafe_code)] // lends memory that is mapped
mod sample;
#[cfg(not(loom))]
mod sending_end;
#[cfg(not(loom))]
mod service;
#[cfg(not(loom))]
mod space;
#[cfg(not(loom))]
#[allow(unsafe_code)] // maps files, makes values in them
mod storage;
#[cfg(not(loom))]
mod sweep;
#[cfg(not(loom))]
mod token;
#[cfg(not(loom))]
mod transport_set;

#[cfg(not(loom))]
pub use announcement::{Announced, Announcement};
#[cfg(not(loom))]
pub use call::{
    ARENA_BYTES, CallMemory, ChannelError, ClientChannel, MAX_SERVERS, MAX_WAITING, MessageHead,
    Scribbled, SendToChannelError, ServerChannel,
};
#[cfg(not(loom))]
pub use classify::{Choice, classify};
#[cfg(not(loom))]
pub use dead::CleanUp;
#[cfg(not(loom))]
pub use declined::{Declined, LinkObstacle};
#[cfg(not(loom))]
pub use error::{CreateError, LoanError, OpenError, Refused, SendError, UnavailableError};
#[cfg(not(loom))]
pub use feros_trace::Transport;
#[cfg(not(loom))]
pub use format_version::FORMAT_VERSION;
#[cfg(not(loom))]
pub use host_id::HostId;
#[cfg(not(loom))]
pub use link::{Link, LinkCounts, LinkSettings, TakeOutcome};
#[cfg(not(loom))]
pub use node::HostNode;
#[cfg(not(loom))]
pub use peer::{Peer, PeerAttachment, PeerError, PeerSubscription};
#[cfg(not(loom))]
pub use process_end::EndWatch;
#[cfg(not(loom))]
pub use publisher::{HostLoan, HostPublisher, HostPublisherSettings, PoolUse};
#[cfg(not(loom))]
pub use reason::{Obstacle, Reason, Side};
#[cfg(not(loom))]
pub use sample::{HostBytes, HostSample};
#[cfg(not(loom))]
pub use segment::{
    Attachment, AttachmentsFull, EntryId, MAX_DOORBELLS, MAX_SUBSCRIPTIONS, ProcessSegment,
    SegmentFull, SharedDoorbell, SubscriptionEntry, Unavailable,
};
pub use segment::{MAX_ATTACHMENTS, Room};
#[cfg(not(loom))]
pub use service::SampleHeader;
#[cfg(not(loom))]
pub use token::{process_token, random_id};
#[cfg(not(loom))]
pub use transport_set::{ParseTransportsError, TransportSet};

//! The shared-memory transport: messages in shared memory between processes of one host.
//!
//! - [`Announcement`] contains what an endpoint announces to the other side. [`classify`] chooses
//!   the transport of a match, with the reason.
//! - [`ProcessSegment`] is the memory in which publishers of other processes find this process's
//!   subscriptions, and the doorbells of its executors. [`Peer`] is the same memory from the point
//!   of view of those publishers.
//! - [`HostNode`], [`HostPublisher`] and [`Connection`] transfer the messages. iceoryx2 registers
//!   the participants and cleans up. The messages go through Feros's own rings (queues with fixed
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
//! A module imports only from modules in rows above its own.
//!
//! | module | holds |
//! |---|---|
//! | `reason` | the reasons against more direct transports, and the publishers whose memory a subscription declined |
//! | `format_version`, `error`, `limits` | the version of all formats, the errors, and the system's limits |
//! | `page` | the size of a page, and the pages of a range of bytes |
//! | `mapped_file` | maps files into memory |
//! | `segment` | the process segment |
//! | `peers` | other processes: their segments, handles of them, and reports of their end |
//! | `announcing` | what endpoints announce, with the location of their process and the transports that they allow; the transport of a match |
//! | `call` | the memory for calls, which a client provides, and the channels in it, which servers claim |
//! | `storage` | the files that iceoryx2 gets, and their pages (decision 0011) |
//! | `rings` | one connection, which iceoryx2 makes and ends, with Feros's own rings (decision 0013), and the chunks that the rings carry |
//! | `ipc` | the configuration of iceoryx2, and a publisher's service with the header of its messages |
//! | `node` | the iceoryx2 node of a process, the user's folder, and the removal of what killed processes have left |
//! | `publisher` | a publisher's memory and the messages in it |
//! | `connection` | a subscription's connection to one publisher, and its messages |
//!
//! # Invariants
//!
//! - The content of shared memory is untrusted, and is checked where it is used. A process of the
//!   same user can cause messages to be lost. It can cause a crash only through iceoryx2's internal
//!   files (`SECURITY.md`), which are read only by processes that share them.
//! - No access to memory allocates a page: all pages are present before they are written. So a full
//!   `/dev/shm` cannot end a process with a signal.
//! - Every change to the layout of memory that processes share increments [`format_version`].
#![deny(unsafe_code)] // allowed again where memory is mapped
#![cfg_attr(loom, allow(dead_code, unreachable_pub))] // used only by modules without loom

mod call;
mod format_version;
mod rings;
mod segment;

// Loom explores the rings, the entries of the segment and the channels of calls. The modules that
// are excluded below rely on these, on mutexes, and on the system.
#[cfg(not(loom))]
mod announcing;
#[cfg(not(loom))]
#[allow(unsafe_code)] // reads what other processes wrote
mod connection;
#[cfg(not(loom))]
mod error;
#[cfg(not(loom))]
mod ipc;
#[cfg(not(loom))]
mod limits;
#[cfg(not(loom))]
#[allow(unsafe_code)] // maps files
mod mapped_file;
#[cfg(not(loom))]
mod node;
#[cfg(not(loom))]
mod page;
#[cfg(not(loom))]
mod peers;
#[cfg(not(loom))]
#[allow(unsafe_code)] // lends memory that is mapped, and writes into it
mod publisher;
#[cfg(not(loom))]
mod reason;
#[cfg(not(loom))]
#[allow(unsafe_code)] // makes values in mapped files, makes pages present
mod storage;

#[cfg(not(loom))]
pub use self::{
    announcing::{
        Announced, Announcement, Choice, HostId, ParseTransportsError, TransportSet, classify,
    },
    call::{
        ARENA_BYTES, CallMemory, ChannelError, ClientChannel, MAX_SERVERS, MAX_WAITING,
        MessageHead, Scribbled, SendToChannelError, ServerChannel,
    },
    connection::{
        Connection, ConnectionCounts, ConnectionSettings, HostBytes, HostSample, TakeOutcome,
    },
    error::{CreateError, LoanError, OpenError, Refused, SendError, UnavailableError},
    format_version::format_version,
    ipc::service::SampleHeader,
    node::{CleanUp, Cleaner, HostNode},
    peers::{EndWatch, Peer, PeerAttachment, PeerError, PeerSubscription},
    publisher::{HostLoan, HostPublisher, HostPublisherSettings, PoolUse},
    reason::declined::{ConnectionObstacle, Declined, MAX_DECLINED},
    reason::{Obstacle, Reason, Side},
    segment::{
        Attachment, AttachmentsFull, EntryId, MAX_DOORBELLS, MAX_SUBSCRIPTIONS, ProcessSegment,
        SegmentFull, SharedDoorbell, SubscriptionEntry, Unavailable, process_token, random_id,
    },
};
#[cfg(not(loom))]
pub use feros_trace::Transport;
pub use segment::{MAX_ATTACHMENTS, Room};

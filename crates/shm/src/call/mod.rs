//! Calls of services between two processes of one host: requests and responses in memory that the
//! client gives.
//!
//! ```text
//!        client's process                                server's process
//!
//!  CallMemory: an anonymous file, found by       finds the client by a match of the engine,
//!  its number in /proc, which the client   ----> maps the file, claims one of its channels
//!  announces                                                  |
//!        |                                                    v
//!        v                                              ServerChannel
//!  ClientChannel  ---- requests, in order --------------->    |
//!        ^        <--- responses, by their requests' numbers -+
//! ```
//!
//! A channel serves one client and one server, and is two one-way queues: a table of slots, and an
//! arena with the bytes, both written by one side only. Each side counts what it has sent and what
//! it has taken; nobody waits for the other side's lock, so nobody is stopped by who is killed. The
//! memory goes with the processes that map it: nothing stays behind to be cleaned up.
//!
//! A client's file has a size and no memory until a server claims a channel; a server gives no
//! memory at all.
//!
//! What lies there is a stranger's word. All control words are atomics, for which any content is
//! valid; places and sizes are checked before they are used, and bytes are copied out before
//! anything is read in them.

mod arena;
mod channel;
#[cfg(not(loom))]
mod client;
mod layout;
#[cfg(loom)]
mod loom_tests;
#[cfg(not(loom))]
mod memory;
#[cfg(loom)]
#[path = "memory_under_loom.rs"]
mod memory;
#[cfg(not(loom))]
mod server;

#[cfg(not(loom))]
pub use channel::{MessageHead, Scribbled, SendToChannelError};
#[cfg(not(loom))]
pub use client::{CallMemory, ClientChannel};
#[cfg(not(loom))]
pub use layout::{ARENA_BYTES, MAX_SERVERS, MAX_WAITING};
#[cfg(not(loom))]
pub use server::{ChannelError, ServerChannel};

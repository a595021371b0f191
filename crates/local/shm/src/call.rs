//! Service calls between two processes of one host, with requests and responses in memory that the
//! client provides.
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
//! A channel serves one client and one server, and consists of two one-way queues. A queue is a
//! table of slots and an arena with the bytes of the messages, and only one side writes to it. Each
//! side counts the messages that it has sent and taken. Neither side waits for a lock of the other
//! side, so a killed process does not block other processes. The system frees the memory when all
//! processes that map it have ended, so there is nothing to clean up.
//!
//! A client's file has a size, but takes no memory until a server claims a channel. A server
//! provides no memory at all.
//!
//! The content of the memory is not trusted. All control words are atomics, for which any content
//! is valid. Offsets and sizes are checked before use, and bytes are copied out of the memory
//! before they are interpreted.

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
#[path = "call/memory_under_loom.rs"]
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

//! The server of `feros view`: one address of this machine that gives a page to browsers, and that
//! speaks the Foxglove WebSocket protocol with the page, with Foxglove and with Lichtblick.
//!
//! It disturbs the system as little as possible. It subscribes to a topic only while a client looks
//! at it, once for all clients, best effort; messages above a client's rate are left out before
//! sending; nothing is decoded. A message is copied once, from the memory that it arrived in into
//! the frame to send. Messages that a client does not read in time are dropped and counted.
//!
//! ```no_run
//! # let node: feros::Node = unimplemented!();
//! use feros_view::{Server, ViewOptions};
//! let server = Server::start(&node, ViewOptions::default())?;
//! println!("{}", server.link());
//! feros::spin(&node)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Invariants
//!
//! - No message keeps the memory that it arrived in.
//! - The data that waits for a client is bounded.
//! - No path of a request reaches the disk, except through `server/asset`.
#![forbid(unsafe_code)]

pub mod protocol;
#[cfg(feature = "server")]
mod server;

#[cfg(feature = "server")]
pub use server::{
    DEFAULT_PATIENCE, DEFAULT_PORT, Describe, Doctor, Server, StartError, Token, TokenError,
    ViewOptions,
};

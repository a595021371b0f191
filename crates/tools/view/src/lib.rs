//! The server of `feros view`: one address of this machine, which serves a page to browsers, and
//! speaks the Foxglove WebSocket protocol with the page, with Foxglove and with Lichtblick.
//!
//! The server disturbs the system as little as possible. It subscribes to a topic only while a
//! client looks at the topic, with one best-effort subscription for all clients. Messages above a
//! client's rate are left out before sending, and nothing is decoded. A message is copied once,
//! from the memory that it arrived in into the frame to send. Messages that a client does not read
//! in time are dropped and counted.
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
//! - No message stays in the memory that it arrived in.
//! - The data that waits for a client is bounded.
//! - The path in a request never leads to the disk, except through `server/asset`.
#![forbid(unsafe_code)]

pub mod protocol;
#[cfg(feature = "server")]
mod server;

#[cfg(feature = "server")]
pub use server::{
    DEFAULT_PATIENCE, DEFAULT_PORT, Describe, Doctor, Server, StartError, Token, TokenError,
    TokenVariableError, ViewOptions,
};

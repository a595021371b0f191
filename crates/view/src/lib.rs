//! The server of `feros view`: one address of this machine that gives a page to browsers, and
//! speaks the Foxglove WebSocket protocol with the page, with Foxglove and with Lichtblick.
//!
//! It disturbs the system as little as it can. A topic is subscribed to as long as a client looks
//! at it, once for all clients, best effort; what a client wants less often is left out before it
//! is sent; nothing is decoded. A message is copied once, out of the memory that it came in into
//! the frame that is sent. What a client does not read in time is dropped and counted.
//!
//! ```no_run
//! # let node: feros::Node = unimplemented!();
//! use feros_view::{Server, ViewOptions};
//! let server = Server::start(&node, ViewOptions::default())?;
//! println!("{}", server.link());
//! feros::spin(&node)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

pub mod protocol;
#[cfg(feature = "server")]
mod server;

#[cfg(feature = "server")]
pub use server::{
    DEFAULT_PATIENCE, DEFAULT_PORT, Describe, Doctor, Server, StartError, Token, TokenError,
    ViewOptions,
};

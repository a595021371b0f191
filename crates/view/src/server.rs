//! The server: control of access, the operations of each connection, and their shared state.

mod access;
mod asset;
mod calls;
mod catalogue;
mod clients;
mod clock;
mod connection_graph;
mod error;
mod feeds;
mod figures;
mod hub;
mod kept;
mod layers;
mod listening;
mod lobby;
mod options;
mod outbox;
mod page;
mod parameters;
mod peer;
mod publishing;
mod reading;
mod session;
mod watcher;

pub use access::{Token, TokenError};
pub use error::StartError;
pub use listening::Server;
pub use options::{DEFAULT_PATIENCE, DEFAULT_PORT, Describe, Doctor, ViewOptions};

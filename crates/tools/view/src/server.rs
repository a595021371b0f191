//! The server: the control of access, the operations of each connection, and the state that
//! connections share.
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `listening`, `lobby`, `access`, `peer` | sockets and their limits, requests for the page, the control of access |
//! | `session`, `outbox`, `clients` | a connection, its waiting data, and the requests of each client |
//! | `hub`, `catalogue`, `feeds` | the state that sessions share: channels and schemas, and one subscription per topic |
//! | `watcher`, `figures`, `connection_graph`, `layers` | follows the graph, and makes the figures of the page |
//! | `calls`, `parameters`, `publishing`, `reading` | services, parameters and topics that clients use |
//! | `page`, `asset`, `clock`, `kept` | the page, files of packages, simulated time, kept values |
//! | `options`, `error` | options and errors |

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

pub use access::{Token, TokenError, TokenVariableError};
pub use error::StartError;
pub use listening::Server;
pub use options::{DEFAULT_PATIENCE, DEFAULT_PORT, Describe, Doctor, ViewOptions};

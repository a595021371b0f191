//! The server over real sockets, with a real graph, over loopback only.
#![allow(clippy::unwrap_used, missing_docs)]

mod access;
mod bounds;
mod changes;
mod client;
mod fairness;
mod figures;
mod layers;
mod others;
mod parameters;
mod support;
mod topics;
mod unseen;

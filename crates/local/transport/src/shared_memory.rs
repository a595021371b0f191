//! The shared-memory transport between processes of the same host.
//!
//! [`handshake`] explains how a match starts to use this transport. [`sending`] and [`receiving`]
//! are its two sides. [`connection`] is the connection of a subscription to one publisher,
//! [`retry`] decides when to try to open the connection, and [`crowded`] remembers publishers that
//! have no free slot for it. [`upkeep`] is the thread that makes and opens shared memory, and
//! [`clean_up`] removes the remains of killed processes.

pub(crate) mod availability;
pub(crate) mod clean_up;
pub(crate) mod connection;
pub(crate) mod connection_states;
mod crowded;
pub(crate) mod handshake;
pub(crate) mod options;
pub(crate) mod receiving;
mod retry;
pub(crate) mod sending;
pub(crate) mod upkeep;

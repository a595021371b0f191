//! The ends on a real engine, over loopback, without spinning: what a client without an executor
//! sees.
#![allow(clippy::unwrap_used)]

mod events;
mod forged;
mod publish;
mod support;

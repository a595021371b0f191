//! Tests the untyped publishers, subscriptions, servers and clients as a user without an executor
//! sees them, on a real engine over loopback.
#![allow(clippy::unwrap_used)]

mod events;
mod forged;
mod publish;
mod support;

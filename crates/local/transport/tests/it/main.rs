//! Tests of the untyped publishers, subscriptions, servers and clients, from the point of view of a
//! user without an executor, on a real engine over loopback.
#![allow(clippy::unwrap_used)]

mod crowd;
mod events;
mod forged;
mod publish;
mod support;

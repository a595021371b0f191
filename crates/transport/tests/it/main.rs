//! The ends on a real engine, over loopback, with nobody who spins: what a client without executor
//! sees.
#![allow(clippy::unwrap_used)]

mod events;
mod forged;
mod publish;
mod support;

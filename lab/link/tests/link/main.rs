//! The emulator by itself, in real namespaces with real sockets: it does what was asked, counts
//! what it did, and leaves nothing. Needs root; without it each test says so and is skipped.
#![allow(clippy::unwrap_used)]

mod conditions;
mod hosts;
mod remains;

//! The emulator by itself, in real namespaces with real sockets: it does what is requested, counts
//! what it did, and leaves nothing behind. The tests need root; without it each test reports that
//! and is skipped.
#![allow(clippy::unwrap_used)]

mod conditions;
mod hosts;
mod remains;

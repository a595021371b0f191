//! Tests of the emulator alone, in real namespaces with real sockets: it does what is requested,
//! counts its packets, and leaves nothing behind. The tests need root; without it, each test
//! reports this and is skipped.
#![allow(clippy::unwrap_used)]

mod conditions;
mod hosts;
mod remains;

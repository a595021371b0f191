//! The laboratory against systems whose answers are known before.
#![allow(clippy::unwrap_used)]

mod bench;
mod faults;
mod folder;
mod realtime;
mod scenarios;

//! The command, and nodes, on Cyclone DDS and Zenoh at once, with peers on each wire alone: `cargo
//! test -p feros-cli --features zenoh --test two_engines`. With `--features zenoh,fastdds` and
//! `FEROS_TEST_DDS=fastdds`, Fast DDS has the place of Cyclone DDS.
#![cfg(feature = "zenoh")]
#![allow(clippy::unwrap_used, missing_docs)]

mod actions;
mod beside_a_bridge;
mod bridge;
mod command;
#[path = "../it/process.rs"]
#[allow(dead_code, reason = "shared with the tests of one engine")]
mod process;
mod wires;

//! The command, and nodes, on Cyclone DDS and Zenoh at once, with nodes on each engine alone:
//! `cargo test -p feros-cli --features zenoh --test two_engines`. With `--features zenoh,fastdds`
//! and `FEROS_TEST_DDS=fastdds`, Fast DDS takes the place of Cyclone DDS.
#![allow(clippy::unwrap_used, missing_docs)]

#[cfg(feature = "zenoh")]
mod actions;
#[cfg(feature = "zenoh")]
mod beside_a_bridge;
#[cfg(feature = "zenoh")]
mod bridge;
#[cfg(feature = "zenoh")]
mod command;
#[cfg(feature = "zenoh")]
mod fleet;
#[cfg(feature = "zenoh")]
#[path = "../it/process.rs"]
#[allow(dead_code, reason = "shared with the tests of one engine")]
mod process;
#[cfg(feature = "zenoh")]
mod wires;

#[cfg(not(feature = "zenoh"))]
#[test]
fn all_of_them() {
    feros_test_support::skip(
        "the command is built without Zenoh, which takes minutes: cargo test -p feros-cli \
         --features zenoh --test two_engines",
    );
}

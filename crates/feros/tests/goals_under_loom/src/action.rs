//! What the files under test import of their own crate, by the same paths.
#![allow(dead_code, reason = "the files have more than what meets under loom")]

#[path = "../../../src/action/state.rs"]
pub mod state;

/// As messages for people have an id.
pub(crate) fn hex(id: &[u8; 16]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

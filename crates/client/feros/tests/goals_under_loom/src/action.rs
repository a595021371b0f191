//! The items that the files under test import from the crate `feros`, under the same paths.
#![allow(dead_code, reason = "the files have more items than the tests under loom use")]

#[path = "../../../src/action/state.rs"]
pub mod state;

/// Formats an id for people.
pub(crate) fn hex(id: &[u8; 16]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

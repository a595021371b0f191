//! Shared parts of messages to people: untrusted text in a form that a terminal does not obey
//! ([`harmless`]), and suggestions for mistyped names ([`did_you_mean`]).
//!
//! # Invariants
//!
//! The crate does no input or output. The cost is linear in the length of any text, since names are
//! compared only if they are short.
#![forbid(unsafe_code)]

mod harmless;
mod nearest;

pub use harmless::{harmless, harmless_block, harmless_json, harmless_lines, is_unseen};
pub use nearest::{did_you_mean, nearest};

//! Parts of messages to people that several crates use: untrusted text in a form that a terminal
//! does not obey ([`harmless`]), suggestions for mistyped names ([`did_you_mean`]), and lengths of
//! time ([`duration`](duration()), [`within`]).
//!
//! # Invariants
//!
//! The crate does no input or output. For any text, the cost is linear in the length of the text,
//! because only short names are compared.
#![forbid(unsafe_code)]

mod duration;
mod harmless;
mod nearest;

pub use duration::{duration, within};
pub use harmless::{harmless, harmless_block, harmless_json, harmless_lines, is_unseen};
pub use nearest::{did_you_mean, in_parentheses, nearest, nearest_types};

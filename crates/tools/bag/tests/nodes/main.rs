//! The nodes that record and play bags.
#![allow(clippy::unwrap_used, missing_docs)]

#[path = "../it/support.rs"]
mod bags;
mod play;
mod record;
mod support;

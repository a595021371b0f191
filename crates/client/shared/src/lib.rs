//! Feros as a shared library: containers and component libraries link it, so that a process has one
//! engine, one registry of subscriptions and one set of statics, no matter how many libraries it
//! loads.
//!
//! A program only has to link this crate: `use feros_shared as _;`
//!
//! # Invariants
//!
//! The crate is not a member of the workspace (`Cargo.toml` has the reason). It enables every
//! feature that members of the workspace enable in its dependencies; a test of `feros-container`
//! reports missing features.
#![forbid(unsafe_code)]

pub use feros;
pub use feros_component;

/// The settings that this library was built with. A program built with other settings must not use
/// the library.
#[inline(never)]
pub fn stamp() -> String {
    feros_component::stamp::STAMP.to_owned()
}

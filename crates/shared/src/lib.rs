//! Feros as a shared library: containers and component libraries link it, so that a process has one
//! engine, one registry of subscriptions and one set of statics, however many libraries it loads.
//!
//! Linking it is all that there is to do: `use feros_shared as _;`
#![forbid(unsafe_code)]

pub use feros;
pub use feros_component;

/// What this library was built with. A program that was built with something else must not use it.
#[inline(never)]
pub fn stamp() -> String {
    feros_component::stamp::STAMP.to_owned()
}

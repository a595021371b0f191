//! `feros lab` as a user types it, with systems whose answers are known: what it prints, how it
//! ends, and that nothing that was measured is lost.
#![allow(clippy::unwrap_used)]

mod continuing;
mod fixture;
mod mistakes;
mod quick;
mod space;
mod verbs;

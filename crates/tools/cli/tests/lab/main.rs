//! `feros lab` as a user types it, with systems whose answers are known: its output, its end, and
//! that no measurement is lost.
#![allow(clippy::unwrap_used)]

mod continuing;
mod fixture;
mod mistakes;
mod quick;
mod space;
mod verbs;

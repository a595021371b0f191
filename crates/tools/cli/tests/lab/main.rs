//! `feros lab` as a user types it, with systems whose answers are known: its output and its end. No
//! measurement may be lost.
#![allow(clippy::unwrap_used)]

mod continuing;
mod fixture;
mod mistakes;
mod quick;
mod space;
mod verbs;

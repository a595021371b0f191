//! The laboratory against systems whose answers are known before.
#![allow(clippy::unwrap_used)]

mod builds;
mod faults;
mod fixture;
mod floors;
mod folder;
mod realtime;
mod scenarios;

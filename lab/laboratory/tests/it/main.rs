//! Tests of the laboratory with systems whose results are known in advance.
#![allow(clippy::unwrap_used)]

mod builds;
mod discovery;
mod faults;
mod fixture;
mod floors;
mod folder;
mod realtime;
mod scenarios;

//! Code that tests of several crates share: waiting for conditions instead of time, a watchdog for
//! tests that would hang, threads and processes that end with the test, and reports of skipped
//! tests.
//!
//! The crate depends on no other crate of Feros, so that every crate can use it in its tests.
#![forbid(unsafe_code)]

mod awaiting;
mod background;
mod built;
mod domain;
mod log_lines;
mod process;
mod skipped;
mod waiting;
mod watchdog;

pub use awaiting::block_on;
pub use background::{Background, SetAtEnd, spawn};
pub use built::built;
pub use domain::{ReservedDomain, own_domain};
pub use log_lines::log_lines;
pub use process::{TestProcess, obey};
pub use skipped::skip;
pub use waiting::{eventually, until};
pub use watchdog::{WATCHDOG, Watchdog};

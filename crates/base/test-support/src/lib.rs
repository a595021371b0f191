//! Code that the tests of several crates share: waiting for conditions and not for a fixed time, a
//! watchdog for tests that would otherwise hang, threads and processes that end with the test, and
//! reports of skipped tests.
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | `waiting`, `awaiting` | waiting for conditions, and for futures without an executor |
//! | `watchdog` | ends tests that would hang |
//! | `background`, `process` | threads and processes that end with the test |
//! | `program` | programs that run to their end |
//! | `built` | builds programs and libraries of other packages |
//! | `runner` | starts programs, also with an emulator |
//! | `domain` | a DDS domain for each test |
//! | `log_lines` | what a thread logs |
//! | `skipped` | tests that are left out, with the reason |
//!
//! # Invariants
//!
//! The crate depends on no crate of Feros but `test-domain` and what that needs, so that every
//! other crate can use it in its tests. It is used only in tests. Whether a test passes does not
//! depend on its speed.
#![forbid(unsafe_code)]

mod awaiting;
mod background;
mod built;
mod domain;
mod log_lines;
mod process;
mod program;
mod runner;
mod skipped;
mod waiting;
mod watchdog;

pub use awaiting::block_on;
pub use background::{Background, SetAtEnd, spawn};
pub use built::built;
pub use domain::{ReservedDomain, own_domain};
pub use feros_test_domain::free_tcp_port;
pub use log_lines::{listen_to_log, log_lines};
pub use process::{TestProcess, obey};
pub use program::{Ended, Program, processes_with};
pub use runner::{command_of, this_program, words_of};
pub use skipped::skip;
pub use waiting::{eventually, until};
pub use watchdog::{WATCHDOG, Watchdog};

//! Starts an example from one of its launch files, as a user would, and watches its output, its
//! cost and its leftovers.
//!
//! `feros` and the containers are the programs that cargo built into the folder of the running test
//! or program; a build of only some packages also needs `-p feros-cli -p feros-container`.
#![forbid(unsafe_code)]

mod installation;
mod launched;
mod observer;
mod usage;

pub use installation::Package;
pub use launched::Launched;
pub use observer::{Heard, Observer};
pub use usage::{Cost, Process, Sample};

use std::time::Duration;

/// The time after which a hanging test fails. The results of tests do not depend on speed.
pub const WATCHDOG: Duration = Duration::from_secs(90);

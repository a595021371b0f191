//! Starts an example by one of its launch files, as a person would, and watches it: what it says,
//! what it costs, what it leaves behind.
//!
//! `feros` and the containers are those that cargo built beside the running test or program;
//! whoever builds only some packages needs `-p feros-cli -p feros-container` besides.
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

/// Ends a test that hangs; no test passes or fails by how fast it is.
pub const WATCHDOG: Duration = Duration::from_secs(90);

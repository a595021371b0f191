//! Starts an example by one of its launch files, as a person would, and watches its output, its
//! cost and its leftovers.
//!
//! `feros` and the containers are those that cargo built beside the running test or program;
//! a build of only some packages also needs `-p feros-cli -p feros-container`.
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

/// Ends a test that hangs; the result of a test does not depend on its speed.
pub const WATCHDOG: Duration = Duration::from_secs(90);

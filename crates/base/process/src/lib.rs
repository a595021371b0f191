//! Starts and ends child processes, for the launcher, the container, the command and the
//! laboratory.
//!
//! - [`ChildGroup`]: a child that leads a process group, which is killed when the value is dropped.
//! - [`Ending`]: the signals that end a child, each sent after a delay.
//! - [`EndSignals`]: the signals that end this process, and the wait for a child that ends with it.
//! - [`Lines`] and [`read_lines`]: output as lines of limited length.
//! - [`ignores_hangup`]: whether this process is meant to outlive its terminal;
//!   [`hangup_to_handle`]: SIGHUP, unless this process ignores it.
//! - [`python_interpreter`]: the Python interpreter that this program starts.
//!
//! ```
//! use std::process::Command;
//! use std::time::{Duration, Instant};
//!
//! let mut child = feros_process::ChildGroup::spawn(Command::new("sleep").arg("600"))?;
//! let deadline = Instant::now() + Duration::from_millis(10);
//! assert_eq!(child.wait_until(deadline)?, None);
//! assert!(!child.kill()?.success());
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! # Invariants
//!
//! No signal reaches a process that reuses the id of a child: the child gets signals only before
//! this process has waited for it.
#![forbid(unsafe_code)]

mod child_group;
mod end_signals;
mod ending;
mod hangup;
mod interpreter;
mod lines;

pub use child_group::{ChildGroup, described};
pub use end_signals::{EndSignals, Followed};
pub use ending::Ending;
pub use hangup::{hangup_to_handle, ignores_hangup};
pub use interpreter::python_interpreter;
pub use lines::{Lines, read_lines};
pub use rustix::process::Signal;

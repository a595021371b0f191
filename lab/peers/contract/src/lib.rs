//! The code that the laboratory's systems under test in Rust share (systems in C share
//! `contract.h`), so that they have the same arguments, pace, stamps and lines of output.
//! `../README.md` is the contract in words.
//!
//! ```no_run
//! use feros_lab_contract::{Program, Role, now_nanos};
//!
//! fn main() -> std::process::ExitCode {
//!     Program { system: "loopback", version: "1.0", extras: &[] }.run(|arguments, output| {
//!         let (samples, published) = (arguments.samples(0), arguments.published());
//!         let mut payload = arguments.payload();
//!         output.ready();
//!         for number in arguments.pace() {
//!             let at = arguments.stamp(&mut payload, number);
//!             samples.note(&payload, now_nanos()); // in place of publishing and of a callback
//!             published.note(number, at);
//!         }
//!         Ok(output.end(Some(&published), &[samples]))
//!     })
//! }
//! ```

mod arguments;
mod cold;
pub mod graph;
mod line;
mod member;
mod memory;
mod output;
mod pace;
mod samples;
mod time;
mod words;

use std::process::ExitCode;

pub use arguments::{Arguments, Extra};
pub use line::{Kind, Points};
pub use member::Endpoints;
pub use memory::LOCK_MEMORY;
pub use output::{CONTRACT, Ended, Failure, NOT_INSTALLED, Output};
pub use pace::Pace;
pub use samples::{Published, Samples, wait_received};
pub use time::{now_nanos, sleep_until};
pub use words::{
    Durability, Executor, Fill, History, MessageType, Placement, PublishMode, Reliability, Role,
    Topology,
};

/// The exit code for arguments that are unknown or wrong.
pub const WRONG_ARGUMENTS: u8 = 64;

/// A system under test.
#[derive(Debug, Clone, Copy)]
pub struct Program<'a> {
    /// The name of its folder.
    pub system: &'a str,
    /// Every component whose version matters, such as `Feros 0.1, Cyclone DDS 11.0`.
    pub version: &'a str,
    /// The arguments that only this peer has, for its variants.
    pub extras: &'a [Extra<'a>],
}

impl Program<'_> {
    /// Reads the arguments, says hello, runs `program` and reports how it ended.
    pub fn run(
        self,
        program: impl FnOnce(&Arguments, &Output) -> Result<Ended, Failure>,
    ) -> ExitCode {
        let arguments = match Arguments::parse(std::env::args().skip(1), self.extras) {
            Ok(arguments) => arguments,
            Err(text) => {
                eprintln!("error: {text}");
                return ExitCode::from(WRONG_ARGUMENTS);
            }
        };
        self.run_with(&arguments, program)
    }

    /// Like [`Self::run`], with arguments from another source, such as a component's parameters.
    pub fn run_with(
        self,
        arguments: &Arguments,
        program: impl FnOnce(&Arguments, &Output) -> Result<Ended, Failure>,
    ) -> ExitCode {
        memory::lock_where_asked();
        let output = Output::hello(self.system, self.version, arguments.role);
        match program(arguments, &output) {
            Ok(Ended { .. }) => ExitCode::SUCCESS,
            Err(failure) => output.error(&failure),
        }
    }
}

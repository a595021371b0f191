//! The command `feros`: look at, feed and measure a ROS 2 system from the shell.
//!
//! The modules follow the command line: `feros topic echo` is `commands/topic/echo.rs`.
#![forbid(unsafe_code)]

mod commands;
mod connection;
mod csv;
mod described;
mod error;
mod filter;
mod nearest;
mod notices;
mod output;
mod packages;
mod process_group;
mod qos_args;
mod types;
mod value_parsers;
mod values;

use std::process::ExitCode;

fn main() -> ExitCode {
    commands::complete_if_asked();
    let line = commands::CommandLine::of_process();
    line.color.apply();
    notices::init();
    commands::run(line).unwrap_or_else(|error| error.report())
}

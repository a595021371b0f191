//! The command `feros`: inspect, feed and measure a ROS 2 system from the shell.
//!
//! The modules follow the command line: `feros topic echo` is `commands/topic/echo.rs`.
#![forbid(unsafe_code)]

mod asking;
mod commands;
mod connection;
mod csv;
mod described;
mod ending;
mod error;
mod filter;
mod help_heading;
mod nearest;
mod notices;
mod output;
mod packages;
mod process_group;
mod qos_args;
mod silent_services;
mod types;
mod value_parsers;
mod values;

use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use crate::error::CliError;

fn main() -> ExitCode {
    commands::complete_if_asked();
    let line = commands::CommandLine::of_process();
    line.color.apply();
    notices::init();
    let engine = line.engine.join(",");
    let outcome = if !makes_a_context(&line.engine) {
        Err(CliError::usage(format!(
            "--engine {engine}: name one engine, or two different ones, such as cyclonedds,zenoh"
        )))
    } else if engine.is_empty() || is_chosen(&engine) {
        commands::run(line)
    } else {
        Err(begin_anew_with(&engine))
    };
    outcome.unwrap_or_else(|error| error.report())
}

/// Whether these may be the engines of a context, built in or not: a process that a verb starts may
/// have more engines than this command.
fn makes_a_context(engines: &[String]) -> bool {
    engines.len() < 2 || matches!(engines, [one, other] if one != other)
}

fn is_chosen(engine: &str) -> bool {
    std::env::var_os(feros::ENGINE_VARIABLE).is_some_and(|chosen| chosen == engine)
}

/// Restarts this command with the engine in the environment, where the context of every verb and
/// every process that a verb starts finds it. It returns only if that fails.
fn begin_anew_with(engine: &str) -> CliError {
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let error = std::env::current_exe().map(|program| {
        let mut command = Command::new(program);
        command.arg0(name).args(words).env(feros::ENGINE_VARIABLE, engine).exec()
    });
    let (Ok(error) | Err(error)) = error;
    CliError::failed(format!("--engine: the command cannot be started again: {error}"))
}

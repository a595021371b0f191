//! The command `feros`: inspect, feed and measure a ROS 2 system from the shell.
//!
//! The modules follow the command line: `feros topic echo` is `commands/topic/echo.rs`.
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `commands` | the verbs; `commands/completion` offers names of the running system to a shell |
//! | `connection`, `types`, `described`, `values` | the command's node, known types, types that nodes describe, messages that users type |
//! | `asking`, `silent_services`, `packages` | questions to several nodes, services without events, installed packages |
//! | `filter` | the language of `--filter` |
//! | `output`, `csv`, `notices` | text on standard output and standard error |
//! | `qos_args`, `value_parsers`, `help_heading`, `nearest` | options that verbs share |
//! | `ending`, `process_group` | how verbs end on a signal, and the processes that they start |
//! | `error` | errors and exit codes |
//!
//! # Invariants
//!
//! - An error names the cure.
//! - Results go to standard output, everything else to standard error.
//! - Untrusted text reaches a terminal only through `output` and `notices`, which escape what a
//!   terminal would obey; a pipe gets the bytes.
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
    outcome.map_or_else(|error| error.report(), |()| ExitCode::SUCCESS)
}

/// Whether these may be the engines of a context, even if they are not built in: a process that a
/// verb starts may have more engines than this command.
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
    CliError::failed(format!("--engine: the command cannot be restarted with this engine: {error}"))
}

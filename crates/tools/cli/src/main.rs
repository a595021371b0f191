//! The command `feros`: inspect, feed and measure a ROS 2 system from the shell.
//!
//! The modules follow the command line: `feros topic echo` is `commands/topic/echo.rs`.
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `commands` | the verbs; `commands/completion` offers names of the running system to a shell |
//! | `connection`, `types`, `types::described`, `types::values` | the command's node, known types, types that nodes describe, messages that users type |
//! | `asking`, `silent_services`, `packages` | questions to several nodes, services without events, installed packages |
//! | `filter` | the language of `--filter` |
//! | `output`, `csv`, `notices` | text on standard output and standard error |
//! | `qos_args`, `value_parsers`, `help_heading`, `nearest` | options that verbs share |
//! | `ending`, `process_group`, `python` | how verbs end on a signal, and the processes that they start |
//! | `compile` | builds with cargo for `build` and `component build`: the workspace, checks, the prefix |
//! | `derived_variables` | the variables that programs get besides `FEROS_PREFIX_PATH` |
//! | `error` | errors and exit codes |
//! | `version` | what `--version` says |
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
mod compile;
mod connection;
mod csv;
mod derived_variables;
mod ending;
mod error;
mod filter;
mod help_heading;
mod nearest;
mod notices;
mod output;
mod packages;
mod process_group;
mod python;
mod python_components;
mod qos_args;
mod silent_services;
mod types;
mod value_parsers;
mod version;

use std::ffi::OsString;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use feros::engine::DiscoveryForm;
use feros_engine::engine::known;

use crate::error::CliError;

fn main() -> ExitCode {
    commands::complete_if_asked();
    let line = commands::CommandLine::of_process();
    line.color.apply();
    if !line.is_a_node() {
        notices::init();
    }
    let engine = line.engine.join(",");
    let wanted = [
        (feros::ENGINE_VARIABLE, engine.clone()),
        (DiscoveryForm::VARIABLE, line.distro.clone().unwrap_or_default()),
    ];
    let is_missing =
        |(name, value): &(&str, String)| !value.is_empty() && !is_set(name, value.as_str());
    let missing = wanted.into_iter().filter(is_missing);
    let mut missing: Vec<_> = missing.map(|(name, value)| (name, value.into())).collect();
    if line.starts_programs() {
        missing.extend(derived_variables::lacking());
    }
    let outcome = if !makes_a_context(&line.engine) {
        Err(CliError::usage(format!(
            "--engine {engine}: name one engine, or two different ones, such as {}",
            known::example_pair()
        )))
    } else if missing.is_empty() {
        commands::run(line)
    } else {
        Err(begin_anew_with(missing))
    };
    outcome.map_or_else(|error| error.report(), |()| ExitCode::SUCCESS)
}

/// Whether these may be the engines of a context, even if they are not built in: a process that a
/// verb starts may have more engines than this command.
fn makes_a_context(engines: &[String]) -> bool {
    engines.len() < 2 || matches!(engines, [one, other] if one != other)
}

fn is_set(variable: &str, value: &str) -> bool {
    std::env::var_os(variable).is_some_and(|set| set == value)
}

/// Restarts this command with these variables, where the context of every verb and every process
/// that a verb starts finds them. It returns only if that fails.
fn begin_anew_with(variables: Vec<(&'static str, OsString)>) -> CliError {
    let mut words = std::env::args_os();
    let name = words.next().unwrap_or_default();
    let error = std::env::current_exe().map(|program| {
        let mut command = Command::new(program);
        command.arg0(name).args(words).envs(variables).exec()
    });
    let (Ok(error) | Err(error)) = error;
    CliError::failed(format!(
        "the command cannot be restarted with the variables that it needs: {error}"
    ))
}

//! `feros service`.

use std::process::ExitCode;

use super::Globals;
use crate::error::CliError;

#[derive(clap::Subcommand)]
pub(crate) enum Command {}

pub(crate) fn run(command: Command, _: &Globals) -> Result<ExitCode, CliError> {
    match command {}
}

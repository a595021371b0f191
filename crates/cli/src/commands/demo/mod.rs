//! `feros demo`.

use std::process::ExitCode;

use crate::error::CliError;

/// What the verb takes.
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: Args) -> Result<ExitCode, CliError> {
    Err(CliError::failed("this verb is not part of this build yet"))
}

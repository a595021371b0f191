//! `feros doctor`.

use std::process::ExitCode;

use crate::error::CliError;

/// Check this machine and say what stands in the way
#[derive(clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_: &Args) -> Result<ExitCode, CliError> {
    Err(CliError::failed("this verb is not part of this build yet"))
}

//! `feros completion`: the script that completes the command in a shell.

use std::process::ExitCode;

use crate::error::CliError;

/// Print the script that completes this command in a shell
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  feros completion bash > ~/.local/share/bash-completion/completions/feros"
)]
pub(crate) struct Args {
    /// The shell
    shell: clap_complete::Shell,
}

pub(crate) fn run(args: &Args, command: &mut clap::Command) -> Result<ExitCode, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, command, "feros", &mut script);
    std::io::Write::write_all(&mut std::io::stdout(), &script)?;
    Ok(ExitCode::SUCCESS)
}

//! `feros completion`: prints the script with which a shell asks this command for completions.

use clap::ValueEnum;
use clap_complete::env::Shells;

use super::VARIABLE;
use crate::error::CliError;
use crate::output;

/// Print the script that completes this command in a shell, with names of the running system
#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  echo 'source <(feros completion bash)' >> ~/.bashrc\n  echo 'source <(feros completion zsh)' >> \
                        ~/.zshrc\n  echo 'feros completion fish | source' >> ~/.config/fish/config.fish"
)]
pub(crate) struct Args {
    /// The shell
    shell: Shell,
}

#[derive(Clone, Copy, ValueEnum)]
enum Shell {
    Bash,
    Elvish,
    Fish,
    Powershell,
    Zsh,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let name = args.shell.to_possible_value().map(|value| value.get_name().to_owned());
    let shells = Shells::builtins();
    let shell = name
        .and_then(|name| shells.completer(&name))
        .ok_or_else(|| CliError::failed("this shell has no completion"))?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, "feros", "feros", "feros", &mut script)?;
    output::print(&String::from_utf8_lossy(&script))
}

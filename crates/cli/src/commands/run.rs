//! `feros run`: starts one executable of a package, in this process's place.

use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode};

use crate::error::CliError;
use crate::packages::installed_packages;

/// What is started.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// A command to start it with, such as `gdb --args`
    #[arg(long, value_name = "COMMAND")]
    prefix: Option<String>,
    /// The package
    #[arg(value_name = "PACKAGE")]
    package: String,
    /// The executable; see what there is with a name that is not
    #[arg(value_name = "EXECUTABLE")]
    executable: String,
    /// What it is given
    #[arg(value_name = "ARGUMENTS", trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let path = installed_packages()
        .executable(&args.package, &args.executable)
        .map_err(CliError::usage)?;
    let path = path.display().to_string();
    let mut words = match &args.prefix {
        Some(prefix) => feros_launch::split_words(prefix)
            .map_err(|problem| CliError::usage(format!("--prefix: {problem}")))?,
        None => Vec::new(),
    };
    words.push(path);
    let (program, first) =
        words.split_first().ok_or_else(|| CliError::usage("--prefix: a command was expected"))?;
    // From here on this process is the executable: its signals, its terminal and its exit code are
    // the user's.
    let error = Command::new(program).args(first).args(&args.arguments).exec();
    Err(CliError::failed(format!("{program} cannot be started: {error}")))
}

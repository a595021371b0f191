//! `feros pkg executables`: the executables that `feros run` can start.

use serde::Serialize;

use crate::error::CliError;
use crate::output;
use crate::packages::installed_packages;

/// List the executables of a package, or of all packages
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros pkg executables my_robot --full-path")]
pub(crate) struct Args {
    /// Name of the package; by default, all packages
    #[arg(value_name = "PACKAGE")]
    package: Option<String>,
    /// Print their paths instead
    #[arg(long)]
    full_path: bool,
    /// Print a JSON array of objects with package, executable and path
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Executable {
    package: String,
    executable: String,
    path: String,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let packages = installed_packages();
    let names = match &args.package {
        Some(package) => {
            if packages.executables(package).is_empty() {
                packages.prefix(package).map_err(CliError::failed)?;
            }
            vec![package.clone()]
        }
        None => packages.packages(),
    };
    let mut found = Vec::new();
    for package in names {
        for executable in packages.executables(&package) {
            // An executable that was removed meanwhile is left out. The path of a shipped
            // executable is that of this command.
            if let Ok(command) = packages.command(&package, &executable) {
                let path = command.into_iter().next().unwrap_or_default();
                found.push(Executable { package: package.clone(), executable, path });
            }
        }
    }
    if args.json {
        output::print_json(&found)
    } else if args.full_path {
        output::print_lines(found.iter().map(|executable| &executable.path))
    } else {
        output::print_lines(
            found.iter().map(|found| format!("{} {}", found.package, found.executable)),
        )
    }
}

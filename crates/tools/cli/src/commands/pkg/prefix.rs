//! `feros pkg prefix`: the folder that a package is installed in.

use crate::error::CliError;
use crate::output;
use crate::packages::installed_packages;

/// Print the folder that a package is installed in
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros pkg prefix --share my_robot")]
pub(crate) struct Args {
    /// Name of the package
    #[arg(value_name = "PACKAGE")]
    package: String,
    /// Print its share folder instead, which has launch files and settings
    #[arg(long)]
    share: bool,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let packages = installed_packages();
    let folder = if args.share {
        packages.share(&args.package)
    } else {
        packages.prefix(&args.package).map(std::path::Path::to_owned)
    };
    let folder = folder.map_err(CliError::failed)?;
    output::print(&format!("{}\n", folder.display()))
}

//! The installed packages, and the executables of component containers.

use std::process::Command;

use feros_files::default_prefix;
use feros_launch::Packages;

use crate::error::CliError;

/// The package under which containers are installed.
const CONTAINER_PACKAGE: &str = "feros_component";

/// Returns the installed packages, Feros's own containers in the folder of this program, and the
/// nodes that this program contains.
pub(crate) fn installed_packages() -> Packages {
    let mut packages = Packages::from_env();
    let program = std::env::current_exe().ok();
    if let Some(folder) = program.as_deref().and_then(std::path::Path::parent) {
        packages = packages.with_containers(folder);
    }
    if let Some(prefix) = default_prefix() {
        packages = packages.with_default_prefix(prefix);
    }
    if let Some(program) = program {
        packages = packages.with_shipped(program, feros_robot_nodes::EXECUTABLES);
    }
    packages
}

/// Returns the command that starts a container, which is in the installed packages or in the folder
/// of this program.
pub(crate) fn container_command(name: &str) -> Result<Command, CliError> {
    let found = installed_packages().executable(CONTAINER_PACKAGE, name);
    found.map(Command::new).map_err(|_| {
        CliError::failed(format!(
            "there is no {name}, neither in the folder of this command nor as lib/{CONTAINER_PACKAGE}/{name} under \
             FEROS_PREFIX_PATH or the default prefix: `feros component build` in the folder of a package with \
             components builds it, with the Feros of that package"
        ))
    })
}

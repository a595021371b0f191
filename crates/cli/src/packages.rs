//! What is installed: packages, and the executables of component containers.

use std::process::Command;

use feros_launch::Packages;

use crate::error::CliError;

/// The package under which containers are installed.
const CONTAINER_PACKAGE: &str = "feros_component";

/// The packages that are installed, and Feros's own containers beside this program.
pub(crate) fn installed_packages() -> Packages {
    let packages = Packages::from_env();
    match std::env::current_exe().ok().and_then(|program| Some(program.parent()?.to_owned())) {
        Some(folder) => packages.with_containers(folder),
        None => packages,
    }
}

/// A container's executable: beside this one, or where packages are installed.
pub(crate) fn container_command(name: &str) -> Result<Command, CliError> {
    let found = installed_packages().executable(CONTAINER_PACKAGE, name);
    found.map(Command::new).map_err(|_| {
        CliError::failed(format!(
            "there is no {name}, neither beside this command nor as lib/{CONTAINER_PACKAGE}/{name} under FEROS_PREFIX_PATH: build \
             the package feros-container"
        ))
    })
}

//! The installed packages, and the executables that this command contains.

use feros_container::Kind;
use feros_files::default_prefix;
use feros_launch::{CONTAINER_PACKAGES, Packages};

use crate::error::CliError;
use crate::python_components;

/// The package under which containers are installed.
const CONTAINER_PACKAGE: &str = "feros_component";

/// Returns the installed packages, Feros's own containers in the folder of this program, the nodes
/// and the containers that this program contains, and the packages of components in Python.
pub(crate) fn installed_packages() -> Packages {
    let mut packages = Packages::from_env();
    let program = std::env::current_exe().ok();
    if let Some(folder) = program.as_deref().and_then(std::path::Path::parent) {
        packages = packages.with_containers(folder);
    }
    if let Some(prefix) = default_prefix() {
        packages = packages.with_default_prefix(prefix);
    }
    let components = feros_robot_nodes::COMPONENTS.iter().map(|(package, _)| *package);
    packages = packages.with_components(components, python_components::packages);
    if let Some(program) = program {
        packages = packages.with_shipped(program, shipped_executables());
    }
    packages
}

/// The nodes and containers that this program contains, as packages and executables.
pub(crate) fn shipped_executables() -> impl Iterator<Item = (&'static str, &'static str)> {
    let containers = CONTAINER_PACKAGES
        .into_iter()
        .flat_map(|package| Kind::ALL.map(|(executable, _)| (package, executable)));
    feros_robot_nodes::EXECUTABLES.iter().copied().chain(containers)
}

/// Runs an executable that this program contains, with its command line, until a signal ends it.
pub(crate) fn run_shipped(package: &str, name: &str, line: Vec<String>) -> Result<(), CliError> {
    let is_container = CONTAINER_PACKAGES.contains(&package);
    let kind = Kind::ALL.into_iter().find(|(executable, _)| is_container && *executable == name);
    let code = match kind {
        Some((_, kind)) => Some(feros_container::run(kind, &["run", package, name], line)),
        None => feros_robot_nodes::run(package, name, line),
    };
    match code {
        Some(0) => Ok(()),
        Some(code) => Err(CliError::Ended(code)),
        None => Err(CliError::failed(format!("this command contains no {name} of {package}"))),
    }
}

/// The words of the command line that starts a container: one in the installed packages or in the
/// folder of this program, else the one that this program contains.
pub(crate) fn container_words(name: &str) -> Result<Vec<String>, CliError> {
    installed_packages().command(CONTAINER_PACKAGE, name).map_err(CliError::failed)
}

//! The search for definitions. The command, bags, the view, engines and Python share it.

use feros_files::{PREFIX_VARIABLES, default_prefix, paths_of_variable};

use crate::set::InterfaceSet;

/// The environment variable that lists folders with interfaces, separated by colons.
const FOLDERS_VARIABLE: &str = "FEROS_INTERFACES";

/// The environment variable that names the distribution of the other nodes.
const DISTRIBUTION_VARIABLE: &str = "FEROS_ROS_DISTRO";

/// The places that [`InterfaceSet::load_environment`] searches. The text completes a message that
/// begins with "types are found".
pub const PLACES: &str = "in the packages that Feros ships, under FEROS_PREFIX_PATH, \
                          AMENT_PREFIX_PATH and ~/.local/share/feros, in the folders of \
                          FEROS_INTERFACES";

impl InterfaceSet {
    /// Loads the packages that the environment names, in this order: the packages of robots as
    /// Jazzy has them if `FEROS_ROS_DISTRO` is `jazzy`, packages from `<prefix>/share/<package>`
    /// of the default prefix, of `AMENT_PREFIX_PATH` and of `FEROS_PREFIX_PATH`, then packages from
    /// the folders of `FEROS_INTERFACES`. Later packages replace earlier packages with the same
    /// name.
    ///
    /// Returns the faults that occurred, which callers report when a type is missing.
    pub fn load_environment(&mut self) -> Vec<String> {
        let mut faults = Vec::new();
        if std::env::var_os(DISTRIBUTION_VARIABLE).is_some_and(|name| name == "jazzy") {
            self.add_robot_packages_of_jazzy();
        }
        if let Some(prefix) = default_prefix() {
            let place = prefix.display().to_string();
            let report = self.load_prefixes([prefix]);
            faults.extend(report.faults.iter().map(|fault| format!("{place}: {fault}")));
        }
        for variable in PREFIX_VARIABLES.into_iter().rev() {
            let report = self.load_prefixes(paths_of_variable(variable));
            faults.extend(report.faults.iter().map(|fault| format!("{variable}: {fault}")));
        }
        for folder in paths_of_variable(FOLDERS_VARIABLE) {
            if let Err(fault) = self.load_dir(&folder) {
                faults.push(format!("{FOLDERS_VARIABLE}: {fault}"));
            }
        }
        faults
    }
}

//! The search for definitions, shared by the command, bags, the view, engines and Python.

use feros_files::{PREFIX_VARIABLES, default_prefix, paths_of_variable};

use crate::set::InterfaceSet;

/// The environment variable with folders of interfaces, separated by colons.
const FOLDERS_VARIABLE: &str = "FEROS_INTERFACES";

/// The places where [`InterfaceSet::load_environment`] looks, for messages that begin with "types
/// are found".
pub const PLACES: &str = "in the standard packages, under FEROS_PREFIX_PATH, AMENT_PREFIX_PATH and \
                          ~/.local/share/feros, in the folders of FEROS_INTERFACES";

impl InterfaceSet {
    /// Loads the packages that the environment names, from `<prefix>/share/<package>` and from
    /// folders. Later ones replace earlier ones as a whole: those of the default prefix, of
    /// `AMENT_PREFIX_PATH`, of `FEROS_PREFIX_PATH`, of the folders of `FEROS_INTERFACES`.
    ///
    /// Returns the faults of loading, to be reported where a type is missing.
    pub fn load_environment(&mut self) -> Vec<String> {
        let mut faults = Vec::new();
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

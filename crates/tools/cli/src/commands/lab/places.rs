//! Where the laboratory finds scenarios and systems.

use std::path::{Path, PathBuf};

use feros_lab::peer::Peers;
use feros_lab::scenario::{ScenarioFile, scenario_files};

use crate::error::CliError;

/// Folders to use instead of the folders of the repository.
#[derive(clap::Args, Clone)]
pub(crate) struct Places {
    /// The folder of systems under test, NAME/peer.toml
    #[arg(long, value_name = "DIR", env = "FEROS_LAB_PEERS", default_value_os_t = Places::of_repository("peers"), hide_default_value = true)]
    pub(crate) peers: PathBuf,
    /// The folder of scenarios, NAME.toml
    #[arg(long, value_name = "DIR", env = "FEROS_LAB_SCENARIOS", default_value_os_t = Places::of_repository("scenarios"), hide_default_value = true)]
    pub(crate) scenarios: PathBuf,
}

impl Places {
    /// A folder of the laboratory in the repository from which this command was built.
    fn of_repository(folder: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../lab").join(folder)
    }

    /// The systems under test.
    pub(crate) fn peers(&self) -> Result<Peers, CliError> {
        Peers::read(&self.peers).map_err(CliError::failed)
    }

    /// All scenarios, by name.
    pub(crate) fn scenarios(&self) -> Result<Vec<ScenarioFile>, CliError> {
        let files = scenario_files(&self.scenarios).map_err(CliError::failed)?;
        files.iter().map(|file| ScenarioFile::read(file).map_err(CliError::failed)).collect()
    }
}

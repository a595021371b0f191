//! The target of a measurement: a grid by its name, or a scenario as it stands.

use std::path::Path;

use feros_lab::machine::Machine;
use feros_lab::peer::Peers;
use feros_lab::plan::Plan;
use feros_lab::scenario::{Grid, Scenario, ScenarioFile};

use super::places::Places;
use crate::error::CliError;
use crate::nearest::did_you_mean;

/// The target of a measurement.
#[derive(clap::Args, Clone)]
pub(crate) struct Target {
    /// quick, standard, papers, full or goals; one part of a grid that has parts, such as papers-1;
    /// or a scenario, by its name or its file, which is measured as it stands
    #[arg(value_name = "GRID|SCENARIO|FILE.toml")]
    target: String,
    /// Settings that differ from the scenarios', in their words: count=20 sizes=256,64K
    #[arg(value_name = "KEY=VALUE")]
    settings: Vec<String>,
    /// Use only this scenario of a grid; may be repeated
    #[arg(long, value_name = "SCENARIO")]
    only: Vec<String>,
    /// Use only this system, by its name in scenarios; may be repeated
    #[arg(long, value_name = "SYSTEM")]
    system: Vec<String>,
    #[command(flatten)]
    pub(crate) places: Places,
}

impl Target {
    /// The plan on this machine.
    pub(crate) fn plan(&self, peers: &Peers, machine: &Machine) -> Result<Plan, CliError> {
        let (name, mut scenarios) = self.scenarios(peers)?;
        for system in &self.system {
            peers.system(system).map_err(CliError::usage)?;
        }
        if !self.system.is_empty() {
            for scenario in &mut scenarios {
                scenario.systems.retain(|system| self.system.contains(system));
            }
            scenarios.retain(|scenario| !scenario.systems.is_empty());
        }
        if scenarios.is_empty() {
            return Err(CliError::usage(format!(
                "no scenario of {} is left to measure",
                self.target
            )));
        }
        Ok(Plan::new(&name, scenarios, peers, machine))
    }

    fn scenarios(&self, peers: &Peers) -> Result<(String, Vec<Scenario>), CliError> {
        let check = |name: &str| peers.system(name).map(|_| ());
        let Some((grid, part)) = grid_and_part(&self.target) else {
            let file = self.scenario_file()?;
            let scenario = file.resolve(None, &self.settings, &check).map_err(CliError::failed)?;
            return Ok((file.name(), scenario.into_iter().collect()));
        };
        let files = self.places.scenarios()?;
        let names: Vec<String> = files.iter().map(ScenarioFile::name).collect();
        if let Some(unknown) = self.only.iter().find(|only| !names.contains(only)) {
            let known = names.iter().map(String::as_str);
            return Err(CliError::usage(format!(
                "there is no scenario `{unknown}`{}",
                did_you_mean(unknown, known)
            )));
        }
        let mut scenarios = Vec::new();
        for file in
            files.iter().filter(|file| self.only.is_empty() || self.only.contains(&file.name()))
        {
            let scenario =
                file.resolve(Some(grid), &self.settings, &check).map_err(CliError::failed)?;
            let is_of_part = |scenario: &Scenario| part.is_none_or(|part| scenario.part == part);
            scenarios.extend(scenario.filter(is_of_part));
        }
        Ok((self.target.clone(), scenarios))
    }

    /// The scenario to measure as it stands: from a file, or from the laboratory by its name.
    fn scenario_file(&self) -> Result<ScenarioFile, CliError> {
        if self.target.ends_with(".toml") {
            return ScenarioFile::read(Path::new(&self.target)).map_err(CliError::failed);
        }
        let mut files = self.places.scenarios()?;
        if let Some(index) = files.iter().position(|file| file.name() == self.target) {
            return Ok(files.swap_remove(index));
        }
        let names: Vec<String> = files.iter().map(ScenarioFile::name).collect();
        let words = Grid::ALL.iter().map(|grid| grid.word());
        let known = words.chain(names.iter().map(String::as_str));
        Err(CliError::usage(format!(
            "there is no grid and no scenario `{}`; name a grid (quick, standard, papers, full or goals), a scenario of `feros \
             lab list`, or a file whose name ends with .toml{}",
            self.target,
            did_you_mean(&self.target, known)
        )))
    }

    /// The command that repeats this measurement.
    pub(crate) fn command(&self) -> String {
        let mut words = vec!["feros lab run".to_owned(), self.target.clone()];
        words.extend(self.settings.iter().cloned());
        words.extend(self.only.iter().map(|only| format!("--only {only}")));
        words.extend(self.system.iter().map(|system| format!("--system {system}")));
        words.join(" ")
    }

    /// The default name of the folder for its results.
    pub(crate) fn folder_name(&self) -> String {
        let stem = Path::new(&self.target).file_stem().unwrap_or_default();
        format!("feros-lab-{}", stem.to_string_lossy())
    }
}

/// The grid that a word names and, for a word such as `papers-1`, its part.
fn grid_and_part(word: &str) -> Option<(Grid, Option<u32>)> {
    Grid::ALL.iter().find_map(|grid| {
        let part = match word.strip_prefix(grid.word())? {
            "" => None,
            rest => Some(rest.strip_prefix('-')?.parse().ok()?),
        };
        Some((*grid, part))
    })
}

//! Makes plans from launch files.

use std::path::Path;

use feros_process::EndSignals;

use super::arguments::{self, Argument};
use super::evaluator::{Commands, Evaluator};
use super::steps::Plan;
use crate::action;
use crate::error::LaunchError;
use crate::packages::Packages;
use crate::tree;

/// Makes plans from launch files.
#[derive(Clone, Debug)]
pub struct Planner {
    packages: Packages,
    signals: EndSignals,
}

impl Planner {
    /// Makes a planner that finds executables and files in these packages.
    pub fn new(packages: Packages) -> Self {
        Self { packages, signals: EndSignals::default() }
    }

    /// Ends planning when one of these signals arrives: the running command of a `$(command ...)`
    /// ends with its process group, and [`Planner::plan`] fails with [`LaunchError::Signal`].
    #[must_use]
    pub fn ended_by(self, signals: EndSignals) -> Self {
        Self { signals, ..self }
    }

    /// Makes the plan of a launch file with these arguments. Planning reads files and the
    /// environment, and runs the commands of `$(command ...)`; it starts nothing else.
    ///
    /// # Errors
    /// Fails with a [`LaunchError`] that names the position of the mistake; with
    /// [`LaunchError::Several`] if there are several mistakes that do not follow from one another;
    /// with [`LaunchError::Argument`] for an argument that no file takes; with
    /// [`LaunchError::Signal`] if a signal ended the planning.
    pub fn plan(&self, file: &Path, assignments: &[(String, String)]) -> Result<Plan, LaunchError> {
        self.plan_with(file, assignments, Commands::Run)
    }

    /// Does the same as [`Planner::plan`] without starting anything: `$(command ...)` stays as
    /// written.
    ///
    /// # Errors
    /// Fails like [`Planner::plan`], and if a condition or a number depends on a command's output.
    pub fn preview(
        &self,
        file: &Path,
        assignments: &[(String, String)],
    ) -> Result<Plan, LaunchError> {
        self.plan_with(file, assignments, Commands::Shown)
    }

    fn plan_with(
        &self,
        file: &Path,
        assignments: &[(String, String)],
        commands: Commands,
    ) -> Result<Plan, LaunchError> {
        let launch_file = action::read_file(file, None)?;
        let survey = arguments::survey(&self.packages, file, &launch_file, assignments);
        if survey.is_complete {
            arguments::refuse_unknown(assignments, survey.names())?;
        }
        let mut evaluator = Evaluator::new(&self.packages, file, assignments);
        evaluator.commands = commands;
        evaluator.signals = self.signals.clone();
        let evaluated = evaluator.all_items(&launch_file.items);
        if let Some(signal) = self.signals.received() {
            return Err(LaunchError::Signal(signal));
        }
        evaluated?;
        arguments::refuse_unknown(
            assignments,
            survey.names().chain(evaluator.declared.iter().map(String::as_str)),
        )?;
        Ok(evaluator.into_plan(file))
    }

    /// The arguments of a launch file and of the files that it includes, except files whose paths
    /// are not known before evaluation.
    ///
    /// # Errors
    /// Fails with a [`LaunchError`] if the file itself cannot be read.
    pub fn arguments(
        &self,
        file: &Path,
        assignments: &[(String, String)],
    ) -> Result<Vec<Argument>, LaunchError> {
        let launch_file = action::read_file(file, None)?;
        Ok(arguments::survey(&self.packages, file, &launch_file, assignments).arguments)
    }

    /// Plans a launch file from a given text, in the language that the file name implies. This
    /// function is for tests with hostile text, so it runs no commands.
    ///
    /// # Errors
    /// Fails like [`Planner::plan`].
    pub fn plan_text(
        &self,
        file: &Path,
        text: &str,
        assignments: &[(String, String)],
    ) -> Result<Plan, LaunchError> {
        let is_yaml = file.extension().is_some_and(|extension| extension == "yaml");
        let root =
            if is_yaml { tree::parse_yaml(file, text) } else { tree::parse_xml(file, text) }?;
        let items = action::parse(root)?;
        let mut evaluator = Evaluator::new(&self.packages, file, assignments);
        evaluator.all_items(&items)?;
        Ok(evaluator.into_plan(file))
    }
}

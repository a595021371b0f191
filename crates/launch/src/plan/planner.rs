//! Makes plans of launch files.

use std::path::Path;

use super::arguments::{self, Argument};
use super::evaluator::Evaluator;
use super::steps::Plan;
use crate::action;
use crate::error::LaunchError;
use crate::packages::Packages;
use crate::tree;

/// Makes plans of launch files.
#[derive(Clone, Debug)]
pub struct Planner {
    packages: Packages,
}

impl Planner {
    /// A planner that finds packages here.
    pub fn new(packages: Packages) -> Self {
        Self { packages }
    }

    /// What a launch file comes to with these arguments. Files and the environment are read, and
    /// the commands of `$(command ...)` are run; nothing else is started.
    ///
    /// # Errors
    /// [`LaunchError`] with the place of the mistake, [`LaunchError::Several`] with all that do not
    /// follow from one another; [`LaunchError::Argument`] for an argument that nothing takes.
    pub fn plan(&self, file: &Path, assignments: &[(String, String)]) -> Result<Plan, LaunchError> {
        self.plan_with(file, assignments, Evaluator::running_commands)
    }

    /// As [`Planner::plan`], without starting anything: `$(command ...)` stays as it is written.
    ///
    /// # Errors
    /// As [`Planner::plan`], and where a condition or a number depends on what a command prints.
    pub fn preview(
        &self,
        file: &Path,
        assignments: &[(String, String)],
    ) -> Result<Plan, LaunchError> {
        self.plan_with(file, assignments, Evaluator::showing_commands)
    }

    fn plan_with<'a>(
        &'a self,
        file: &Path,
        assignments: &[(String, String)],
        commands: fn(Evaluator<'a>) -> Evaluator<'a>,
    ) -> Result<Plan, LaunchError> {
        let launch_file = action::read_file(file, None)?;
        let survey = arguments::survey(&self.packages, file, &launch_file, assignments);
        if survey.is_complete {
            arguments::refuse_unknown(assignments, survey.names())?;
        }
        let evaluator = Evaluator::new(&self.packages, file, assignments);
        let mut evaluator = commands(evaluator);
        evaluator.all_items(&launch_file.items)?;
        arguments::refuse_unknown(
            assignments,
            survey.names().chain(evaluator.declared.iter().map(String::as_str)),
        )?;
        Ok(evaluator.into_plan(file))
    }

    /// The arguments that a launch file and those that it includes take; files whose place depends
    /// on what is not known yet are left out.
    ///
    /// # Errors
    /// [`LaunchError`] when the file itself cannot be read.
    pub fn arguments(
        &self,
        file: &Path,
        assignments: &[(String, String)],
    ) -> Result<Vec<Argument>, LaunchError> {
        let launch_file = action::read_file(file, None)?;
        Ok(arguments::survey(&self.packages, file, &launch_file, assignments).arguments)
    }

    /// Plans a file whose text is at hand, in the language that its name says. For tests of hostile
    /// texts: no command is run.
    ///
    /// # Errors
    /// As [`Planner::plan`].
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

//! Makes plans from launch files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use feros_process::EndSignals;
use serde_json::Value as Json;

use super::arguments::{self, Argument};
use super::complete::Plan;
use super::evaluator::{Commands, Evaluator};
use crate::action::{self, LaunchFile};
use crate::error::{LaunchError, shown};
use crate::packages::Packages;
use crate::position::Position;
use crate::python::{Changes, Decoder, Failure, Line, PythonOptions, Session};
use crate::tree;
use crate::xml_form::xml_form;

/// Makes plans from launch files.
#[derive(Clone, Debug)]
pub struct Planner {
    packages: Arc<Packages>,
    signals: EndSignals,
    python: Option<PythonOptions>,
    shows_all_output: bool,
}

impl Planner {
    /// Makes a planner that finds executables and files in these packages.
    pub fn new(packages: Packages) -> Self {
        Self {
            packages: Arc::new(packages),
            signals: EndSignals::default(),
            python: None,
            shows_all_output: false,
        }
    }

    /// Reads launch files in Python as well. Python starts at the first of these files, and ends
    /// with the plan.
    #[must_use]
    pub fn python(self, options: PythonOptions) -> Self {
        Self { python: Some(options), ..self }
    }

    /// Shows and logs the output of all processes, regardless of the settings in the file.
    #[must_use]
    pub fn showing_all_output(self, shows_all_output: bool) -> Self {
        Self { shows_all_output, ..self }
    }

    fn session(&self) -> Arc<Session> {
        let prefixes: Vec<PathBuf> = self.packages.all_prefixes().cloned().collect();
        Arc::new(Session::new(self.python.clone(), prefixes, self.signals.clone()))
    }

    /// Ends planning when one of these signals arrives: the running command of a `$(command ...)`
    /// ends with its process group, and [`Planner::plan`] fails with [`LaunchError::Signal`].
    #[must_use]
    pub fn ended_by(self, signals: EndSignals) -> Self {
        Self { signals, ..self }
    }

    /// Makes the plan of a launch file with these arguments. Planning reads files and the
    /// environment, and runs the commands of `$(command ...)` and the code of files in Python; it
    /// starts nothing else.
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
    /// written. The code of files in Python runs nevertheless, since only it knows their actions.
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
        let session = self.session();
        let mut evaluator =
            Evaluator::new(Arc::clone(&self.packages), Arc::clone(&session), file, assignments);
        evaluator.commands.set(commands);
        evaluator.shows_all_output = self.shows_all_output;
        evaluator.signals = self.signals.clone();
        let launch_file = self.unless_signalled(evaluator.launch_file(file, None, None))?;
        let survey =
            arguments::survey(&self.packages, &session, file, &launch_file, assignments, false);
        if survey.is_complete {
            arguments::refuse_unknown(assignments, survey.names())?;
        }
        self.unless_signalled(evaluator.plan_file(&launch_file.items))?;
        let read = evaluator.python.read();
        let known = survey.names().chain(evaluator.declared.iter().map(String::as_str));
        let unknown =
            arguments::refuse_unknown(assignments, known.chain(read.iter().map(String::as_str)));
        match unknown {
            // Files in Python that a condition leaves out may take the argument.
            Err(error) if session.is_started() && evaluator.left_out => {
                evaluator.warn_of(&error);
            }
            known => known?,
        }
        self.unless_signalled(Ok(evaluator.into_plan(file)))
    }

    /// The result, or the signal that ends the planning.
    fn unless_signalled<T>(&self, result: Result<T, LaunchError>) -> Result<T, LaunchError> {
        self.signals.received().map_or(result, |signal| Err(LaunchError::Signal(signal)))
    }

    /// The arguments of a launch file and of the files that it includes, except files whose paths
    /// are not known before evaluation.
    ///
    /// # Errors
    /// Fails with a [`LaunchError`] if the file itself cannot be read, or if a signal ended the
    /// planning.
    pub fn arguments(
        &self,
        file: &Path,
        assignments: &[(String, String)],
    ) -> Result<Vec<Argument>, LaunchError> {
        let session = self.session();
        let evaluator =
            Evaluator::new(Arc::clone(&self.packages), Arc::clone(&session), file, assignments);
        let launch_file = self.unless_signalled(evaluator.launch_file(file, None, None))?;
        let survey =
            arguments::survey(&self.packages, &session, file, &launch_file, assignments, true);
        self.unless_signalled(Ok(survey.arguments))
    }

    /// The XML form of a launch file in any language, in which substitutions and conditions stay.
    ///
    /// # Errors
    /// Fails with a [`LaunchError`] that names the actions and values that have no XML form, such
    /// as functions and handlers of events; if the file cannot be read; or if a signal arrived.
    pub fn to_xml(&self, file: &Path) -> Result<String, LaunchError> {
        let session = self.session();
        let evaluator = Evaluator::new(Arc::clone(&self.packages), session, file, &[]);
        let launch_file = self.unless_signalled(evaluator.launch_file(file, None, None))?;
        self.unless_signalled(xml_form(file, &launch_file.items))
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
        let session = Arc::<Session>::default();
        let mut evaluator = Evaluator::new(Arc::clone(&self.packages), session, file, assignments);
        evaluator.plan_file(&items)?;
        Ok(evaluator.into_plan(file))
    }

    /// Plans the actions in a line of JSON that Python would hand over. This function is for tests
    /// with hostile data, so it starts no Python and runs no commands.
    ///
    /// # Errors
    /// Fails like [`Planner::plan`].
    pub fn plan_data(&self, file: &Path, line: &[u8]) -> Result<Plan, LaunchError> {
        let actions = handed_over(file, line)?;
        let session = Arc::<Session>::default();
        let mut evaluator = Evaluator::new(Arc::clone(&self.packages), session, file, &[]);
        evaluator.plan_file(&actions.items)?;
        Ok(evaluator.into_plan(file))
    }

    /// The XML form of such a line.
    ///
    /// # Errors
    /// Fails like [`Planner::to_xml`].
    pub fn data_to_xml(&self, file: &Path, line: &[u8]) -> Result<String, LaunchError> {
        xml_form(file, &handed_over(file, line)?.items)
    }
}

/// The actions in a line from Python.
fn handed_over(file: &Path, line: &[u8]) -> Result<LaunchFile, LaunchError> {
    let at = Position::new(&file.into(), 1, 1);
    let refused = |problem: String| LaunchError::at(&at, problem);
    match Line::parse(line).map_err(refused)? {
        Line::Done(done) => {
            let _ = Changes::from_json(&done).map_err(refused)?;
            Decoder::default().launch_file(done.get("entities").unwrap_or(&Json::Null), &at)
        }
        Line::Failed(failed) => Err(refused(Failure::from_json(&failed).problem)),
        Line::Question { name, .. } => Err(refused(format!("the question {}", shown(&name)))),
    }
}

//! Evaluates substitutions.

use std::path::{Path, PathBuf};

use super::command::{self, OnStderr};
use super::evaluator::{Commands, Evaluator, MAX_TEXT_BYTES, folder_of};
use super::log_folder::log_folder;
use crate::action::Condition;
use crate::error::{LaunchError, hint, shown};
use crate::expression;
use crate::packages::{FindError, is_executable};
use crate::position::Position;
use crate::substitution::{Call, Kind, Part, Template};
use crate::tree::{self, Language};

impl Evaluator {
    /// Evaluates a template. A text with a mistake is a placeholder, if planning goes on.
    pub(super) fn text(&self, template: &Template) -> Result<String, LaunchError> {
        let mut text = String::new();
        for part in &template.parts {
            text.push_str(&self.part(part)?);
            if text.len() > MAX_TEXT_BYTES {
                let problem =
                    format!("{} gives more than {MAX_TEXT_BYTES} bytes", shown(&template.source));
                return self.text_or_placeholder(Err(LaunchError::at(&template.at, problem)));
            }
        }
        if self.is_unknown(&text) { Ok(self.placeholder()) } else { Ok(text) }
    }

    pub(super) fn part(&self, part: &Part) -> Result<String, LaunchError> {
        match part {
            Part::Text(text) => Ok(text.clone()),
            Part::Call(call) => self.text_or_placeholder(self.call(call)),
            Part::Object(object) => self.text_or_placeholder(self.perform(object.id, &object.at)),
        }
    }

    /// Evaluates pairs of templates, such as names and values.
    pub(super) fn pairs(
        &self,
        pairs: &[(Template, Template)],
    ) -> Result<Vec<(String, String)>, LaunchError> {
        pairs.iter().map(|(first, second)| Ok((self.text(first)?, self.text(second)?))).collect()
    }

    pub(super) fn optional_text(
        &self,
        template: Option<&Template>,
    ) -> Result<Option<String>, LaunchError> {
        template.map(|template| self.text(template)).transpose()
    }

    /// Evaluates a template that must be a boolean, as conditions and `$(not ...)` need it.
    pub(super) fn truth(&self, template: &Template) -> Result<bool, LaunchError> {
        let text = self.known_text(template)?;
        parse_truth(&text).ok_or_else(|| {
            let from = if template.as_text().is_some() {
                String::new()
            } else {
                format!(" (from {})", shown(&template.source))
            };
            let problem =
                format!("{}{from} is not a boolean: expected true, false, 1 or 0", shown(&text));
            LaunchError::at(&template.at, problem)
        })
    }

    pub(super) fn optional_truth(
        &self,
        template: Option<&Template>,
        default: bool,
    ) -> Result<bool, LaunchError> {
        template.map_or(Ok(default), |template| self.truth(template))
    }

    /// Whether an action with this condition is performed.
    pub(super) fn holds(&self, condition: Option<&Condition>) -> Result<bool, LaunchError> {
        match condition {
            None => Ok(true),
            Some(Condition::Truth { value, negated }) => Ok(self.truth(value)? != *negated),
            Some(Condition::Equals { name, expected, negated }) => {
                let expected = expected.as_ref().map(|expected| self.known_text(expected));
                let (value, expected) =
                    (self.scope.configurations.get(name), expected.transpose()?);
                let is_unknown = match &value {
                    Some(value) => self.is_unknown(value),
                    None => self.python.may_lack_variables(),
                };
                if is_unknown {
                    let here = Position::new(&self.file().into(), 1, 1);
                    return Err(self.unknown(&here));
                }
                Ok((value == expected) != *negated)
            }
            Some(Condition::Python { id, at }) => self.python_holds(*id, at),
        }
    }

    fn call(&self, call: &Call) -> Result<String, LaunchError> {
        let fail = |problem: String| LaunchError::at(&call.at, problem);
        let argument = |index: usize| self.known_text(&call.arguments[index]);
        match call.kind {
            Kind::Var => {
                let configurations = &self.scope.configurations;
                let missing = |name: &str| {
                    self.python.note_missing();
                    let known = configurations.all();
                    let known = hint(name, known.keys().map(String::as_str));
                    format!("there is no argument or variable {}{known}", shown(name))
                };
                self.variable(call, |name| configurations.get(name), missing)
            }
            Kind::Env | Kind::OptionalEnv => self.environment_variable(call),
            Kind::FindPackageShare
            | Kind::FindPackagePrefix
            | Kind::FindPackageFile
            | Kind::ExecutableInPackage
            | Kind::FindExecutable
            | Kind::Directory
            | Kind::File
            | Kind::PathJoin
            | Kind::LogFolder
            | Kind::LaunchLogFolder => Ok(self.path(call)?.display().to_string()),
            Kind::FileContent => tree::read_text(&self.resolve(&argument(0)?), Some(&call.at)),
            Kind::Command => self.command(call),
            Kind::Parameter => {
                let name = argument(0)?;
                match (self.scope.parameter(&name), call.arguments.get(1)) {
                    (Some(value), _) => Ok(value.as_python()),
                    (None, Some(default)) => self.text(default),
                    (None, None) => {
                        self.python.note_missing_setting();
                        Err(fail(format!("no earlier `set_parameter` sets {}", shown(&name))))
                    }
                }
            }
            // The number of a loop's iteration.
            Kind::Index => {
                self.loop_variable(call, |name| format!("there is no `for` named {name}"))
            }
            // A value of the current iteration.
            Kind::ForVariable => {
                self.loop_variable(call, |name| format!("no `for_each` gives {name} here"))
            }
            Kind::Anonymous => Ok(self.anonymous(&argument(0)?)),
            Kind::Eval => {
                let text = argument(0)?;
                match (expression::evaluate(&text), call.object) {
                    (Ok(value), _) => Ok(value),
                    (Err(_), Some(id)) => self.perform(id, &call.at),
                    (Err(problem), None) => {
                        Err(fail(format!("{problem}, in the expression {}", shown(&text))))
                    }
                }
            }
            Kind::Not
            | Kind::And
            | Kind::Or
            | Kind::Any
            | Kind::All
            | Kind::Equals
            | Kind::NotEquals
            | Kind::IsEmpty
            | Kind::NotEmpty => Ok(self.verdict(call)?.to_string()),
            Kind::If => match (self.truth(&call.arguments[0])?, call.arguments.get(2)) {
                (true, _) => argument(1),
                (false, Some(otherwise)) => self.text(otherwise),
                (false, None) => Ok(String::new()),
            },
            Kind::StringJoin => {
                let texts =
                    (1..call.arguments.len()).map(|index| self.text(&call.arguments[index]));
                Ok(texts.collect::<Result<Vec<_>, _>>()?.join(&argument(0)?))
            }
            Kind::StringStrip => Ok(argument(0)?.trim().to_owned()),
        }
    }

    /// Evaluates a substitution whose value is a file or folder.
    fn path(&self, call: &Call) -> Result<PathBuf, LaunchError> {
        let fail = |problem: String| LaunchError::at(&call.at, problem);
        let argument = |index: usize| self.known_text(&call.arguments[index]);
        let packages = &self.packages;
        let found =
            |result: Result<PathBuf, FindError>| result.map_err(|error| fail(error.to_string()));
        match call.kind {
            Kind::FindPackageShare => found(packages.share(&argument(0)?)),
            Kind::FindPackagePrefix => found(packages.prefix(&argument(0)?).map(Path::to_path_buf)),
            Kind::FindPackageFile => {
                let (package, path) = (argument(0)?, argument(1)?);
                let file = found(packages.share(&package))?.join(path);
                if file.exists() {
                    Ok(file)
                } else {
                    let missing = file.display();
                    Err(fail(format!("the package {} has no {missing}", shown(&package))))
                }
            }
            Kind::ExecutableInPackage => found(packages.executable(&argument(1)?, &argument(0)?)),
            Kind::FindExecutable => {
                let name = argument(0)?;
                let path = self.find_on_path(&name);
                path.ok_or_else(|| fail(format!("there is no {} in PATH", shown(&name))))
            }
            Kind::Directory => Ok(absolute(folder_of(self.file()))),
            Kind::File => Ok(absolute(self.file())),
            Kind::PathJoin => call.arguments.iter().map(|part| self.text(part)).collect(),
            _ => {
                let folder = log_folder(|name| std::env::var(name).ok());
                let missing = || fail("there is no folder for logs: set ROS_LOG_DIR".to_owned());
                Ok(absolute(&folder.ok_or_else(missing)?))
            }
        }
    }

    /// Evaluates a substitution whose value is true or false.
    fn verdict(&self, call: &Call) -> Result<bool, LaunchError> {
        let text = |index: usize| self.known_text(&call.arguments[index]);
        let truth = |index: usize| self.truth(&call.arguments[index]);
        // All arguments are evaluated, so that the first argument does not hide a mistake in the
        // second.
        let truths = || (0..call.arguments.len()).map(truth).collect::<Result<Vec<_>, _>>();
        Ok(match call.kind {
            Kind::Not => !truth(0)?,
            Kind::And | Kind::All => !truths()?.contains(&false),
            Kind::Or | Kind::Any => truths()?.contains(&true),
            Kind::Equals => are_equal(&text(0)?, &text(1)?),
            Kind::NotEquals => !are_equal(&text(0)?, &text(1)?),
            Kind::NotEmpty => !text(0)?.is_empty(),
            _ => text(0)?.is_empty(),
        })
    }

    /// Evaluates `$(command ...)`: the output of a command.
    fn command(&self, call: &Call) -> Result<String, LaunchError> {
        let fail = |problem: String| LaunchError::at(&call.at, problem);
        let line = self.known_text(&call.arguments[0])?;
        let on_stderr = self.optional_text(call.arguments.get(1))?;
        let on_stderr =
            OnStderr::from_name(on_stderr.as_deref().unwrap_or("fail")).map_err(fail)?;
        match self.commands.get() {
            Commands::Run => {}
            Commands::Shown => return Ok(format!("$(command {})", shown(&line))),
            Commands::Refused => {
                return Err(fail(format!(
                    "the command {} is not run here, because the file is only inspected",
                    shown(&line)
                )));
            }
        }
        let environment = self.scope.environment.all();
        let printed = command::run(&line, on_stderr, environment.iter(), &self.signals);
        let printed = printed.map_err(fail)?;
        if let Some(warning) = &printed.warning {
            self.warn(&call.at, warning);
        }
        Ok(printed.text)
    }

    /// Evaluates the name of a variable of a loop, with its default.
    fn loop_variable(
        &self,
        call: &Call,
        problem: impl FnOnce(&str) -> String,
    ) -> Result<String, LaunchError> {
        let variables = &self.scope.loop_variables;
        let missing =
            |name: &str| problem(&shown(name)) + &hint(name, variables.keys().map(String::as_str));
        self.variable(call, |name| variables.get(name).cloned(), missing)
    }

    /// Evaluates the name of a variable, with its default.
    fn variable(
        &self,
        call: &Call,
        value_of: impl FnOnce(&str) -> Option<String>,
        missing: impl FnOnce(&str) -> String,
    ) -> Result<String, LaunchError> {
        let name = self.known_text(&call.arguments[0])?;
        match (value_of(&name), call.arguments.get(1)) {
            (Some(value), _) => Ok(value),
            (None, Some(default)) => self.text(default),
            (None, None) => Err(LaunchError::at(&call.at, missing(&name))),
        }
    }

    fn environment_variable(&self, call: &Call) -> Result<String, LaunchError> {
        let name = self.known_text(&call.arguments[0])?;
        match (self.scope.variable(&name), call.arguments.get(1)) {
            (Some(value), _) => Ok(value),
            (None, Some(default)) => self.text(default),
            (None, None) if call.kind == Kind::OptionalEnv => Ok(String::new()),
            (None, None) => {
                self.python.note_missing_setting();
                let default = match Language::of(&call.at.file) {
                    Some(Language::Python) => "EnvironmentVariable(NAME, default_value=DEFAULT)",
                    _ => "$(env NAME DEFAULT)",
                };
                let problem =
                    format!("the environment has no {}: set it, or write {default}", shown(&name));
                Err(LaunchError::at(&call.at, problem))
            }
        }
    }

    fn find_on_path(&self, name: &str) -> Option<PathBuf> {
        let path = self.scope.variable("PATH")?;
        let mut paths = std::env::split_paths(&path).map(|folder| folder.join(name));
        paths.find(|path| is_executable(path))
    }
}

/// Parses a boolean in upper or lower case.
pub(super) fn parse_truth(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// Compares booleans and numbers by value, and other values as strings.
fn are_equal(left: &str, right: &str) -> bool {
    let truth = |text: &str| match text.to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    };
    if let (Some(left), Some(right)) = (truth(left), truth(right)) {
        return left == right;
    }
    if let (Ok(left), Ok(right)) = (left.trim().parse::<f64>(), right.trim().parse::<f64>()) {
        let tolerance = 1e-9 * left.abs().max(right.abs());
        #[expect(clippy::float_cmp, reason = "two infinities are equal")]
        return left == right || (left - right).abs() <= tolerance;
    }
    left == right
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

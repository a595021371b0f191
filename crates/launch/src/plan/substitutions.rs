//! The values of substitutions.

use std::path::{Path, PathBuf};

use super::evaluator::{Evaluator, folder_of};
use crate::action::Condition;
use crate::error::{LaunchError, hint, shown};
use crate::expression;
use crate::substitution::{Call, Kind, Part, Template};

/// The longest text that substitutions may give: `let` can double a text with each line.
const MAX_TEXT_BYTES: usize = 1 << 20;

impl Evaluator<'_> {
    /// The text of a template.
    pub(super) fn text(&self, template: &Template) -> Result<String, LaunchError> {
        let mut text = String::new();
        for part in &template.parts {
            text.push_str(&self.part(part)?);
            if text.len() > MAX_TEXT_BYTES {
                let problem =
                    format!("{} gives more than {MAX_TEXT_BYTES} bytes", shown(&template.source));
                return Err(LaunchError::at(&template.at, problem));
            }
        }
        Ok(text)
    }

    pub(super) fn part(&self, part: &Part) -> Result<String, LaunchError> {
        match part {
            Part::Text(text) => Ok(text.clone()),
            Part::Call(call) => self.call(call),
        }
    }

    pub(super) fn optional_text(
        &self,
        template: Option<&Template>,
    ) -> Result<Option<String>, LaunchError> {
        template.map(|template| self.text(template)).transpose()
    }

    /// A truth value, as conditions and `$(not ...)` want it.
    pub(super) fn truth(&self, template: &Template) -> Result<bool, LaunchError> {
        let text = self.text(template)?;
        parse_truth(&text).ok_or_else(|| {
            let from = if template.as_text().is_some() {
                String::new()
            } else {
                format!(" (from {})", shown(&template.source))
            };
            let problem = format!(
                "{}{from} where a truth value stands: expected true, false, 1 or 0",
                shown(&text)
            );
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

    /// Whether an action is done under this condition.
    pub(super) fn holds(&self, condition: Option<&Condition>) -> Result<bool, LaunchError> {
        condition
            .map_or(Ok(true), |condition| Ok(self.truth(&condition.value)? != condition.negated))
    }

    fn call(&self, call: &Call) -> Result<String, LaunchError> {
        let fail = |problem: String| LaunchError::at(&call.at, problem);
        let argument = |index: usize| self.text(&call.arguments[index]);
        let truth = |index: usize| self.truth(&call.arguments[index]);
        let found = |path: &Path| path.display().to_string();
        match call.kind {
            Kind::Var => self.configuration(call),
            Kind::Env | Kind::OptionalEnv => self.environment_variable(call),
            Kind::FindPackageShare => self
                .packages()
                .share(&argument(0)?)
                .map(|path| found(&path))
                .map_err(|error| fail(error.to_string())),
            Kind::FindPackagePrefix => self
                .packages()
                .prefix(&argument(0)?)
                .map(found)
                .map_err(|error| fail(error.to_string())),
            Kind::ExecutableInPackage => {
                let path = self.packages().executable(&argument(1)?, &argument(0)?);
                path.map(|path| found(&path)).map_err(|error| fail(error.to_string()))
            }
            Kind::FindExecutable => {
                let name = argument(0)?;
                let path = self
                    .find_on_path(&name)
                    .ok_or_else(|| fail(format!("there is no {} in PATH", shown(&name))))?;
                Ok(found(&path))
            }
            Kind::Directory => Ok(found(&absolute(folder_of(self.file())))),
            Kind::File => Ok(found(&absolute(self.file()))),
            Kind::Index => self.index(call),
            Kind::Anonymous => Ok(self.anonymous(&argument(0)?)),
            Kind::Eval => {
                let text = argument(0)?;
                expression::evaluate(&text).map_err(|problem| {
                    fail(format!("{problem}, in the expression {}", shown(&text)))
                })
            }
            Kind::Not => Ok((!truth(0)?).to_string()),
            // Both are evaluated, so that a mistake in the second is not hidden by the first.
            Kind::And => Ok((truth(0)? & truth(1)?).to_string()),
            Kind::Or => Ok((truth(0)? | truth(1)?).to_string()),
            Kind::Any | Kind::All => {
                let truths = call
                    .arguments
                    .iter()
                    .map(|argument| self.truth(argument))
                    .collect::<Result<Vec<_>, _>>()?;
                let holds = if call.kind == Kind::Any {
                    truths.contains(&true)
                } else {
                    !truths.contains(&false)
                };
                Ok(holds.to_string())
            }
            Kind::Equals => Ok(are_equal(&argument(0)?, &argument(1)?).to_string()),
            Kind::NotEquals => Ok((!are_equal(&argument(0)?, &argument(1)?)).to_string()),
            Kind::If => match (truth(0)?, call.arguments.get(2)) {
                (true, _) => argument(1),
                (false, Some(otherwise)) => self.text(otherwise),
                (false, None) => Ok(String::new()),
            },
        }
    }

    fn configuration(&self, call: &Call) -> Result<String, LaunchError> {
        let name = self.text(&call.arguments[0])?;
        if let Some(value) = self.scope().configurations.get(&name) {
            return Ok(value.clone());
        }
        match call.arguments.get(1) {
            Some(default) => self.text(default),
            None => {
                let known = hint(&name, self.scope().configurations.keys().map(String::as_str));
                Err(LaunchError::at(
                    &call.at,
                    format!("there is no argument or variable {}{known}", shown(&name)),
                ))
            }
        }
    }

    /// The number of the round of a loop.
    fn index(&self, call: &Call) -> Result<String, LaunchError> {
        let name = self.text(&call.arguments[0])?;
        let indices = &self.scope().indices;
        indices.get(&name).map(ToString::to_string).ok_or_else(|| {
            let known = hint(&name, indices.keys().map(String::as_str));
            LaunchError::at(&call.at, format!("there is no `for` named {}{known}", shown(&name)))
        })
    }

    fn environment_variable(&self, call: &Call) -> Result<String, LaunchError> {
        let name = self.text(&call.arguments[0])?;
        match (self.scope().variable(&name), call.arguments.get(1)) {
            (Some(value), _) => Ok(value),
            (None, Some(default)) => self.text(default),
            (None, None) if call.kind == Kind::OptionalEnv => Ok(String::new()),
            (None, None) => {
                let problem = format!(
                    "the environment has no {}: set it, or write $(env NAME DEFAULT)",
                    shown(&name)
                );
                Err(LaunchError::at(&call.at, problem))
            }
        }
    }

    fn find_on_path(&self, name: &str) -> Option<PathBuf> {
        use std::os::unix::fs::PermissionsExt as _;
        let path = self.scope().variable("PATH")?;
        let is_executable = |path: &PathBuf| {
            path.metadata().is_ok_and(|metadata| {
                metadata.is_file() && metadata.permissions().mode() & 0o111 != 0
            })
        };
        std::env::split_paths(&path).map(|folder| folder.join(name)).find(is_executable)
    }
}

/// The truth value of a text, in any case of its letters.
pub(super) fn parse_truth(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "on" => Some(true),
        "false" | "0" | "no" | "off" => Some(false),
        _ => None,
    }
}

/// Truth values and numbers are equal as such, all else as text.
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

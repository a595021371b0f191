//! The arguments that a launch file takes. They are collected without evaluating conditions, and
//! compared with the given arguments (`launch/launch/launch_description.py`,
//! `get_launch_arguments`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::evaluator::Evaluator;
use crate::action::{
    Action, Body, Declaration, ForEach, Group, Item, LaunchFile, Loop, Source, Timer,
};
use crate::error::LaunchError;
use crate::packages::Packages;
use crate::python::Session;

/// An argument that a launch file takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Argument {
    /// The name.
    pub name: String,
    /// The default as written in the file, if it has one.
    pub default: Option<String>,
    /// The purpose of the argument.
    pub description: Option<String>,
    /// The allowed values of the argument; empty if any value is allowed.
    pub choices: Vec<String>,
    /// Whether the declaration of the argument depends on a condition.
    pub is_conditional: bool,
}

/// The arguments that every launch file takes.
const EVERYWHERE: [&str; 5] =
    ["launch-prefix", "launch-prefix-filter", "sigterm_timeout", "sigkill_timeout", "emulate_tty"];

/// Splits `name:=value` words.
///
/// # Errors
/// Fails with [`LaunchError::Argument`] for a word in another form, or for a name that is given
/// twice.
pub fn parse_assignments<S: AsRef<str>>(words: &[S]) -> Result<Vec<(String, String)>, LaunchError> {
    let mut assignments: Vec<(String, String)> = Vec::new();
    for word in words.iter().map(AsRef::as_ref) {
        let Some((name, value)) = word.split_once(":=").filter(|(name, _)| !name.is_empty()) else {
            let instead = match word.split_once('=') {
                Some((name, value)) if !name.trim_end_matches(':').is_empty() => {
                    format!("; did you mean {name}:={value}?")
                }
                _ => String::new(),
            };
            return Err(LaunchError::Argument(format!(
                "`{word}` is not an argument of the form name:=value{instead}"
            )));
        };
        if assignments.iter().any(|(known, _)| known == name) {
            return Err(LaunchError::Argument(format!("the argument `{name}` is given twice")));
        }
        assignments.push((name.to_owned(), value.to_owned()));
    }
    Ok(assignments)
}

pub(super) fn refuse_unknown<'a>(
    assignments: &[(String, String)],
    known: impl Iterator<Item = &'a str>,
) -> Result<(), LaunchError> {
    let mut known: Vec<&str> = known.collect();
    let is_unknown = |name: &str| !known.contains(&name) && !EVERYWHERE.contains(&name);
    let Some((name, _)) = assignments.iter().find(|(name, _)| is_unknown(name)) else {
        return Ok(());
    };
    known.sort_unstable();
    known.dedup();
    let all = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
    let cure = match feros_wording::did_you_mean(name, known.iter().copied()) {
        nearest if nearest.is_empty() => format!(": it takes {all}"),
        nearest => format!("{nearest} (it takes {all})"),
    };
    Err(LaunchError::Argument(format!("the launch file takes no argument `{name}`{cure}")))
}

/// The arguments and variables found in a launch file and the files that it includes.
pub(super) struct Survey {
    pub(super) arguments: Vec<Argument>,
    /// The names that the files read, declared or not: a value for such a name has an effect.
    variables: BTreeSet<String>,
    /// Whether every included file could be read.
    pub(super) is_complete: bool,
}

impl Survey {
    /// The names that the files declare.
    fn declared(&self) -> impl Iterator<Item = &str> {
        self.arguments.iter().map(|argument| argument.name.as_str())
    }

    /// The names that the command line may set.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.declared().chain(self.variables.iter().map(String::as_str))
    }
}

/// Surveys a launch file. `loads_python` says whether included files in Python are read as well,
/// which runs their code.
pub(super) fn survey(
    packages: &Arc<Packages>,
    session: &Arc<Session>,
    file: &Path,
    launch_file: &LaunchFile,
    assignments: &[(String, String)],
    loads_python: bool,
) -> Survey {
    let mut surveyor = Surveyor {
        evaluator: Evaluator::new(Arc::clone(packages), Arc::clone(session), file, assignments),
        survey: Survey {
            arguments: Vec::new(),
            variables: launch_file.variables.clone(),
            is_complete: !launch_file.reads_more,
        },
        given: Vec::new(),
        loads_python,
    };
    surveyor.items(&launch_file.items, false);
    surveyor.survey
}

struct Surveyor {
    evaluator: Evaluator,
    survey: Survey,
    /// The arguments that enclosing includes set, and that the command line therefore cannot set.
    given: Vec<String>,
    loads_python: bool,
}

impl Surveyor {
    fn items(&mut self, items: &[Item], is_conditional: bool) {
        for item in items {
            self.item(item, is_conditional || item.condition.is_some());
        }
    }

    fn item(&mut self, item: &Item, is_conditional: bool) {
        match &item.action {
            Action::Argument(declaration) => self.argument(declaration, is_conditional),
            Action::Let { name, value } => {
                if let (Ok(name), Ok(value)) =
                    (self.evaluator.text(name), self.evaluator.text(value))
                {
                    self.evaluator.scope.configurations.insert(name, value);
                }
            }
            Action::Group(Group { actions, .. })
            | Action::Timer(Timer { actions, .. })
            | Action::For(Loop { body: Body::Actions(actions), .. })
            | Action::ForEach(ForEach { body: Body::Actions(actions), .. }) => {
                let before = self.evaluator.scope.clone();
                self.items(actions, is_conditional);
                self.evaluator.scope = before;
            }
            Action::Include { source, arguments } => {
                let names = arguments.iter().filter_map(|(name, _)| self.evaluator.text(name).ok());
                let names: Vec<String> = names.collect();
                self.survey.is_complete &= match source {
                    Source::Actions(items) => {
                        self.with_given(names, |surveyor| surveyor.items(items, is_conditional));
                        true
                    }
                    // The path may depend on an argument that has no value yet. Such a file is
                    // read when it is included.
                    Source::File { .. } => match self.included(source) {
                        Some((path, items)) => self.include(path, &items, names, is_conditional),
                        None => false,
                    },
                };
            }
            // The arguments of a reaction count when its event occurs.
            Action::Register(_) => self.survey.is_complete = false,
            // Only Python knows what they contain.
            Action::Python { .. }
            | Action::For(Loop { body: Body::Python(_), .. })
            | Action::ForEach(ForEach { body: Body::Python(_), .. }) => {
                self.survey.is_complete = false;
            }
            // These contain no actions. The list is complete, so a new action does not compile
            // until it is considered here.
            Action::Unset { .. }
            | Action::SetEnvironment { .. }
            | Action::AppendEnvironment { .. }
            | Action::UnsetEnvironment { .. }
            | Action::PushNamespace(_)
            | Action::SetParameter(_)
            | Action::SetParametersFromFile(_)
            | Action::SetRemap { .. }
            | Action::Executable(_)
            | Action::Node(_)
            | Action::Load { .. }
            | Action::Log { .. }
            | Action::SetUseSimTime(_)
            | Action::PushEnvironment
            | Action::PopEnvironment
            | Action::ResetEnvironment
            | Action::SetLogFolder(_)
            | Action::Reset { .. }
            | Action::PushConfigurations
            | Action::PopConfigurations
            | Action::Signal { .. }
            | Action::CancelTimer(_)
            | Action::Change { .. }
            | Action::Unregister(_)
            | Action::Emit { .. }
            | Action::Shutdown { .. } => {}
        }
    }

    /// Reads an included file; `None` if it cannot be read yet.
    fn included(&mut self, source: &Source) -> Option<(PathBuf, Vec<Item>)> {
        let Source::File { path, language } = source else { return None };
        let path = self.evaluator.resolve(&self.evaluator.text(path).ok()?);
        if self.evaluator.python.reads(&path, *language) && !self.loads_python {
            return None;
        }
        let file = self.evaluator.launch_file(&path, *language, None).ok()?;
        self.survey.variables.extend(file.variables);
        self.survey.is_complete &= !file.reads_more;
        Some((path, file.items))
    }

    fn include(
        &mut self,
        path: PathBuf,
        items: &[Item],
        names: Vec<String>,
        is_conditional: bool,
    ) -> bool {
        let entered = self.evaluator.enter(path);
        if entered {
            self.with_given(names, |surveyor| surveyor.items(items, is_conditional));
            self.evaluator.files.pop();
        }
        entered
    }

    /// Surveys actions for which an include sets these arguments.
    fn with_given(&mut self, names: Vec<String>, survey: impl FnOnce(&mut Self)) {
        let before = self.given.len();
        self.given.extend(names);
        survey(self);
        self.given.truncate(before);
    }

    fn argument(&mut self, declaration: &Declaration, is_conditional: bool) {
        let Declaration { name, default, description, choices } = declaration;
        let is_known = self.evaluator.scope.configurations.get(name).is_some();
        let value = default
            .as_ref()
            .filter(|_| !is_known)
            .and_then(|default| self.evaluator.text(default).ok());
        if let Some(value) = value {
            self.evaluator.scope.configurations.insert(name.clone(), value);
        }
        if self.given.contains(name) || self.survey.declared().any(|known| known == name) {
            return;
        }
        self.survey.arguments.push(Argument {
            name: name.clone(),
            default: default.as_ref().map(|default| default.source.clone()),
            description: description.clone(),
            choices: choices.clone(),
            is_conditional,
        });
    }
}

//! The arguments that a launch file takes. They are collected without evaluating conditions, and
//! compared with the given arguments (`launch/launch/launch_description.py`,
//! `get_launch_arguments`).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::evaluator::Evaluator;
use crate::action::{self, Action, Declaration, ForEach, Group, Item, LaunchFile, Loop, Timer};
use crate::error::{LaunchError, hint};
use crate::packages::Packages;

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
    let cure = if known.is_empty() {
        ": it takes none".to_owned()
    } else {
        let nearest = hint(name, known.iter().copied());
        if nearest.contains("did you mean") {
            format!("{nearest} (it takes {})", known.join(", "))
        } else {
            format!(": it takes {}", known.join(", "))
        }
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

pub(super) fn survey(
    packages: &Packages,
    file: &Path,
    launch_file: &LaunchFile,
    assignments: &[(String, String)],
) -> Survey {
    let mut surveyor = Surveyor {
        evaluator: Evaluator::new(packages, file, assignments),
        survey: Survey {
            arguments: Vec::new(),
            variables: launch_file.variables.clone(),
            is_complete: true,
        },
        given: Vec::new(),
    };
    surveyor.items(&launch_file.items, false);
    surveyor.survey
}

struct Surveyor<'a> {
    evaluator: Evaluator<'a>,
    survey: Survey,
    /// The arguments that enclosing includes set, and that the command line therefore cannot set.
    given: Vec<String>,
}

impl Surveyor<'_> {
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
            | Action::For(Loop { actions, .. })
            | Action::ForEach(ForEach { actions, .. })
            | Action::Timer(Timer { actions, .. }) => {
                let before = self.evaluator.scope.clone();
                self.items(actions, is_conditional);
                self.evaluator.scope = before;
            }
            Action::Include { file, arguments } => {
                // The path may depend on an argument that has no value yet. Such a file is read
                // when it is included.
                let looked = self.evaluator.text(file).ok().and_then(|path| {
                    let path = self.evaluator.resolve(&path);
                    let LaunchFile { items, variables } = action::read_file(&path, None).ok()?;
                    self.survey.variables.extend(variables);
                    let names: Vec<String> = arguments
                        .iter()
                        .filter_map(|(name, _)| self.evaluator.text(name).ok())
                        .collect();
                    Some((path, items, names))
                });
                self.survey.is_complete &= match looked {
                    Some((path, items, names)) => self.include(path, &items, names, is_conditional),
                    None => false,
                };
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
            | Action::Shutdown { .. } => {}
        }
    }

    fn include(
        &mut self,
        path: PathBuf,
        items: &[Item],
        names: Vec<String>,
        is_conditional: bool,
    ) -> bool {
        let before = self.given.len();
        self.given.extend(names);
        let entered = self.evaluator.enter(path);
        if entered {
            self.items(items, is_conditional);
            self.evaluator.files.pop();
        }
        self.given.truncate(before);
        entered
    }

    fn argument(&mut self, declaration: &Declaration, is_conditional: bool) {
        let Declaration { name, default, description, choices } = declaration;
        let is_known = self.evaluator.scope.configurations.contains_key(name);
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

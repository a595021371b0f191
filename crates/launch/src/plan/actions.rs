//! Evaluates actions in order, with what they change, into the steps of a plan.

use super::evaluator::{Evaluator, MAX_DEPTH, MAX_INCLUDES};
use super::scope::{Scope, check_namespace, check_variable, joined_namespace};
use super::steps::Step;
use crate::action::{self, Action, Declaration, Group, Item};
use crate::error::{LaunchError, shown};
use crate::position::Position;
use crate::substitution::Template;

/// The most actions that may be evaluated.
const MAX_ACTIONS: usize = 1_000_000;

impl Evaluator<'_> {
    pub(super) fn items(&mut self, items: &[Item]) -> Result<(), LaunchError> {
        for item in items {
            self.action_count += 1;
            if self.action_count > MAX_ACTIONS {
                return Err(LaunchError::at(
                    &item.at,
                    format!("more than {MAX_ACTIONS} actions, with all included files"),
                ));
            }
            if self.holds(item.condition.as_ref())? {
                self.action(item)?;
            } else if let Action::Argument(declaration) = &item.action {
                self.declared.insert(declaration.name.clone());
            }
        }
        Ok(())
    }

    fn action(&mut self, item: &Item) -> Result<(), LaunchError> {
        match &item.action {
            Action::Argument(declaration) => self.argument(declaration, &item.at),
            Action::Let { name, value } => {
                let (name, value) = (self.text(name)?, self.text(value)?);
                self.scope.configurations.insert(name, value);
                Ok(())
            }
            Action::Unset { name } => {
                let name = self.text(name)?;
                self.scope.configurations.remove(&name);
                Ok(())
            }
            Action::SetEnvironment { name, value } => {
                let value = self.text(value)?;
                self.set_variable(name, Some(value))
            }
            Action::UnsetEnvironment { name } => self.set_variable(name, None),
            Action::AppendEnvironment { name, value, prepend, separator } => {
                let (added, separator) =
                    (self.text(value)?, self.optional_text(separator.as_ref())?);
                let prepend = self.optional_truth(prepend.as_ref(), false)?;
                let before = self.scope.variable(&self.text(name)?);
                let separator = separator.unwrap_or_else(|| ":".to_owned());
                let value = match before {
                    None => added,
                    Some(before) if prepend => format!("{added}{separator}{before}"),
                    Some(before) => format!("{before}{separator}{added}"),
                };
                self.set_variable(name, Some(value))
            }
            Action::PushNamespace(namespace) => self.push_namespace(namespace),
            Action::SetParameter(entry) => self.set_parameter(entry),
            Action::SetParametersFromFile(path) => self.set_parameters_from_file(path),
            Action::SetRemap { from, to } => {
                let remap = (self.text(from)?, self.text(to)?);
                self.scope.remaps.push(remap);
                Ok(())
            }
            Action::Group(group) => self.deeper(&item.at, |evaluator| evaluator.group(group)),
            Action::Include { file, arguments } => {
                self.deeper(&item.at, |evaluator| evaluator.include(file, arguments, &item.at))
            }
            Action::Executable(executable) => self.executable(executable, &item.at),
            Action::Node(node) => self.node(node, &item.at),
            Action::Load { target, components } => self.load(target, components, &item.at),
            Action::Log(message) => {
                let message = self.text(message)?;
                self.steps.push(Step::Log(message));
                Ok(())
            }
        }
    }

    fn deeper(
        &mut self,
        at: &Position,
        action: impl FnOnce(&mut Self) -> Result<(), LaunchError>,
    ) -> Result<(), LaunchError> {
        if self.depth >= MAX_DEPTH {
            return Err(LaunchError::at(
                at,
                format!("groups and included files are nested deeper than {MAX_DEPTH}"),
            ));
        }
        self.depth += 1;
        let result = action(self);
        self.depth -= 1;
        result
    }

    fn argument(&mut self, declaration: &Declaration, at: &Position) -> Result<(), LaunchError> {
        let Declaration { name, default, description, choices } = declaration;
        self.declared.insert(name.clone());
        let value = match (self.scope.configurations.get(name), default) {
            (Some(given), _) => given.clone(),
            (None, Some(default)) => self.text(default)?,
            (None, None) => {
                let purpose =
                    description.as_ref().map(|text| format!(" ({text})")).unwrap_or_default();
                let problem = format!(
                    "the argument `{name}`{purpose} is not given and has no default: add {name}:=VALUE"
                );
                return Err(LaunchError::at(at, problem));
            }
        };
        if !choices.is_empty() && !choices.contains(&value) {
            let problem = format!(
                "{} for the argument `{name}`: expected one of {}",
                shown(&value),
                choices.join(", ")
            );
            return Err(LaunchError::at(at, problem));
        }
        self.scope.configurations.insert(name.clone(), value);
        Ok(())
    }

    fn set_variable(&mut self, name: &Template, value: Option<String>) -> Result<(), LaunchError> {
        let text = self.text(name)?;
        check_variable(&text, value.as_deref().unwrap_or(""), &name.at)?;
        self.scope.environment.insert(text, value);
        Ok(())
    }

    fn push_namespace(&mut self, namespace: &Template) -> Result<(), LaunchError> {
        let text = self.text(namespace)?;
        let joined = joined_namespace(self.scope.namespace.as_deref(), Some(&text));
        check_namespace(joined.as_deref().unwrap_or("/"), &namespace.at)?;
        self.scope.namespace = joined;
        Ok(())
    }

    /// A group restores what it changed, unless it is not scoped; without forwarding it begins with
    /// nothing.
    fn group(&mut self, group: &Group) -> Result<(), LaunchError> {
        let is_scoped = self.optional_truth(group.scoped.as_ref(), true)?;
        let forwards = self.optional_truth(group.forwarding.as_ref(), true)?;
        let kept = group.keep.iter().map(|(name, value)| Ok((self.text(name)?, self.text(value)?)));
        let kept = kept.collect::<Result<Vec<_>, LaunchError>>()?;
        let before = is_scoped.then(|| self.scope.clone());
        if is_scoped && !forwards {
            self.scope = Scope::default();
        }
        self.scope.configurations.extend(kept);
        self.items(&group.actions)?;
        if let Some(before) = before {
            self.scope = before;
        }
        Ok(())
    }

    fn include(
        &mut self,
        file: &Template,
        arguments: &[(Template, Template)],
        at: &Position,
    ) -> Result<(), LaunchError> {
        self.include_count += 1;
        if self.include_count > MAX_INCLUDES {
            return Err(LaunchError::at(
                at,
                format!("more than {MAX_INCLUDES} files are included"),
            ));
        }
        let path = self.resolve(&self.text(file)?);
        self.refuse_cycle(&path, &file.at)?;
        let items = action::read_file(&path, Some(&file.at))?;
        for (name, value) in arguments {
            let (name, value) = (self.text(name)?, self.text(value)?);
            self.scope.configurations.insert(name, value);
        }
        self.files.push(path);
        let result = self.items(&items);
        self.files.pop();
        result
    }
}

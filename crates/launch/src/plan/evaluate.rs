//! Actions in order, with what they change, into the steps of a plan.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::scope::{Scope, joined_namespace};
use super::{Plan, Step, arguments};
use crate::action::{self, Action, Condition, Declaration, Group, Item};
use crate::error::{LaunchError, shown};
use crate::packages::Packages;
use crate::position::Position;
use crate::substitution::Template;
use crate::tree;

/// How deep groups and included files may be nested, together.
const MAX_DEPTH: usize = 100;
/// The most files that may be included, counted each time.
const MAX_INCLUDES: usize = 1000;
/// The most actions that may be looked at.
const MAX_ACTIONS: usize = 1_000_000;

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

    /// What a launch file comes to with these arguments. Files and the environment are read,
    /// nothing is started.
    ///
    /// # Errors
    /// [`LaunchError`] with the place of the first mistake; [`LaunchError::Argument`] for an
    /// argument that nothing takes.
    pub fn plan(&self, file: &Path, assignments: &[(String, String)]) -> Result<Plan, LaunchError> {
        let items = read(file, None)?;
        let survey = arguments::survey(&self.packages, file, &items, assignments);
        if survey.is_complete {
            arguments::refuse_unknown(assignments, survey.names())?;
        }
        let mut evaluator = Evaluator::new(&self.packages, file, assignments);
        evaluator.items(&items)?;
        arguments::refuse_unknown(
            assignments,
            survey.names().chain(evaluator.declared.iter().map(String::as_str)),
        )?;
        Ok(Plan { file: file.to_owned(), steps: evaluator.steps, warnings: evaluator.warnings })
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
    ) -> Result<Vec<super::Argument>, LaunchError> {
        let items = read(file, None)?;
        Ok(arguments::survey(&self.packages, file, &items, assignments).arguments)
    }

    /// Plans a file whose text is at hand, in the language that its name says. For tests of hostile
    /// texts.
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
        evaluator.items(&items)?;
        Ok(Plan { file: file.to_owned(), steps: evaluator.steps, warnings: evaluator.warnings })
    }
}

/// Reads a launch file's actions.
pub(super) fn read(file: &Path, from: Option<&Position>) -> Result<Vec<Item>, LaunchError> {
    action::parse(tree::read_file(file, from)?)
}

pub(super) struct Evaluator<'a> {
    packages: &'a Packages,
    /// The file that is evaluated and those that include it, the innermost last.
    files: Vec<PathBuf>,
    scope: Scope,
    pub(super) steps: Vec<Step>,
    pub(super) warnings: Vec<String>,
    /// The arguments that were declared so far.
    pub(super) declared: BTreeSet<String>,
    anonymous: RefCell<BTreeMap<String, String>>,
    node_names: BTreeSet<String>,
    process_count: usize,
    include_count: usize,
    action_count: usize,
    depth: usize,
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(
        packages: &'a Packages,
        file: &Path,
        assignments: &[(String, String)],
    ) -> Self {
        let scope =
            Scope { configurations: assignments.iter().cloned().collect(), ..Scope::default() };
        Self {
            packages,
            files: vec![file.to_owned()],
            scope,
            steps: Vec::new(),
            warnings: Vec::new(),
            declared: BTreeSet::new(),
            anonymous: RefCell::default(),
            node_names: BTreeSet::new(),
            process_count: 0,
            include_count: 0,
            action_count: 0,
            depth: 0,
        }
    }

    pub(super) fn packages(&self) -> &'a Packages {
        self.packages
    }

    pub(super) fn scope(&self) -> &Scope {
        &self.scope
    }

    pub(super) fn scope_mut(&mut self) -> &mut Scope {
        &mut self.scope
    }

    /// The file that is evaluated.
    pub(super) fn file(&self) -> &Path {
        self.files.last().map_or(Path::new(""), PathBuf::as_path)
    }

    /// A name that nobody else has, the same for the same text.
    pub(super) fn anonymous(&self, name: &str) -> String {
        use std::hash::{BuildHasher as _, RandomState};
        let mut names = self.anonymous.borrow_mut();
        names
            .entry(name.to_owned())
            .or_insert_with(|| {
                format!("{name}_{}_{:016x}", std::process::id(), RandomState::new().hash_one(name))
            })
            .clone()
    }

    /// The number of the next process, which its name ends with.
    pub(super) fn next_process(&mut self) -> usize {
        self.process_count += 1;
        self.process_count
    }

    /// Warns of a node's name that another node has.
    pub(super) fn note_node(&mut self, name: String, at: &Position) {
        if self.node_names.contains(&name) {
            self.warnings.push(format!("{at}: there is more than one node with the name {name}"));
        } else {
            self.node_names.insert(name);
        }
    }

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

    pub(super) fn holds(&self, condition: Option<&Condition>) -> Result<bool, LaunchError> {
        condition
            .map_or(Ok(true), |condition| Ok(self.truth(&condition.value)? != condition.negated))
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
                self.steps.push(Step::Say(message));
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
        super::nodes::check_namespace(joined.as_deref().unwrap_or("/"), &namespace.at)?;
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
        let items = read(&path, Some(&file.at))?;
        for (name, value) in arguments {
            let (name, value) = (self.text(name)?, self.text(value)?);
            self.scope.configurations.insert(name, value);
        }
        self.files.push(path);
        let result = self.items(&items);
        self.files.pop();
        result
    }

    /// A path as it is when it leads somewhere, and otherwise beside the file that names it.
    pub(super) fn resolve(&self, path: &str) -> PathBuf {
        let path = PathBuf::from(path);
        let beside = super::folder_of(self.file()).join(&path);
        if path.is_relative() && !path.exists() && beside.exists() { beside } else { path }
    }

    fn refuse_cycle(&self, path: &Path, at: &Position) -> Result<(), LaunchError> {
        let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let path = real(path);
        let Some(first) = self.files.iter().position(|file| real(file) == path) else {
            return Ok(());
        };
        let way: Vec<String> = self.files[first..]
            .iter()
            .chain([&path])
            .map(|file| file.display().to_string())
            .collect();
        Err(LaunchError::at(at, format!("a launch file includes itself: {}", way.join(" -> "))))
    }

    /// Enters a file to look at its arguments; says whether it may be entered.
    pub(super) fn enter(&mut self, file: PathBuf) -> bool {
        self.include_count += 1;
        let here = Position::new(&file.as_path().into(), 1, 1);
        let may = self.files.len() < MAX_DEPTH
            && self.include_count <= MAX_INCLUDES
            && self.refuse_cycle(&file, &here).is_ok();
        if may {
            self.files.push(file);
        }
        may
    }

    /// Leaves the file that was entered last.
    pub(super) fn leave(&mut self) {
        self.files.pop();
    }
}

/// Names and values that the system would refuse, or take for something else.
pub(super) fn check_variable(name: &str, value: &str, at: &Position) -> Result<(), LaunchError> {
    if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
        return Err(LaunchError::at(
            at,
            format!("{} cannot be an environment variable", shown(name)),
        ));
    }
    Ok(())
}

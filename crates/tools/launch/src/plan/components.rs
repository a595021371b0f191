//! Components: which container loads which of them, and whether their packages are installed. A
//! container would refuse a component of an unknown package only when all others have started.

use feros_files::PREFIX_VARIABLES;

use super::evaluator::Evaluator;
use super::scope::check_namespace;
use super::steps::{Component, Load, Process, Step};
use crate::action::{self, Target};
use crate::error::LaunchError;
use crate::position::Position;

/// Variables besides the prefixes that determine which components a container finds.
const OTHERS: [&str; 3] = ["PATH", "PYTHONPATH", "VIRTUAL_ENV"];

impl Evaluator {
    /// Evaluates the components of a container that this process starts.
    pub(super) fn load_at_start(
        &mut self,
        process: &mut Process,
        name: Option<String>,
        components: &[action::Component],
    ) -> Result<(), LaunchError> {
        let decides = |name: &str| PREFIX_VARIABLES.contains(&name) || OTHERS.contains(&name);
        let sees_the_same = !process.replaces_environment
            && !process.environment.iter().any(|(name, _)| decides(name));
        if let Some(name) = name {
            self.containers.note(name, sees_the_same);
        }
        process.components = self.components(components)?;
        let unknown = self.unknown_packages(&process.components);
        LaunchError::of_all(if sees_the_same { unknown } else { Vec::new() })
    }

    pub(super) fn load(
        &mut self,
        target: &Target,
        components: &[action::Component],
        at: &Position,
    ) -> Result<(), LaunchError> {
        let (name, place) = match target {
            Target::Name(template) => (self.text(template)?, &template.at),
            Target::Action(id) => (
                self.python.container(*id).ok_or_else(|| {
                    self.python.note_missing_setting();
                    let problem = "the target container has not been started: its action must come \
                                   before this action, and its condition must hold";
                    LaunchError::at(at, problem)
                })?,
                at,
            ),
        };
        let container = format!("/{}", name.trim_matches('/'));
        let is_known = !self.is_unknown(&container);
        if is_known {
            self.tried(check_namespace(&container, place))?;
        }
        let planned = self.components(components)?;
        if is_known {
            let unknown = self.unknown_packages(&planned);
            self.containers.note_unknown(&container, unknown);
        }
        if planned.is_empty() {
            return Ok(());
        }
        self.push(Step::Load(Load { at: at.clone(), container, components: planned }), at)
    }

    fn components(
        &mut self,
        components: &[action::Component],
    ) -> Result<Vec<Component>, LaunchError> {
        let mut planned = Vec::new();
        for component in components {
            if !self.tried(self.holds(component.condition.as_ref()))? {
                continue;
            }
            let component = self.component(component)?;
            if let Some(name) = component.node.full_name() {
                self.note_node(name, &component.at);
            }
            planned.push(component);
        }
        Ok(planned)
    }

    fn unknown_packages(&self, components: &[Component]) -> Vec<LaunchError> {
        let error = |component: &Component| {
            let error = self.packages.find_components(&component.package).err()?;
            Some(LaunchError::at(&component.at, error.to_string()))
        };
        let is_known = |component: &&Component| !self.is_unknown(&component.package);
        components.iter().filter(is_known).filter_map(error).collect()
    }

    fn component(&self, component: &action::Component) -> Result<Component, LaunchError> {
        let mut extra_arguments = Vec::new();
        for entry in &component.extra_arguments {
            self.tried(self.entry("", entry, &mut extra_arguments))?;
        }
        Ok(Component {
            at: component.at.clone(),
            package: self.text(&component.package)?,
            plugin: self.text(&component.plugin)?,
            node: self.node_facts(&component.facts)?,
            extra_arguments,
        })
    }
}

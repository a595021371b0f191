//! The complete plan of a launch.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::evaluator::Evaluator;
use super::reactions::Reactions;
use super::steps::{Delayed, Process, Step, Watch};
use crate::action::Item;
use crate::error::LaunchError;
use crate::python::Session;

/// The steps of a launch, in order.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The launch file.
    pub file: PathBuf,
    /// The steps.
    pub steps: Vec<Step>,
    /// Possible mistakes that do not stop the plan.
    pub warnings: Vec<String>,
    /// The Python that read the launch file. Files that it deletes at its end exist as long as the
    /// plan.
    #[expect(dead_code, reason = "it is only held")]
    pub(crate) session: Arc<Session>,
    /// What plans the reactions to events and asks functions, if the launch file has any.
    pub(crate) reactions: Option<Arc<Reactions>>,
}

impl Plan {
    /// The processes.
    pub fn processes(&self) -> impl Iterator<Item = &Process> {
        self.all_steps().into_iter().filter_map(|step| {
            if let Step::Start(process) = step { Some(process.as_ref()) } else { None }
        })
    }

    /// All steps, including delayed steps and reactions, which come after the step that holds them.
    pub fn all_steps(&self) -> Vec<&Step> {
        let mut all = Vec::new();
        let mut rest: Vec<&Step> = self.steps.iter().rev().collect();
        while let Some(step) = rest.pop() {
            all.push(step);
            if let Step::After(Delayed { steps, .. }) | Step::Watch(Watch { steps, .. }) = step {
                rest.extend(steps.iter().rev());
            }
        }
        all
    }

    /// The number of components to load.
    pub fn component_count(&self) -> usize {
        let loaded = self.all_steps().into_iter().map(|step| match step {
            Step::Start(process) => process.components.len(),
            Step::Load(load) => load.components.len(),
            Step::Log(..)
            | Step::After(_)
            | Step::Shutdown(_)
            | Step::Change(_)
            | Step::Signal(_)
            | Step::Cancel(_)
            | Step::Watch(_)
            | Step::Complete(_)
            | Step::Fire(_)
            | Step::Emit(..)
            | Step::Call(_)
            | Step::Unknown(_) => 0,
        });
        loaded.sum()
    }
}

impl Evaluator {
    /// Evaluates a complete file, and plans the reactions of its handlers before their events.
    ///
    /// # Errors
    /// Fails with all mistakes, also those of reactions that can be seen before their events.
    pub(super) fn plan_file(&mut self, items: &[Item]) -> Result<(), LaunchError> {
        let planned = self.all_items(items);
        let handlers = self.handlers.clone();
        let watched = self.watches(&handlers);
        match (planned, watched) {
            (Ok(()), Ok(steps)) => {
                self.steps.extend(steps);
                Ok(())
            }
            (planned, watched) => LaunchError::of_either(planned.err(), watched.err()),
        }
    }

    /// Makes a plan with the steps, the warnings and the handlers so far.
    pub(super) fn into_plan(mut self, file: &Path) -> Plan {
        let session = Arc::clone(self.python.session());
        let (steps, warnings) = (std::mem::take(&mut self.steps), self.take_warnings());
        let reacts = !self.handlers.is_empty() || self.asks_later;
        let reactions = reacts.then(|| Arc::new(Reactions::new(self)));
        Plan { file: file.to_owned(), steps, warnings, session, reactions }
    }
}

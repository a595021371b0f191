//! Events of the run, and the steps that react to them.

use super::{LAUNCH, Request, Step, Supervisor, reacting};
use crate::action::EventKind;
use crate::plan::Event;

impl Supervisor {
    /// Performs the steps of a reaction. While the launch ends, only its messages are shown.
    pub(super) fn take_reaction(&mut self, steps: &[Step]) {
        self.watch_nodes();
        if !self.is_ending {
            return self.take_steps(steps);
        }
        for step in steps {
            if let Step::Log(level, text) = step {
                self.output.message(*level, LAUNCH, text);
            }
        }
    }

    /// Watches the nodes whose changes have reactions.
    pub(super) fn watch_nodes(&mut self) {
        for node in self.reacting.watched_nodes() {
            let manager = self.requests.lifecycle_manager();
            if let Err(problem) = self.transitions.watch(&node, manager.as_ref()) {
                self.fail(&node, format!("its state is not watched: {problem}"));
            }
        }
    }

    /// Asks for the reactions to an event, if the launch has any.
    pub(super) fn tell(&mut self, event: impl FnOnce() -> Event) {
        let Some(request) = self.reacting.request(event) else { return };
        if let Err((requests, problem)) = self.requests.ask(LAUNCH, vec![request]) {
            for request in requests {
                if let Request::React(_, event) = &request {
                    self.reacting.answered(event);
                }
                self.fail(LAUNCH, format!("{}: {problem}", request.undone()));
            }
        }
    }

    /// Tells that the action of a process that has ended for good is complete, if handlers wait.
    pub(super) fn tell_completion(&mut self, index: usize) {
        let process = &self.children[index].process;
        if let Some(action) = process.action.filter(|_| process.tells_completion) {
            self.tell(|| reacting::of_action(EventKind::Complete, action));
        }
    }

    /// Tells the changes of managed nodes.
    pub(super) fn take_changes(&mut self) {
        for (node, change) in self.transitions.take() {
            match &change.problem {
                Some(_) if self.is_ending => {}
                Some(problem) => self.fail(&node, format!("its state is not watched: {problem}")),
                None => self.tell(|| reacting::changed(&node, &change)),
            }
        }
    }
}

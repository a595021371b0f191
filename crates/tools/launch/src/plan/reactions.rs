//! Reactions to events: they are planned when the event occurs, in the scope in which the launch
//! file has ended, since all of its groups are closed by then (ros2/launch#743).

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use feros_sync::Mutex;
use serde_json::{Value as Json, json};

use super::evaluator::{Commands, Evaluator};
use super::steps::{Plan, Step, Watch};
use crate::action::{EventKind, Handler, HandlerTarget, Reaction};
use crate::error::LaunchError;
use crate::level::Level;
use crate::python::Session;

/// Something that has happened to a process or to the launch.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) kind: EventKind,
    /// The action of the process.
    pub(crate) action: Option<u64>,
    /// What Python sees of the event, beside these.
    pub(crate) details: Json,
}

impl Event {
    /// The event in words.
    pub(crate) fn in_words(&self) -> &'static str {
        match self.kind {
            EventKind::ProcessStart => "the start of a process",
            EventKind::ProcessExit => "the end of a process",
            EventKind::Shutdown => "the end of the launch",
        }
    }

    fn to_json(&self) -> Json {
        let mut json = self.details.clone();
        json["event"] = self.kind.name().into();
        json["action"] = json!(self.action);
        json
    }
}

/// The reactions of a launch, with the state in which they are planned.
pub(crate) struct Reactions {
    evaluator: Mutex<Evaluator>,
    planned: Mutex<VecDeque<Vec<Step>>>,
    session: Arc<Session>,
}

impl fmt::Debug for Reactions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reactions").finish_non_exhaustive()
    }
}

impl Reactions {
    /// Plans the reaction to an event. [`take_steps`](Self::take_steps) returns its steps.
    pub(crate) fn react(&self, event: &Event) -> Result<(), String> {
        let steps = self.evaluator.lock().react(event).map_err(|error| error.to_string())?;
        self.planned.lock().push_back(steps);
        Ok(())
    }

    /// The steps of the reaction that was planned first.
    pub(crate) fn take_steps(&self) -> Vec<Step> {
        self.planned.lock().pop_front().unwrap_or_default()
    }

    /// From now on signals do not end Python, since the launch handles them.
    pub(crate) fn begin_run(&self) {
        self.session.begin_run();
    }

    /// Ends Python, so that the current reaction fails soon.
    pub(crate) fn abort(&self) {
        self.session.abort();
    }
}

impl Evaluator {
    /// Makes a plan with the steps and warnings so far, and with the handlers.
    ///
    /// # Errors
    /// Fails if a reaction has a mistake that can be seen before its event.
    pub(super) fn into_plan(mut self, file: &std::path::Path) -> Result<Plan, LaunchError> {
        let mut errors = Vec::new();
        for handler in self.handlers.clone() {
            match self.watch(&handler) {
                Ok(watch) => self.steps.push(Step::Watch(watch)),
                Err(error) => errors.push(error),
            }
        }
        LaunchError::of_all(errors)?;
        let session = Arc::clone(self.python.session());
        let (steps, warnings) = (std::mem::take(&mut self.steps), self.take_warnings());
        let reactions = if self.handlers.is_empty() {
            None
        } else {
            let (session, planned) = (Arc::clone(&session), Mutex::default());
            Some(Arc::new(Reactions { evaluator: Mutex::new(self), planned, session }))
        };
        Ok(Plan { file: file.to_owned(), steps, warnings, session, reactions })
    }

    /// Plans a reaction for people to see it, without a lasting effect. What the event would
    /// change is unknown, so variables may be missing.
    fn watch(&mut self, handler: &Handler) -> Result<Watch, LaunchError> {
        let before = self.save();
        let first_own = self.handlers.len();
        let commands = match self.commands.get() {
            Commands::Run => Commands::Shown,
            other => other,
        };
        let commands = self.commands.replace(commands);
        self.python.begin_rehearsal();
        let result = match &handler.reaction {
            Reaction::Actions(items) => self.all_items(items),
            Reaction::Function { name, .. } => {
                let called = format!("{name} ({}:{})", handler.at.file.display(), handler.at.line);
                self.steps.push(Step::Call(called));
                Ok(())
            }
        };
        let own = self.handlers.split_off(first_own.min(self.handlers.len()));
        let mut inner = Vec::new();
        for handler in &own {
            inner.push(self.watch(handler).map(Step::Watch));
        }
        self.python.end_rehearsal();
        self.commands.set(commands);
        let mut steps = std::mem::take(&mut self.steps);
        self.restore(before);
        result?;
        steps.extend(inner.into_iter().collect::<Result<Vec<_>, _>>()?);
        let (at, when) = (handler.at.clone(), self.when(handler));
        Ok(Watch { at, when, once: handler.once, steps })
    }

    /// The event of a handler in words.
    fn when(&self, handler: &Handler) -> String {
        let whose = match &handler.target {
            HandlerTarget::Any => "any process".to_owned(),
            HandlerTarget::Function(_) => "a process that a function accepts".to_owned(),
            HandlerTarget::Actions(ids) => {
                let names = ids.iter().filter_map(|id| self.python.process(*id));
                let names: Vec<String> = names.collect();
                if names.is_empty() {
                    "a process that starts later".to_owned()
                } else {
                    names.join(" or ")
                }
            }
        };
        match handler.kind {
            EventKind::ProcessStart => format!("{whose} has started"),
            EventKind::ProcessExit => format!("{whose} ends"),
            EventKind::Shutdown => "the launch ends".to_owned(),
        }
    }

    /// Plans the reaction to an event. The handlers are asked newest first
    /// (`launch/launch/launch_context.py`, `register_event_handler`).
    fn react(&mut self, event: &Event) -> Result<Vec<Step>, LaunchError> {
        self.event = Some(event.to_json());
        let result = self.react_all(event);
        self.event = None;
        let warnings = self.take_warnings().into_iter();
        let mut steps: Vec<Step> = warnings.map(|text| Step::Log(Level::Warning, text)).collect();
        steps.append(&mut self.steps);
        result.map(|()| steps)
    }

    fn react_all(&mut self, event: &Event) -> Result<(), LaunchError> {
        let handlers = self.handlers.iter().rev().filter(|handler| handler.kind == event.kind);
        let handlers: Vec<Arc<Handler>> = handlers.cloned().collect();
        for handler in handlers {
            let is_registered = self.handlers.iter().any(|known| Arc::ptr_eq(known, &handler));
            if !is_registered || !self.concerns(&handler, event)? {
                continue;
            }
            if handler.once {
                self.handlers.retain(|known| !Arc::ptr_eq(known, &handler));
            }
            match &handler.reaction {
                Reaction::Actions(items) => self.all_items(items)?,
                Reaction::Function { id, .. } => {
                    let items = self.reaction(*id, &handler.at)?;
                    self.all_items(&items)?;
                }
            }
        }
        Ok(())
    }

    /// Whether an event concerns a handler.
    fn concerns(&self, handler: &Handler, event: &Event) -> Result<bool, LaunchError> {
        match (&handler.target, event.action) {
            _ if handler.kind == EventKind::Shutdown => Ok(true),
            (HandlerTarget::Any, _) => Ok(true),
            (HandlerTarget::Actions(ids), Some(action)) => Ok(ids.contains(&action)),
            (HandlerTarget::Function(id), Some(action)) => {
                self.python_matches(*id, action, &handler.at)
            }
            (HandlerTarget::Actions(_) | HandlerTarget::Function(_), None) => Ok(false),
        }
    }
}

//! Reactions to events. A reaction is planned when its event occurs. All groups of the launch file
//! are closed by then, so the reaction gets the scope that was left at the end of the launch file,
//! not the scope of its handler (ros2/launch#743).

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use feros_sync::Mutex;
use serde_json::{Value as Json, json};

use super::evaluator::{Commands, Evaluator};
use super::scope::check_namespace;
use super::steps::{Change, ProcessSignal, Step, Watch};
use crate::action::{
    Action, EventKind, Handler, HandlerTarget, IoStream, Item, NodeMatch, ProcessMatch, Reaction,
};
use crate::error::{LaunchError, shown};
use crate::level::Level;
use crate::position::Position;
use crate::python::Session;
use crate::substitution::Template;

/// Something that has happened to a process or to the launch.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    pub(crate) kind: EventKind,
    /// The action that the event is about, such as the action of a process.
    pub(crate) action: Option<u64>,
    /// What Python sees of the event, in addition to its kind and action.
    pub(crate) details: Json,
}

impl Event {
    /// The event in words.
    pub(crate) fn in_words(&self) -> &'static str {
        match self.kind {
            EventKind::ProcessStart => "the start of a process",
            EventKind::ProcessExit => "the end of a process",
            EventKind::ProcessIo => "the output of a process",
            EventKind::Complete => "the completion of an action",
            EventKind::Timer => "a timer",
            EventKind::Own => "an event of the launch file",
            EventKind::Shutdown => "the end of the launch",
            EventKind::State => "the change of a node",
        }
    }

    fn to_json(&self, action: Option<u64>) -> Json {
        let mut json = self.details.clone();
        json["event"] = self.kind.name().into();
        json["action"] = json!(action);
        json
    }
}

/// The output that handlers wait for: of one action, or of all processes.
type Heard = (Option<u64>, IoStream);

/// The reactions of a launch, with the state in which they are planned.
pub(crate) struct Reactions {
    evaluator: Mutex<Evaluator>,
    planned: Mutex<VecDeque<Vec<Step>>>,
    /// The nodes whose changes have reactions.
    watched: Mutex<Vec<String>>,
    heard: Mutex<Vec<Heard>>,
    session: Arc<Session>,
}

impl fmt::Debug for Reactions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reactions").finish_non_exhaustive()
    }
}

impl Reactions {
    /// The reactions of the handlers that this evaluator has met.
    pub(super) fn new(evaluator: Evaluator) -> Self {
        Self {
            planned: Mutex::default(),
            watched: Mutex::new(evaluator.watched_nodes()),
            heard: Mutex::new(evaluator.heard_output()),
            session: Arc::clone(evaluator.python.session()),
            evaluator: Mutex::new(evaluator),
        }
    }

    /// Plans the reaction to an event. [`take_steps`](Self::take_steps) returns its steps.
    pub(crate) fn react(&self, event: &Event) -> Result<(), String> {
        let mut evaluator = self.evaluator.lock();
        let steps = evaluator.react(event).map_err(|error| error.to_string())?;
        *self.watched.lock() = evaluator.watched_nodes();
        *self.heard.lock() = evaluator.heard_output();
        drop(evaluator);
        self.planned.lock().push_back(steps);
        Ok(())
    }

    /// Plans signals to the processes that a function of the launch file chooses.
    /// [`take_steps`](Self::take_steps) returns the steps.
    pub(crate) fn choose(&self, function: u64, signal: &ProcessSignal) -> Result<(), String> {
        let chosen = self.evaluator.lock().chosen(function, signal);
        self.planned.lock().push_back(chosen.map_err(|error| error.to_string())?);
        Ok(())
    }

    /// The steps of the reaction that was planned first.
    pub(crate) fn take_steps(&self) -> Vec<Step> {
        self.planned.lock().pop_front().unwrap_or_default()
    }

    /// The full names of the nodes whose changes have reactions.
    pub(crate) fn watched_nodes(&self) -> Vec<String> {
        self.watched.lock().clone()
    }

    /// Whether a handler waits for the text that the process of this action writes to a stream.
    pub(crate) fn hears(&self, action: Option<u64>, stream: IoStream) -> bool {
        let concerns = |(of, on): &Heard| *on == stream && (of.is_none() || *of == action);
        self.heard.lock().iter().any(concerns)
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
    /// Plans a reaction before its event, to show it and to find its mistakes. This has no lasting
    /// effect. The values that the event would set are unknown, so variables may be missing.
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
        let mut steps = std::mem::take(&mut self.steps);
        let inner = self.watches(&own);
        self.python.end_rehearsal();
        self.commands.set(commands);
        self.restore(before);
        match (result, inner) {
            (Ok(()), Ok(inner)) => steps.extend(inner),
            (result, inner) => LaunchError::of_either(result.err(), inner.err())?,
        }
        let (at, when) = (handler.at.clone(), self.when(handler));
        Ok(Watch { at, when, once: handler.once, steps })
    }

    /// Plans the reactions of these handlers before their events.
    ///
    /// # Errors
    /// Fails with all mistakes that can be seen before the events.
    pub(super) fn watches(&mut self, handlers: &[Arc<Handler>]) -> Result<Vec<Step>, LaunchError> {
        let (mut steps, mut errors) = (Vec::new(), Vec::new());
        for handler in handlers {
            match self.watch(handler) {
                Ok(watch) => steps.push(Step::Watch(watch)),
                Err(error) => errors.push(error),
            }
        }
        LaunchError::of_all(errors)?;
        Ok(steps)
    }

    /// The event of a handler in words.
    fn when(&self, handler: &Handler) -> String {
        let Some(kind) = handler.kind else {
            let HandlerTarget::Events { name, .. } = &handler.target else { return String::new() };
            return format!("an event occurs that {name} accepts");
        };
        let whose = match &handler.target {
            HandlerTarget::Any => "any".to_owned(),
            HandlerTarget::Function(_) | HandlerTarget::Events { .. } => {
                "one that a function accepts".to_owned()
            }
            HandlerTarget::Actions(ids) => {
                let names = ids.iter().filter_map(|id| match kind {
                    EventKind::State => self.python.managed().get(id).cloned(),
                    _ => self.python.process(*id),
                });
                let names: Vec<String> = names.collect();
                match (names.is_empty(), kind) {
                    (false, _) => names.join(" or "),
                    (true, EventKind::Complete) => "its action".to_owned(),
                    (true, _) => "one that starts later".to_owned(),
                }
            }
        };
        match kind {
            EventKind::ProcessStart => format!("{whose} has started"),
            EventKind::ProcessExit => format!("{whose} ends"),
            EventKind::ProcessIo => {
                let streams: Vec<&str> =
                    handler.streams.iter().map(|stream| stream.name()).collect();
                format!("{whose} has text on {}", streams.join(" or "))
            }
            EventKind::Complete => format!("{whose} is complete"),
            EventKind::Timer | EventKind::Own => format!("{whose} has an event"),
            EventKind::Shutdown => "the launch ends".to_owned(),
            EventKind::State => {
                let states = &handler.states;
                let part = |word: &str, label: &Option<String>| {
                    label.as_ref().map(|label| format!(" {word} {label}")).unwrap_or_default()
                };
                let (start, goal) = (part("from", &states.start), part("to", &states.goal));
                let by = part("by", &states.transition);
                format!("{whose} changes{start}{goal}{by}")
            }
        }
    }

    /// The nodes whose changes have reactions.
    fn watched_nodes(&self) -> Vec<String> {
        let managed = self.python.managed();
        let mut nodes: Vec<String> = Vec::new();
        let may_watch = |kind: EventKind| kind == EventKind::State;
        for handler in self.handlers.iter().filter(|handler| handler.kind.is_none_or(may_watch)) {
            match &handler.target {
                HandlerTarget::Actions(ids) => {
                    nodes.extend(ids.iter().filter_map(|id| managed.get(id)).cloned());
                }
                _ => {
                    nodes.extend(managed.values().cloned());
                }
            }
        }
        nodes.sort();
        nodes.dedup();
        nodes
    }

    /// The output that handlers wait for.
    fn heard_output(&self) -> Vec<Heard> {
        let mut heard = Vec::new();
        for handler in &self.handlers {
            let streams = match handler.kind {
                Some(EventKind::ProcessIo) => handler.streams.as_slice(),
                None => &IoStream::ALL,
                Some(_) => continue,
            };
            let actions: Vec<Option<u64>> = match &handler.target {
                HandlerTarget::Actions(ids) => ids.iter().copied().map(Some).collect(),
                _ => vec![None],
            };
            for action in actions {
                heard.extend(streams.iter().map(|stream| (action, *stream)));
            }
        }
        heard
    }

    /// The number of an action if a handler may wait for its events of these kinds.
    pub(super) fn awaited(&self, id: Option<u64>, kinds: &[EventKind]) -> Option<u64> {
        let waits =
            |handler: &Arc<Handler>| kinds.iter().any(|kind| handler.may_concern(*kind, id));
        id.filter(|_| self.handlers.iter().any(waits))
    }

    /// Lets the run tell about the completion of an action. The run itself knows when processes and
    /// timers are complete.
    pub(super) fn note_completion(&mut self, item: &Item) {
        let is_later = match &item.action {
            Action::Executable(_) | Action::Node(_) | Action::Timer(_) => true,
            // An object of the user's class may have started its process.
            Action::Python { id, .. } => self.python.process(*id).is_some(),
            _ => false,
        };
        if !is_later && let Some(id) = self.awaited(item.id, &[EventKind::Complete]) {
            self.steps.push(Step::Complete(id));
        }
    }

    /// Plans transitions of managed nodes
    /// (`launch_ros/launch_ros/utilities/lifecycle_event_manager.py`).
    pub(super) fn change_states(
        &mut self,
        nodes: &[NodeMatch],
        transitions: &[Template],
        at: &Position,
    ) -> Result<(), LaunchError> {
        for node in nodes {
            for name in self.matched(node, at)? {
                for transition in transitions {
                    let text = self.known_text(transition)?;
                    let number = text.trim().parse().map_err(|_| {
                        let problem = format!(
                            "{} is not the number of a transition: expected a constant of \
                             lifecycle_msgs.msg.Transition",
                            shown(&text)
                        );
                        LaunchError::at(&transition.at, problem)
                    })?;
                    let (at, node) = (at.clone(), name.clone());
                    let place = at.clone();
                    self.push(Step::Change(Change { at, node, transition: number }), &place)?;
                }
            }
        }
        Ok(())
    }

    /// The full names of the managed nodes that `node` describes.
    fn matched(&self, node: &NodeMatch, at: &Position) -> Result<Vec<String>, LaunchError> {
        let managed = self.python.managed();
        match node {
            NodeMatch::Action(id) => match managed.get(id) {
                Some(name) => Ok(vec![name.clone()]),
                None if self.python.rehearses() => Ok(Vec::new()),
                None => {
                    self.python.note_missing_setting();
                    let problem = "the managed node has not been started: its `LifecycleNode` must \
                                   come before this action, and its condition must hold";
                    Err(LaunchError::at(at, problem))
                }
            },
            NodeMatch::Name(template) => {
                let name = format!("/{}", self.known_text(template)?.trim_matches('/'));
                check_namespace(&name, &template.at)?;
                Ok(vec![name])
            }
            NodeMatch::Function(id) => {
                let mut names = Vec::new();
                for (action, name) in managed {
                    if self.python_matches(*id, Some(*action), at)? {
                        names.push(name.clone());
                    }
                }
                Ok(names)
            }
        }
    }

    /// Processes in words.
    pub(super) fn whom(&self, processes: &ProcessMatch) -> String {
        match processes {
            ProcessMatch::Action(id) => {
                self.python.process(*id).unwrap_or_else(|| "a process that starts later".to_owned())
            }
            ProcessMatch::Name(name) => feros_wording::harmless(name).into_owned(),
            ProcessMatch::Function(_) => "the processes that a function accepts".to_owned(),
        }
    }

    /// Signals to the processes that a function of Python chooses among those that were planned.
    fn chosen(&self, function: u64, signal: &ProcessSignal) -> Result<Vec<Step>, LaunchError> {
        let mut steps = Vec::new();
        for action in self.python.started() {
            if self.python_matches(function, Some(*action), &signal.at)? {
                let processes = ProcessMatch::Action(*action);
                let whom = self.whom(&processes);
                steps.push(Step::Signal(ProcessSignal { processes, whom, ..signal.clone() }));
            }
        }
        Ok(steps)
    }

    /// Plans the reaction to an event. The newest handler comes first
    /// (`launch/launch/launch_context.py`, `register_event_handler`).
    fn react(&mut self, event: &Event) -> Result<Vec<Step>, LaunchError> {
        if let (EventKind::ProcessStart, Some(action)) = (event.kind, event.action) {
            self.python.note_details(action, &event.details);
        }
        self.event = Some(event.to_json(self.action_of(event)));
        let before = self.scope.clone();
        let result = self.react_all(event).inspect_err(|_| {
            // No later reaction sees the placeholders of this one.
            self.scope = before;
        });
        self.event = None;
        let warnings = self.take_warnings().into_iter();
        let mut steps: Vec<Step> = warnings.map(|text| Step::Log(Level::Warning, text)).collect();
        steps.append(&mut self.steps);
        result.map(|()| steps)
    }

    fn react_all(&mut self, event: &Event) -> Result<(), LaunchError> {
        let is_own = event.kind == EventKind::Own;
        let may =
            |handler: &&Arc<Handler>| is_own || handler.kind.is_none_or(|kind| kind == event.kind);
        let handlers: Vec<Arc<Handler>> = self.handlers.iter().rev().filter(may).cloned().collect();
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

    /// The action of the process or the node of an event.
    fn action_of(&self, event: &Event) -> Option<u64> {
        let node = event.details["node"].as_str();
        let is_it = |(_, name): &(&u64, &String)| node == Some(name.as_str());
        event.action.or_else(|| self.python.managed().iter().find(is_it).map(|(id, _)| *id))
    }

    /// Whether an event concerns a handler.
    fn concerns(&self, handler: &Handler, event: &Event) -> Result<bool, LaunchError> {
        let states = &handler.states;
        if event.kind == EventKind::Own {
            // Its class may be derived from that of any event.
            return match handler.id {
                Some(id) => self.python_matches(id, None, &handler.at),
                None => Ok(false),
            };
        }
        let stream = |stream: &IoStream| event.details["stream"] == stream.name();
        if handler.kind == Some(EventKind::ProcessIo) && !handler.streams.iter().any(stream) {
            return Ok(false);
        }
        let accepts = |label: &Option<String>, key: &str| {
            label.as_ref().is_none_or(|label| event.details[key] == label.as_str())
        };
        if !accepts(&states.start, "start")
            || !accepts(&states.goal, "goal")
            || !accepts(&states.transition, "transition")
        {
            return Ok(false);
        }
        match (&handler.target, self.action_of(event)) {
            (HandlerTarget::Events { id, .. }, _) => self.python_matches(*id, None, &handler.at),
            _ if handler.kind == Some(EventKind::Shutdown) => Ok(true),
            (HandlerTarget::Any, _) => Ok(true),
            (HandlerTarget::Actions(ids), Some(action)) => Ok(ids.contains(&action)),
            (HandlerTarget::Function(id), Some(action)) => {
                self.python_matches(*id, Some(action), &handler.at)
            }
            (HandlerTarget::Actions(_) | HandlerTarget::Function(_), None) => Ok(false),
        }
    }
}

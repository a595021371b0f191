//! Event handlers and reactions.

use std::sync::Arc;

use feros_process::Signal;
use serde_json::Value as Json;

use super::{Decoder, Fields};
use crate::action::{
    Action, EventKind, Handler, HandlerTarget, IoStream, NodeMatch, ProcessMatch, Reaction,
    StateFilter,
};
use crate::error::{LaunchError, shown};

impl Decoder {
    pub(super) fn register(&mut self, fields: &Fields<'_>) -> Result<Action, LaunchError> {
        let handler = Fields::new(fields.required("handler")?, &fields.at)?;
        let on = handler.required_text("on")?;
        let kind = match on {
            "process_start" => Some(EventKind::ProcessStart),
            "process_exit" => Some(EventKind::ProcessExit),
            "process_io" => Some(EventKind::ProcessIo),
            "execution_complete" => Some(EventKind::Complete),
            "shutdown" => Some(EventKind::Shutdown),
            "state" => Some(EventKind::State),
            "event" => None,
            _ => return Err(handler.error(format!("unknown event {}", shown(on)))),
        };
        let reaction = match handler.get("reaction") {
            Some(json) => self.reaction(json, &handler)?,
            None => Reaction::Actions(Vec::new()),
        };
        Ok(Action::Register(Arc::new(Handler {
            id: Some(handler.required_id("id")?),
            kind,
            target: if kind.is_none() { events(&handler)? } else { target(&handler)? },
            states: states(&handler)?,
            streams: streams(&handler)?,
            once: handler.truth("once")?,
            reaction,
            at: handler.at,
        })))
    }

    /// `EmitEvent`, except for `Shutdown`, which is an action.
    pub(super) fn emit(&mut self, fields: &Fields<'_>) -> Result<Action, LaunchError> {
        let event = Fields::new(fields.required("event")?, &fields.at)?;
        match event.required_text("event")? {
            "change_state" => {
                let node = Fields::new(event.required("node")?, &event.at)?;
                let transition = self.required(&event, "transition")?;
                let nodes = vec![self.node_match(&node)?];
                Ok(Action::Change { nodes, transitions: vec![transition] })
            }
            "py" => {
                let name = event.text("name")?.unwrap_or("an event");
                let name = feros_wording::harmless(name).into_owned();
                Ok(Action::Emit { id: event.required_id("id")?, name })
            }
            "shutdown_process" => {
                Ok(Action::Signal { processes: process_match(&event)?, signal: None })
            }
            "signal_process" => {
                let signal = Some(signal(&event)?);
                Ok(Action::Signal { processes: process_match(&event)?, signal })
            }
            other => Err(event.error(format!("unknown event {}", shown(other)))),
        }
    }

    fn node_match(&mut self, node: &Fields<'_>) -> Result<NodeMatch, LaunchError> {
        if let Some(id) = node.id("action")? {
            return Ok(NodeMatch::Action(id));
        }
        match node.id("py")? {
            Some(id) => Ok(NodeMatch::Function(id)),
            None => Ok(NodeMatch::Name(self.required(node, "name")?)),
        }
    }

    /// `LifecycleTransition`.
    pub(super) fn transitions(&mut self, fields: &Fields<'_>) -> Result<Action, LaunchError> {
        let nodes = self.templates(fields, "nodes")?.into_iter().map(NodeMatch::Name).collect();
        Ok(Action::Change { nodes, transitions: self.templates(fields, "transitions")? })
    }

    /// The reaction to the end of a process; `None` if it only ends the launch.
    pub(super) fn on_exit(
        &mut self,
        fields: &Fields<'_>,
    ) -> Result<(bool, Option<Reaction>), LaunchError> {
        let Some(json) = fields.get("on_exit") else { return Ok((false, None)) };
        let reaction = self.reaction(json, fields)?;
        let (ends_launch, is_nothing) = match &reaction {
            Reaction::Actions(items) => match items.as_slice() {
                [] => (false, true),
                [only] => {
                    let ends = matches!(only.action, Action::Shutdown { .. });
                    (ends && only.condition.is_none(), false)
                }
                _ => (false, false),
            },
            Reaction::Function { .. } => (false, false),
        };
        Ok((ends_launch, (!ends_launch && !is_nothing).then_some(reaction)))
    }

    fn reaction(&mut self, json: &Json, outer: &Fields<'_>) -> Result<Reaction, LaunchError> {
        let fields = Fields::new(json, &outer.at)?;
        let Some(id) = fields.id("py")? else {
            return Ok(Reaction::Actions(self.actions(&fields, "entities")?));
        };
        self.reads_more = true;
        let name = fields.text("name")?.unwrap_or("a function");
        Ok(Reaction::Function { id, name: feros_wording::harmless(name).into_owned() })
    }
}

fn states(handler: &Fields<'_>) -> Result<StateFilter, LaunchError> {
    let label = |key: &str| Ok(handler.text(key)?.map(str::to_owned));
    Ok(StateFilter {
        transition: label("transition")?,
        start: label("start")?,
        goal: label("goal")?,
    })
}

/// The processes that an event is for.
fn process_match(event: &Fields<'_>) -> Result<ProcessMatch, LaunchError> {
    let process = Fields::new(event.required("process")?, &event.at)?;
    if let Some(id) = process.id("action")? {
        return Ok(ProcessMatch::Action(id));
    }
    match process.id("py")? {
        Some(id) => Ok(ProcessMatch::Function(id)),
        None => Ok(ProcessMatch::Name(process.required_text("name")?.to_owned())),
    }
}

fn signal(event: &Fields<'_>) -> Result<Signal, LaunchError> {
    let number = event.required_id("number")?;
    let known = i32::try_from(number).ok().and_then(Signal::from_named_raw);
    known.ok_or_else(|| {
        let name = event.text("signal").ok().flatten().unwrap_or("it");
        event.error(format!(
            "{} is a signal that `feros launch` does not send: use one from SIGHUP to SIGSYS",
            shown(name)
        ))
    })
}

/// The streams whose text counts.
fn streams(handler: &Fields<'_>) -> Result<Vec<IoStream>, LaunchError> {
    let stream = |name: &String| {
        let known = IoStream::ALL.into_iter().find(|stream| stream.name() == name);
        known.ok_or_else(|| handler.error(format!("unknown stream {}", shown(name))))
    };
    handler.texts("streams")?.iter().map(stream).collect()
}

/// The events that a function chooses.
fn events(handler: &Fields<'_>) -> Result<HandlerTarget, LaunchError> {
    let matcher = Fields::new(handler.required("matcher")?, &handler.at)?;
    let name = matcher.text("name")?.unwrap_or("a function");
    let name = feros_wording::harmless(name).into_owned();
    Ok(HandlerTarget::Events { id: matcher.required_id("py")?, name })
}

fn target(handler: &Fields<'_>) -> Result<HandlerTarget, LaunchError> {
    if let Some(node) = handler.id("node")? {
        return Ok(HandlerTarget::Actions(vec![node]));
    }
    match handler.get("target") {
        None => Ok(HandlerTarget::Any),
        Some(json @ Json::Object(_)) => {
            Ok(HandlerTarget::Function(Fields::new(json, &handler.at)?.required_id("py")?))
        }
        Some(_) => Ok(HandlerTarget::Actions(handler.ids("target")?)),
    }
}

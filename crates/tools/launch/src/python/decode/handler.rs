//! Event handlers and reactions.

use std::sync::Arc;

use serde_json::Value as Json;

use super::{Decoder, Fields};
use crate::action::{Action, EventKind, Handler, HandlerTarget, Reaction};
use crate::error::{LaunchError, shown};

/// Events that are not supported, with the classes of their handlers.
const UNSUPPORTED: [(&str, &str); 4] = [
    ("process_io", "OnProcessIO"),
    ("execution_complete", "OnExecutionComplete"),
    ("state", "OnStateTransition"),
    ("event", "EventHandler"),
];

impl Decoder {
    pub(super) fn register(&mut self, fields: &Fields<'_>) -> Result<Action, LaunchError> {
        let handler = Fields::new(fields.required("handler")?, &fields.at)?;
        let on = handler.required_text("on")?;
        let kind = match on {
            "process_start" => EventKind::ProcessStart,
            "process_exit" => EventKind::ProcessExit,
            "shutdown" => EventKind::Shutdown,
            _ => {
                let Some((_, class)) = UNSUPPORTED.iter().find(|(known, _)| *known == on) else {
                    return Err(handler.error(format!("unknown event {}", shown(on))));
                };
                return Ok(Action::Unsupported(format!(
                    "`{class}` is not supported yet; supported are `OnProcessStart`, \
                     `OnProcessExit` and `OnShutdown`"
                )));
            }
        };
        let reaction = match handler.get("reaction") {
            Some(json) => self.reaction(json, &handler)?,
            None => Reaction::Actions(Vec::new()),
        };
        Ok(Action::Register(Arc::new(Handler {
            id: Some(handler.required_id("id")?),
            kind,
            target: target(&handler)?,
            once: handler.truth("once")?,
            reaction,
            at: handler.at,
        })))
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

fn target(handler: &Fields<'_>) -> Result<HandlerTarget, LaunchError> {
    match handler.get("target") {
        None => Ok(HandlerTarget::Any),
        Some(json @ Json::Object(_)) => {
            Ok(HandlerTarget::Function(Fields::new(json, &handler.at)?.required_id("py")?))
        }
        Some(_) => Ok(HandlerTarget::Actions(handler.ids("target")?)),
    }
}

//! Actions, by the name that `do` gives.

use super::{Decoder, Fields};
use crate::action::{
    Action, Body, Declaration, ForEach, Group, LogLevel, Loop, NodeKind, ParameterEntry, Source,
    Timer,
};
use crate::error::{LaunchError, shown};
use crate::tree::Language;

impl Decoder {
    pub(super) fn action(
        &mut self,
        fields: &Fields<'_>,
        id: Option<u64>,
    ) -> Result<Action, LaunchError> {
        let name = fields.required_text("do")?;
        if let Some(action) = self.settings(name, fields)? {
            return Ok(action);
        }
        Ok(match name {
            "declare" => Action::Argument(self.declaration(fields)?),
            "group" => Action::Group(Group {
                scoped: self.optional(fields, "scoped")?,
                forwarding: self.optional(fields, "forwarding")?,
                keep: self.pairs(fields, "configurations")?,
                actions: self.actions(fields, "actions")?,
            }),
            "include" => self.include(fields)?,
            "log" => Action::Log {
                message: self.required(fields, "message")?,
                level: LogLevel::Named(self.required(fields, "level")?),
            },
            "shutdown" => Action::Shutdown { reason: self.optional(fields, "reason")? },
            "timer" => Action::Timer(Timer {
                is_ros: fields.truth("ros")?,
                period: self.required(fields, "period")?,
                cancel_on_shutdown: self.optional(fields, "cancel_on_shutdown")?,
                actions: self.actions(fields, "actions")?,
            }),
            "for_each" => Action::ForEach(ForEach {
                values: self.required(fields, "values")?,
                body: Body::Python(fields.required_id("py")?),
            }),
            "for" => Action::For(Loop {
                length: self.required(fields, "length")?,
                name: fields.required_text("name")?.to_owned(),
                body: Body::Python(fields.required_id("py")?),
            }),
            "python" => {
                self.reads_more = true;
                let id = id.ok_or_else(|| fields.error("it has no `id`"))?;
                let name = fields.text("name")?.unwrap_or("a function");
                Action::Python { id, name: feros_wording::harmless(name).into_owned() }
            }
            "register" => self.register(fields)?,
            "emit" => self.emit(fields)?,
            "lifecycle_transition" => self.transitions(fields)?,
            "unregister" => Action::Unregister(fields.required_id("handler")?),
            "execute" => Action::Executable(Box::new(self.executable(fields)?)),
            "node" => Action::Node(Box::new(self.node(fields, NodeKind::Node)?)),
            "lifecycle_node" => Action::Node(Box::new(self.node(fields, NodeKind::Lifecycle)?)),
            "container" => Action::Node(Box::new(self.node(fields, NodeKind::Container)?)),
            "load_components" => {
                Action::Load { target: self.target(fields)?, components: self.components(fields)? }
            }
            "cancel_timer" => Action::CancelTimer(fields.required_id("timer")?),
            _ => return Err(fields.error(format!("unknown action {}", shown(name)))),
        })
    }

    /// The actions that change the scope.
    fn settings(&mut self, name: &str, fields: &Fields<'_>) -> Result<Option<Action>, LaunchError> {
        Ok(Some(match name {
            "set" => Action::Let {
                name: self.required(fields, "name")?,
                value: self.required(fields, "value")?,
            },
            "unset" => Action::Unset { name: self.required(fields, "name")? },
            "push_configurations" => Action::PushConfigurations,
            "pop_configurations" => Action::PopConfigurations,
            "reset_configurations" => Action::Reset { keep: self.pairs(fields, "keep")? },
            "set_environment" => Action::SetEnvironment {
                name: self.required(fields, "name")?,
                value: self.required(fields, "value")?,
            },
            "unset_environment" => {
                Action::UnsetEnvironment { name: self.required(fields, "name")? }
            }
            "append_environment" => Action::AppendEnvironment {
                name: self.required(fields, "name")?,
                value: self.required(fields, "value")?,
                prepend: self.optional(fields, "prepend")?,
                separator: self.optional(fields, "separator")?,
            },
            "push_environment" => Action::PushEnvironment,
            "pop_environment" => Action::PopEnvironment,
            "reset_environment" => Action::ResetEnvironment,
            "push_namespace" => Action::PushNamespace(self.required(fields, "namespace")?),
            "set_parameter" => Action::SetParameter(ParameterEntry {
                name: self.required(fields, "name")?,
                at: fields.at.clone(),
                content: self.content(fields.required("value")?, &fields.at)?,
            }),
            "set_parameters_from_file" => {
                Action::SetParametersFromFile(self.required(fields, "file")?)
            }
            "set_remap" => Action::SetRemap {
                from: self.required(fields, "from")?,
                to: self.required(fields, "to")?,
            },
            "set_use_sim_time" => Action::SetUseSimTime(self.required(fields, "value")?),
            "set_ros_log_dir" => Action::SetLogFolder(self.required(fields, "folder")?),
            _ => return Ok(None),
        }))
    }

    fn declaration(&mut self, fields: &Fields<'_>) -> Result<Declaration, LaunchError> {
        Ok(Declaration {
            name: fields.required_text("name")?.to_owned(),
            default: self.optional(fields, "default")?,
            description: fields.text("description")?.map(str::to_owned),
            choices: fields.texts("choices")?,
        })
    }

    fn include(&mut self, fields: &Fields<'_>) -> Result<Action, LaunchError> {
        let arguments = self.pairs(fields, "arguments")?;
        if fields.get("entities").is_some() {
            let source = Source::Actions(self.actions(fields, "entities")?);
            return Ok(Action::Include { source, arguments });
        }
        let language = match fields.text("language")? {
            None => None,
            Some("python") => Some(Language::Python),
            Some("xml") => Some(Language::Xml),
            Some("yaml") => Some(Language::Yaml),
            Some(other) => {
                return Err(fields.error(format!("unknown language {}", shown(other))));
            }
        };
        let path = self.required(fields, "file")?;
        Ok(Action::Include { source: Source::File { path, language }, arguments })
    }
}

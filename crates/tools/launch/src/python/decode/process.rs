//! Actions that start processes or load components.

use serde_json::Value as Json;

use super::{Decoder, Fields};
use crate::action::{
    Component, Executable, Node, NodeFacts, NodeKind, OutputChoice, ProcessOptions, Target, Words,
};
use crate::error::{LaunchError, hint, shown};
use crate::output::{Output, Sinks};

/// The places that a stream of a process can go to (`launch/launch/logging/__init__.py`,
/// `get_output_loggers`).
const PLACES: [&str; 3] = ["screen", "log", "own_log"];

impl Decoder {
    pub(super) fn executable(&mut self, fields: &Fields<'_>) -> Result<Executable, LaunchError> {
        Ok(Executable {
            command: Words::List(self.templates(fields, "cmd")?),
            name: self.optional(fields, "name")?,
            shell: self.optional(fields, "shell")?,
            options: self.options(fields)?,
        })
    }

    pub(super) fn node(
        &mut self,
        fields: &Fields<'_>,
        kind: NodeKind,
    ) -> Result<Node, LaunchError> {
        let facts = self.facts(fields)?;
        if kind != NodeKind::Node && facts.name.is_none() {
            return Err(fields.error("it has no `name`"));
        }
        let components =
            if kind == NodeKind::Container { self.components(fields)? } else { Vec::new() };
        Ok(Node {
            kind,
            package: self.optional(fields, "package")?,
            executable: self.required(fields, "executable")?,
            label: self.optional(fields, "exec_name")?,
            facts,
            arguments: Some(Words::List(self.templates(fields, "arguments")?)),
            ros_arguments: Some(Words::List(self.templates(fields, "ros_arguments")?)),
            options: self.options(fields)?,
            components,
            autostart: self.optional(fields, "autostart")?,
            shell: self.optional(fields, "shell")?,
        })
    }

    fn facts(&mut self, fields: &Fields<'_>) -> Result<NodeFacts, LaunchError> {
        Ok(NodeFacts {
            name: self.optional(fields, "name")?,
            namespace: self.optional(fields, "namespace")?,
            parameters: self.parameters(fields)?,
            remaps: self.pairs(fields, "remappings")?,
        })
    }

    pub(super) fn components(
        &mut self,
        fields: &Fields<'_>,
    ) -> Result<Vec<Component>, LaunchError> {
        let mut components = Vec::new();
        for json in fields.list("components")? {
            let fields = Fields::new(json, &fields.at)?;
            components.push(Component {
                condition: self.condition(&fields)?,
                package: self.required(&fields, "package")?,
                plugin: self.required(&fields, "plugin")?,
                facts: self.facts(&fields)?,
                extra_arguments: self.extra_arguments(&fields)?,
                at: fields.at,
            });
        }
        Ok(components)
    }

    /// The container that loads components: its name, or the action that starts it.
    pub(super) fn target(&mut self, fields: &Fields<'_>) -> Result<Target, LaunchError> {
        let json = fields.required("target")?;
        if let Json::Object(object) = json
            && object.contains_key("container")
        {
            return Ok(Target::Action(Fields::new(json, &fields.at)?.required_id("container")?));
        }
        Ok(Target::Name(self.template(json, &fields.at)?))
    }

    fn options(&mut self, fields: &Fields<'_>) -> Result<ProcessOptions, LaunchError> {
        let mut environment = self.pairs(fields, "env")?;
        environment.extend(self.pairs(fields, "additional_env")?);
        let (ends_launch, on_exit) = self.on_exit(fields)?;
        Ok(ProcessOptions {
            directory: self.optional(fields, "cwd")?,
            replaces_environment: fields.get("env").is_some(),
            environment,
            prefix: self.optional(fields, "prefix")?,
            output: self.output(fields)?,
            respawn: self.optional(fields, "respawn")?,
            respawn_delay: self.optional(fields, "respawn_delay")?,
            respawn_max_retries: self.optional(fields, "respawn_max_retries")?,
            sigterm_timeout: self.optional(fields, "sigterm_timeout")?,
            sigkill_timeout: self.optional(fields, "sigkill_timeout")?,
            emulate_tty: self.optional(fields, "emulate_tty")?,
            ends_launch,
            on_exit,
        })
    }

    fn output(&mut self, fields: &Fields<'_>) -> Result<Option<OutputChoice>, LaunchError> {
        let Some(json) = fields.get("output") else { return Ok(None) };
        match json {
            Json::Object(object) if !object.contains_key("s") && !object.contains_key("py") => {
                let streams = Fields::new(json, &fields.at)?;
                let both = sinks(&streams, "both")?;
                let of = |stream: Sinks| Sinks {
                    screen: stream.screen || both.screen,
                    log: stream.log || both.log,
                };
                let stdout = of(sinks(&streams, "stdout")?);
                let stderr = of(sinks(&streams, "stderr")?);
                Ok(Some(OutputChoice::Streams(Output { stdout, stderr })))
            }
            _ => Ok(Some(OutputChoice::Mode(self.template(json, &fields.at)?))),
        }
    }
}

/// The places of one stream.
fn sinks(streams: &Fields<'_>, stream: &str) -> Result<Sinks, LaunchError> {
    let mut sinks = Sinks { screen: false, log: false };
    for place in streams.texts(stream)? {
        match place.as_str() {
            "screen" => sinks.screen = true,
            "log" | "own_log" => sinks.log = true,
            other => {
                let problem = format!("{} for `output`{}", shown(other), hint(other, PLACES));
                return Err(LaunchError::at(&streams.at, problem));
            }
        }
    }
    Ok(sinks)
}

//! Processes, nodes and components as elements.

use super::element::Element;
use super::text::{condition, flag, line, optional, shell_line, text, truth};
use super::{parameters, refused};
use crate::action::{
    Component, Executable, Node, NodeFacts, NodeKind, OutputChoice, ProcessOptions, Reaction, Words,
};
use crate::error::LaunchError;
use crate::output::Output;
use crate::position::Position;
use crate::substitution::Template;

pub(super) fn executable(executable: &Executable, at: &Position) -> Result<Element, LaunchError> {
    let by_shell = by_shell(executable.shell.as_ref(), at)?;
    let command = match &executable.command {
        Words::Line(line) => text(line)?,
        Words::List(words) if by_shell => shell_line(words)?,
        Words::List(words) => line(words)?,
    };
    let mut element = Element::new("executable").with("cmd", command);
    element.set("name", optional(executable.name.as_ref())?);
    element.set("shell", by_shell.then(|| "true".to_owned()));
    options(&mut element, &executable.options, at)?;
    Ok(element)
}

/// Whether a shell runs the command line, which decides its form.
fn by_shell(shell: Option<&Template>, at: &Position) -> Result<bool, LaunchError> {
    match (shell, truth(shell)) {
        (None, _) => Ok(false),
        (_, Some(by_shell)) => Ok(by_shell),
        (Some(_), None) => Err(refused(at, "`shell` with a substitution", "write True or False")),
    }
}

pub(super) fn node(node: &Node, at: &Position) -> Result<Element, LaunchError> {
    if by_shell(node.shell.as_ref(), at)? {
        let cure = "write an `ExecuteProcess` with the command line";
        return Err(refused(at, "`shell=True` of a node", cure));
    }
    let mut element = Element::new(match node.kind {
        NodeKind::Node => "node",
        NodeKind::Lifecycle => "lifecycle_node",
        NodeKind::Container => "node_container",
    });
    element.set("pkg", optional(node.package.as_ref())?);
    element.set("exec", Some(text(&node.executable)?));
    names(&mut element, &node.facts)?;
    element.set("exec_name", optional(node.label.as_ref())?);
    element.set("args", words(node.arguments.as_ref())?);
    element.set("ros_args", words(node.ros_arguments.as_ref())?);
    element.set("autostart", flag(node.autostart.as_ref(), false)?);
    options(&mut element, &node.options, at)?;
    settings(&mut element, &node.facts)?;
    for component in &node.components {
        element.push(self::component(component)?);
    }
    Ok(element)
}

fn words(words: Option<&Words>) -> Result<Option<String>, LaunchError> {
    match words {
        None => Ok(None),
        Some(Words::Line(line)) => Ok(Some(text(line)?)),
        Some(Words::List(words)) if words.is_empty() => Ok(None),
        Some(Words::List(words)) => Ok(Some(line(words)?)),
    }
}

pub(super) fn component(component: &Component) -> Result<Element, LaunchError> {
    let mut element = Element::new("composable_node")
        .with("pkg", text(&component.package)?)
        .with("plugin", text(&component.plugin)?);
    names(&mut element, &component.facts)?;
    if let Some((name, value)) = condition(component.condition.as_ref(), &component.at)? {
        element.set(name, Some(value));
    }
    settings(&mut element, &component.facts)?;
    for argument in &component.extra_arguments {
        element.push(parameters::entry("extra_arg", argument)?);
    }
    Ok(element)
}

fn names(element: &mut Element, facts: &NodeFacts) -> Result<(), LaunchError> {
    element.set("name", optional(facts.name.as_ref())?);
    element.set("namespace", optional(facts.namespace.as_ref())?);
    Ok(())
}

fn settings(element: &mut Element, facts: &NodeFacts) -> Result<(), LaunchError> {
    for parameter in &facts.parameters {
        element.push(parameters::parameter(parameter)?);
    }
    for (from, to) in &facts.remaps {
        element.push(Element::new("remap").with("from", text(from)?).with("to", text(to)?));
    }
    Ok(())
}

fn options(
    element: &mut Element,
    options: &ProcessOptions,
    at: &Position,
) -> Result<(), LaunchError> {
    if options.replaces_environment {
        let cure = "write `additional_env`, and `UnsetEnvironmentVariable` before the process";
        return Err(refused(at, "`env`, which replaces the environment,", cure));
    }
    if let Some(reaction) = &options.on_exit {
        let what = match reaction {
            Reaction::Function { name, .. } => format!("the reaction `on_exit={name}`"),
            Reaction::Actions(_) => "the reaction `on_exit`".to_owned(),
        };
        let cure = "only `on_exit=Shutdown()` has; keep the file in Python";
        return Err(refused(at, what, cure));
    }
    element.set("cwd", optional(options.directory.as_ref())?);
    element.set("launch-prefix", optional(options.prefix.as_ref())?);
    element.set("output", output(options.output.as_ref(), at)?);
    element.set("respawn", flag(options.respawn.as_ref(), false)?);
    element.set("respawn_delay", optional(options.respawn_delay.as_ref())?);
    element.set("respawn_max_retries", optional(options.respawn_max_retries.as_ref())?);
    element.set("sigterm_timeout", optional(options.sigterm_timeout.as_ref())?);
    element.set("sigkill_timeout", optional(options.sigkill_timeout.as_ref())?);
    element.set("emulate_tty", optional(options.emulate_tty.as_ref())?);
    element.set("on_exit", options.ends_launch.then(|| "shutdown".to_owned()));
    for (name, value) in &options.environment {
        element.push(Element::new("env").with("name", text(name)?).with("value", text(value)?));
    }
    Ok(())
}

fn output(output: Option<&OutputChoice>, at: &Position) -> Result<Option<String>, LaunchError> {
    match output {
        None => Ok(None),
        Some(OutputChoice::Mode(mode)) => Ok(Some(text(mode)?)),
        Some(OutputChoice::Streams(streams)) => {
            let is_it = |mode: &&str| Output::from_mode(mode) == Some(*streams);
            let mode = Output::MODES.into_iter().find(is_it);
            let cure = "write one of `screen`, `log`, `both` and `own_log`";
            let refusal = || refused(at, "this combination of places in `output`", cure);
            mode.map(|mode| Some(mode.to_owned())).ok_or_else(refusal)
        }
    }
}

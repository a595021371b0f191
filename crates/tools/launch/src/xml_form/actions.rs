//! Converts actions to elements, and keeps what later actions need: the namespace, and the names of
//! containers.

use std::collections::BTreeMap;

use super::element::Element;
use super::text::{condition, flag, optional, text};
use super::{parameters, processes, refused};
use crate::action::{
    Action, Body, Component, Declaration, EventKind, Group, Handler, Item, LogLevel, Node,
    NodeKind, Source, Target, Timer,
};
use crate::error::LaunchError;
use crate::level::Level;
use crate::position::Position;
use crate::substitution::{Call, Kind, Part, Template};
use crate::tree::Language;

const KEEP: &str = "keep the file in Python";
const GROUP: &str = "write a `GroupAction` around the actions";

/// Converts actions, and collects the errors of those without an XML form.
#[derive(Default)]
pub(super) struct Exporter {
    errors: Vec<LaunchError>,
    /// The pushed namespace as a text; `None` if it is not known before the launch.
    namespace: Namespace,
    /// The full names of the nodes of containers, by the objects that start them.
    containers: BTreeMap<u64, Option<String>>,
}

/// A namespace as the text of an attribute.
#[derive(Clone)]
struct Namespace(Option<String>);

impl Default for Namespace {
    fn default() -> Self {
        Self(Some(String::new()))
    }
}

impl Namespace {
    /// This namespace with another one in it.
    fn joined(&self, inner: Option<&Template>) -> Self {
        let Some(inner) = inner else { return self.clone() };
        let (constant, written) = (inner.as_text(), text(inner).ok());
        let outer = self.0.as_deref();
        Self(match (constant, outer, written) {
            (Some(absolute), _, written) if absolute.starts_with('/') => written,
            (_, Some(""), written) => written,
            (Some(_), Some(outer), Some(inner)) => Some(format!("{outer}/{inner}")),
            _ => None,
        })
    }
}

impl Exporter {
    pub(super) fn into_errors(self) -> Vec<LaunchError> {
        self.errors
    }

    pub(super) fn elements(&mut self, items: &[Item]) -> Vec<Element> {
        let mut elements = Vec::new();
        for item in items {
            match self.item(item) {
                Ok(found) => elements.extend(found),
                Err(error) => self.errors.push(error),
            }
        }
        elements
    }

    fn item(&mut self, item: &Item) -> Result<Vec<Element>, LaunchError> {
        let condition = condition(item.condition.as_ref(), &item.at);
        let mut elements = self.action(item)?;
        let Some((name, value)) = condition? else { return Ok(elements) };
        if let [element] = elements.as_mut_slice() {
            element.set(name, Some(value));
            return Ok(elements);
        }
        let group = Element::new("group").with("scoped", "false").with(name, value);
        Ok(vec![group.with_children(elements)])
    }

    fn action(&mut self, item: &Item) -> Result<Vec<Element>, LaunchError> {
        let at = &item.at;
        let element = match &item.action {
            Action::Group(group) => self.group(group)?,
            Action::Include { source, arguments } => return self.include(source, arguments),
            Action::PushNamespace(namespace) => {
                self.namespace = match item.condition {
                    None => self.namespace.joined(Some(namespace)),
                    Some(_) => Namespace(None),
                };
                Element::new("push_ros_namespace").with("namespace", text(namespace)?)
            }
            Action::Executable(executable) => processes::executable(executable, at)?,
            Action::Node(node) => {
                self.note_container(item.id, node);
                processes::node(node, at)?
            }
            Action::Load { target, components } => self.load(target, components, at)?,
            Action::Timer(timer) => self.timer(timer)?,
            Action::For(rounds) => match &rounds.body {
                Body::Actions(actions) => Element::new("for")
                    .with("len", text(&rounds.length)?)
                    .with("name", rounds.name.as_str())
                    .with_children(self.elements(actions)),
                Body::Python(_) => return Err(refused(at, "`ForLoop` with a function", KEEP)),
            },
            Action::ForEach(for_each) => match &for_each.body {
                Body::Actions(actions) => Element::new("for_each")
                    .with("values", text(&for_each.values)?)
                    .with_children(self.elements(actions)),
                Body::Python(_) => return Err(refused(at, "`ForEach` with a function", KEEP)),
            },
            other => settings(other, at)?,
        };
        Ok(vec![element])
    }

    fn group(&mut self, group: &Group) -> Result<Element, LaunchError> {
        let mut element = Element::new("group");
        let scoped = flag(group.scoped.as_ref(), true)?;
        let forwarding = flag(group.forwarding.as_ref(), true)?;
        let outer = self.namespace.clone();
        if forwarding.is_some() {
            self.namespace = Namespace::default();
        }
        let children = self.elements(&group.actions);
        if scoped.is_none() {
            self.namespace = outer;
        }
        element.set("scoped", scoped);
        element.set("forwarding", forwarding);
        for (name, value) in &group.keep {
            let keep = Element::new("keep").with("name", text(name)?);
            element.push(keep.with("value", text(value)?));
        }
        Ok(element.with_children(children))
    }

    /// An included file, or the actions of a launch description in the file, which run in the same
    /// scope.
    fn include(
        &mut self,
        source: &Source,
        arguments: &[(Template, Template)],
    ) -> Result<Vec<Element>, LaunchError> {
        let (tag, mut elements) = match source {
            Source::File { .. } => ("arg", Vec::new()),
            Source::Actions(_) => ("let", Vec::new()),
        };
        for (name, value) in arguments {
            elements.push(Element::new(tag).with("name", text(name)?).with("value", text(value)?));
        }
        match source {
            Source::File { path, language } => {
                let named = end_of(path).and_then(|end| Language::of(end.as_ref()));
                if let (Some(named), Some(language)) = (named, language)
                    && named != *language
                {
                    let cure = "give the file a name that ends in .py, .xml or .yaml";
                    return Err(refused(&path.at, "the language of this include", cure));
                }
                let include = Element::new("include").with("file", text(path)?);
                Ok(vec![include.with_children(elements)])
            }
            Source::Actions(items) => {
                elements.extend(self.elements(items));
                Ok(elements)
            }
        }
    }

    fn timer(&mut self, timer: &Timer) -> Result<Element, LaunchError> {
        let mut element = Element::new(if timer.is_ros { "ros_timer" } else { "timer" })
            .with("period", text(&timer.period)?);
        element.set("cancel_on_shutdown", flag(timer.cancel_on_shutdown.as_ref(), true)?);
        Ok(element.with_children(self.elements(&timer.actions)))
    }

    fn note_container(&mut self, id: Option<u64>, node: &Node) {
        if let (Some(id), NodeKind::Container) = (id, node.kind) {
            let namespace = self.namespace.joined(node.facts.namespace.as_ref()).0;
            let name = node.facts.name.as_ref().and_then(|name| text(name).ok());
            let full_name = namespace
                .zip(name)
                .map(|(namespace, name)| format!("{}/{name}", namespace.trim_end_matches('/')));
            self.containers.insert(id, full_name);
        }
    }

    fn load(
        &mut self,
        target: &Target,
        components: &[Component],
        at: &Position,
    ) -> Result<Element, LaunchError> {
        let target = match target {
            Target::Name(name) => text(name)?,
            Target::Action(id) => {
                let cure = "its namespace is not known here; write its full name as \
                            `target_container`";
                let name = self.containers.get(id).cloned().flatten();
                name.ok_or_else(|| refused(at, "the container", cure))?
            }
        };
        let components = components.iter().map(processes::component);
        let components = components.collect::<Result<Vec<_>, _>>()?;
        Ok(Element::new("load_composable_node").with("target", target).with_children(components))
    }
}

/// Actions without actions within them.
fn settings(action: &Action, at: &Position) -> Result<Element, LaunchError> {
    let named = |tag, name: &Template| Ok(Element::new(tag).with("name", text(name)?));
    let pair = |tag, name: &Template, value: &Template| {
        Ok(Element::new(tag).with("name", text(name)?).with("value", text(value)?))
    };
    match action {
        Action::Argument(declaration) => self::declaration(declaration),
        Action::Let { name, value } => pair("let", name, value),
        Action::Unset { name } => named("unset", name),
        Action::SetEnvironment { name, value } => pair("set_env", name, value),
        Action::UnsetEnvironment { name } => named("unset_env", name),
        Action::AppendEnvironment { name, value, prepend, separator } => {
            let mut element = pair("append_env", name, value)?;
            element.set("prepend", flag(prepend.as_ref(), false)?);
            let separator = separator.as_ref().filter(|text| text.as_text() != Some(":"));
            element.set("separator", optional(separator)?);
            Ok(element)
        }
        Action::PushEnvironment => Ok(Element::new("push_env")),
        Action::PopEnvironment => Ok(Element::new("pop_env")),
        Action::ResetEnvironment => Ok(Element::new("reset_env")),
        Action::SetLogFolder(folder) => {
            Ok(Element::new("set_ros_log_dir").with("new_log_dir", text(folder)?))
        }
        Action::Reset { keep } => {
            let kept = keep.iter().map(|(name, value)| pair("keep", name, value));
            let kept = kept.collect::<Result<Vec<_>, LaunchError>>()?;
            Ok(Element::new("reset").with_children(kept))
        }
        Action::SetParameter(entry) => parameters::entry("set_parameter", entry),
        Action::SetParametersFromFile(path) => {
            Ok(Element::new("set_parameters_from_file").with("filename", text(path)?))
        }
        Action::SetRemap { from, to } => {
            Ok(Element::new("set_remap").with("from", text(from)?).with("to", text(to)?))
        }
        Action::SetUseSimTime(value) => {
            Ok(Element::new("set_use_sim_time").with("value", text(value)?))
        }
        Action::Log { message, level } => {
            let mut element = Element::new("log").with("message", text(message)?);
            element.set("level", self::level(level)?);
            Ok(element)
        }
        Action::Shutdown { reason } => {
            let mut element = Element::new("shutdown");
            element.set("reason", optional(reason.as_ref())?);
            Ok(element)
        }
        other => Err(without_form(other, at)),
    }
}

fn declaration(declaration: &Declaration) -> Result<Element, LaunchError> {
    let plain = |words: &str| super::text::literal(words, None);
    let mut element = Element::new("arg").with("name", plain(&declaration.name));
    element.set("default", optional(declaration.default.as_ref())?);
    element.set("description", declaration.description.as_deref().map(plain));
    let choices = declaration.choices.iter();
    let choices = choices.map(|choice| Element::new("choice").with("value", plain(choice)));
    Ok(element.with_children(choices))
}

fn level(level: &LogLevel) -> Result<Option<String>, LaunchError> {
    Ok(match level {
        LogLevel::Known(Level::Info) => None,
        LogLevel::Known(level) => Some(level.name().to_owned()),
        LogLevel::Named(name) if name.as_text() == Some("INFO") => None,
        LogLevel::Named(name) => Some(text(name)?),
    })
}

/// The refusal of an action that XML lacks.
fn without_form(action: &Action, at: &Position) -> LaunchError {
    let (what, cure) = match action {
        Action::Python { name, .. } => (format!("the function or class `{name}`"), KEEP),
        Action::Register(handler) => (format!("`{}`", class_of(handler)), KEEP),
        Action::Unregister(_) => ("`UnregisterEventHandler`".to_owned(), KEEP),
        Action::Emit { name, .. } => (format!("the event `{name}`"), KEEP),
        Action::Change { .. } => (
            "a transition of a managed node".to_owned(),
            "write `autostart=True` of `LifecycleNode`, or keep the file in Python",
        ),
        Action::PushConfigurations => ("`PushLaunchConfigurations`".to_owned(), GROUP),
        Action::PopConfigurations => ("`PopLaunchConfigurations`".to_owned(), GROUP),
        Action::Signal { signal: Some(_), .. } => ("the event `SignalProcess`".to_owned(), KEEP),
        Action::Signal { signal: None, .. } => ("the event `ShutdownProcess`".to_owned(), KEEP),
        _ => ("this action".to_owned(), KEEP),
    };
    refused(at, what, cure)
}

/// The class of a handler in Python.
fn class_of(handler: &Handler) -> &'static str {
    match handler.kind {
        Some(EventKind::ProcessStart) => "OnProcessStart",
        Some(EventKind::ProcessExit) => "OnProcessExit",
        Some(EventKind::ProcessIo) => "OnProcessIO",
        Some(EventKind::Complete) => "OnExecutionComplete",
        Some(EventKind::Shutdown) => "OnShutdown",
        Some(EventKind::State) => "OnStateTransition",
        Some(EventKind::Timer | EventKind::Own) | None => "EventHandler",
    }
}

/// The constant text at the end of a path.
fn end_of(path: &Template) -> Option<&str> {
    match path.parts.last()? {
        Part::Text(text) => Some(text),
        Part::Call(Call { kind: Kind::PathJoin | Kind::FindPackageFile, arguments, .. }) => {
            end_of(arguments.last()?)
        }
        Part::Call(_) | Part::Object(_) => None,
    }
}

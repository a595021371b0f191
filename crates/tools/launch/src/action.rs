//! A launch file as actions: interprets each entity, and checks the complete file before anything
//! is evaluated.

mod condition;
mod fields;
mod handler;
mod process;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use feros_process::Signal;

use crate::error::{LaunchError, hint, shown};
use crate::level::Level;
use crate::position::Position;
use crate::substitution::Template;
use crate::tree::{self, Entity, Language};
use condition::condition;
use fields::Fields;

pub(crate) use condition::Condition;
pub use handler::ProcessMatch;
pub(crate) use handler::{
    EventKind, Handler, HandlerTarget, IoStream, NodeMatch, Reaction, StateFilter,
};
pub(crate) use process::{
    Component, Executable, Node, NodeFacts, NodeKind, OutputChoice, Parameter, ParameterContent,
    ParameterEntry, ParameterText, ProcessOptions, Target, Words,
};

/// An action with its position and its condition.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    /// The number of the Python object, if the action is one.
    pub(crate) id: Option<u64>,
    pub(crate) at: Position,
    pub(crate) condition: Option<Condition>,
    pub(crate) action: Action,
}

#[derive(Clone, Debug)]
pub(crate) enum Action {
    Argument(Declaration),
    Let {
        name: Template,
        value: Template,
    },
    Unset {
        name: Template,
    },
    SetEnvironment {
        name: Template,
        value: Template,
    },
    AppendEnvironment {
        name: Template,
        value: Template,
        prepend: Option<Template>,
        separator: Option<Template>,
    },
    UnsetEnvironment {
        name: Template,
    },
    PushNamespace(Template),
    SetParameter(ParameterEntry),
    SetParametersFromFile(Template),
    SetRemap {
        from: Template,
        to: Template,
    },
    Group(Group),
    Include {
        source: Source,
        arguments: Vec<(Template, Template)>,
    },
    Executable(Box<Executable>),
    Node(Box<Node>),
    Load {
        target: Target,
        components: Vec<Component>,
    },
    Log {
        message: Template,
        level: LogLevel,
    },
    SetUseSimTime(Template),
    PushEnvironment,
    PopEnvironment,
    ResetEnvironment,
    SetLogFolder(Template),
    Reset {
        keep: Vec<(Template, Template)>,
    },
    PushConfigurations,
    PopConfigurations,
    For(Loop),
    ForEach(ForEach),
    Timer(Timer),
    Shutdown {
        reason: Option<Template>,
    },
    /// Actions that only a Python object knows, by the number of the object.
    Python {
        id: u64,
        name: String,
    },
    Register(Arc<Handler>),
    /// Makes managed nodes do transitions, in this order.
    Change {
        nodes: Vec<NodeMatch>,
        transitions: Vec<Template>,
    },
    /// Tells the handlers of an event, by the number of its Python object.
    Emit {
        id: u64,
        name: String,
    },
    /// Sends a signal to processes, or makes them end.
    Signal {
        processes: ProcessMatch,
        signal: Option<Signal>,
    },
    /// Drops the actions of the timer with this number.
    CancelTimer(u64),
    /// Forgets the handler with this number.
    Unregister(u64),
}

/// The actions that an include performs.
#[derive(Clone, Debug)]
pub(crate) enum Source {
    /// The actions of a file, in this language or in the language that its name implies.
    File { path: Template, language: Option<Language> },
    /// These actions.
    Actions(Vec<Item>),
}

/// The severity of the message of a log action.
#[derive(Clone, Debug)]
pub(crate) enum LogLevel {
    /// The level that the tag implies.
    Known(Level),
    /// The level that an attribute names.
    Named(Template),
}

/// The actions of a `for` loop.
#[derive(Clone, Debug)]
pub(crate) struct Loop {
    pub(crate) length: Template,
    /// The name with which `$(index ...)` reads the number of the iteration.
    pub(crate) name: String,
    pub(crate) body: Body,
}

/// The actions that a loop repeats.
#[derive(Clone, Debug)]
pub(crate) enum Body {
    /// These actions.
    Actions(Vec<Item>),
    /// The actions that a Python function returns in each iteration, by the number of the loop's
    /// object.
    Python(u64),
}

/// The actions of a `for_each` loop, which are repeated for each set of values.
#[derive(Clone, Debug)]
pub(crate) struct ForEach {
    /// YAML mappings, separated by `;`.
    pub(crate) values: Template,
    pub(crate) body: Body,
}

/// The delayed actions of a timer.
#[derive(Clone, Debug)]
pub(crate) struct Timer {
    /// Whether the timer follows ROS time, which is `/clock` if nodes use simulated time.
    pub(crate) is_ros: bool,
    pub(crate) period: Template,
    pub(crate) cancel_on_shutdown: Option<Template>,
    pub(crate) actions: Vec<Item>,
}

/// The declaration of an argument of the file.
#[derive(Clone, Debug)]
pub(crate) struct Declaration {
    pub(crate) name: String,
    pub(crate) default: Option<Template>,
    pub(crate) description: Option<String>,
    pub(crate) choices: Vec<String>,
}

#[derive(Clone, Debug)]
pub(crate) struct Group {
    pub(crate) scoped: Option<Template>,
    pub(crate) forwarding: Option<Template>,
    pub(crate) keep: Vec<(Template, Template)>,
    pub(crate) actions: Vec<Item>,
}

/// The tags of all actions, for suggestions in error messages.
const KNOWN: &[&str] = &[
    "arg",
    "bool_arg",
    "let",
    "unset",
    "set_env",
    "unset_env",
    "append_env",
    "push_env",
    "pop_env",
    "reset_env",
    "set_ros_log_dir",
    "reset",
    "push_ros_namespace",
    "set_parameter",
    "set_parameters_from_file",
    "set_remap",
    "group",
    "for",
    "for_each",
    "include",
    "executable",
    "node",
    "lifecycle_node",
    "composable_node_container",
    "node_container",
    "load_composable_node",
    "log",
    "log_info",
    "log_debug",
    "log_warning",
    "log_error",
    "set_use_sim_time",
    "timer",
    "ros_timer",
    "shutdown",
];

/// Actions that exist only in Python launch files: reactions to events.
const OF_PYTHON: &[&str] = &[
    "emit_event",
    "event_handler",
    "register_event_handler",
    "on_process_start",
    "on_process_exit",
    "on_process_io",
    "on_shutdown",
];

/// A launch file.
pub(crate) struct LaunchFile {
    pub(crate) items: Vec<Item>,
    /// The names that `$(var NAME ...)` reads, with or without a default.
    pub(crate) variables: BTreeSet<String>,
    /// Whether objects of Python may read more variables than these.
    pub(crate) reads_more: bool,
}

/// Reads the actions of a launch file in XML or YAML.
pub(crate) fn read_file(
    path: &Path,
    language: Option<Language>,
    from: Option<&Position>,
) -> Result<LaunchFile, LaunchError> {
    let root = tree::read_file(path, language, from)?;
    let mut variables = BTreeSet::new();
    root.scalars(&mut |scalar| {
        // A mistake in a template is reported when the template is used.
        if let Ok(template) = Template::parse(scalar) {
            template.variables(&mut variables);
        }
    });
    Ok(LaunchFile { items: parse(root)?, variables, reads_more: false })
}

/// Converts the root entity of a file into actions.
pub(crate) fn parse(root: Entity) -> Result<Vec<Item>, LaunchError> {
    let fields = Fields::new(root);
    if fields.tag != "launch" {
        let problem = format!(
            "{} at the top: expected `launch`{}",
            shown(&fields.tag),
            hint(&fields.tag, ["launch"])
        );
        return Err(fields.error(problem));
    }
    fields.read(|fields| {
        fields.take("deprecated");
        fields.take("version");
        items(fields.actions())
    })
}

fn items(entities: Vec<Entity>) -> Result<Vec<Item>, LaunchError> {
    let (mut items, mut errors) = (Vec::new(), Vec::new());
    for entity in entities {
        match item(entity) {
            Ok(item) => items.push(item),
            Err(error) => errors.push(error),
        }
    }
    LaunchError::of_all(errors)?;
    Ok(items)
}

fn item(entity: Entity) -> Result<Item, LaunchError> {
    let fields = Fields::new(entity);
    if !KNOWN.contains(&fields.tag.replace('-', "_").as_str()) {
        return Err(unknown(&fields));
    }
    fields.read(|fields| {
        let at = fields.at.clone();
        Ok(Item { id: None, at, condition: condition(fields)?, action: action(fields)? })
    })
}

fn unknown(fields: &Fields) -> LaunchError {
    let tag = fields.tag.as_str();
    fields.error(match tag {
        "param" | "rosparam" => format!("`{tag}` outside of a node: ROS 2 has no global parameters; it belongs in `node`"),
        "remap" => "`remap` outside of a node: it belongs in `node`, or is called `set_remap`".to_owned(),
        "env" => "`env` outside of a process: it belongs in `node` or `executable`, or is called `set_env`".to_owned(),
        "composable_node" => {
            "`composable_node` by itself: it belongs in `composable_node_container` or `load_composable_node`".to_owned()
        }
        "machine" => "`machine`: processes on other machines cannot be started from this machine; \
                      run feros launch there".to_owned(),
        "lifecycle_transition" => {
            "`lifecycle_transition`: only launch files in Python have it; write `autostart` of `lifecycle_node`, or call \
             `feros lifecycle set`"
                .to_owned()
        }
        _ if OF_PYTHON.contains(&tag) => {
            format!("`{tag}`: only launch files in Python have event handlers; `on_exit=\"shutdown\"` of a process ends the launch with it")
        }
        "test" => "`test`: a test is run by launch_testing; write `executable`, or run it with launch_test".to_owned(),
        _ => format!("unknown action {}{}", shown(tag), hint(tag, KNOWN.iter().copied())),
    })
}

fn action(fields: &mut Fields) -> Result<Action, LaunchError> {
    Ok(match fields.tag.replace('-', "_").as_str() {
        "arg" => Action::Argument(declaration(fields)?),
        "bool_arg" => Action::Argument(truth_declaration(fields)?),
        "let" => Action::Let { name: fields.required("name")?, value: fields.required("value")? },
        "unset" => Action::Unset { name: fields.required("name")? },
        "set_env" => Action::SetEnvironment {
            name: fields.required("name")?,
            value: fields.required("value")?,
        },
        "append_env" => Action::AppendEnvironment {
            name: fields.required("name")?,
            value: fields.required("value")?,
            prepend: fields.optional("prepend")?,
            separator: fields.optional("separator")?,
        },
        "unset_env" => Action::UnsetEnvironment { name: fields.required("name")? },
        "push_env" => Action::PushEnvironment,
        "pop_env" => Action::PopEnvironment,
        "reset_env" => Action::ResetEnvironment,
        "set_ros_log_dir" => Action::SetLogFolder(fields.required("new_log_dir")?),
        "reset" => Action::Reset { keep: fields.pairs("keep")? },
        "push_ros_namespace" => Action::PushNamespace(fields.required("namespace")?),
        "set_parameter" => Action::SetParameter(process::unquoted_entry(fields)?),
        "set_parameters_from_file" => Action::SetParametersFromFile(fields.required("filename")?),
        "set_remap" => {
            Action::SetRemap { from: fields.required("from")?, to: fields.required("to")? }
        }
        "group" => Action::Group(group(fields)?),
        "for" => Action::For(round(fields)?),
        "for_each" => Action::ForEach(ForEach {
            values: fields.required("values")?,
            body: Body::Actions(items(fields.actions())?),
        }),
        "include" => include(fields)?,
        "executable" => Action::Executable(Box::new(process::executable(fields)?)),
        "node" => Action::Node(Box::new(process::node(fields, NodeKind::Node)?)),
        "lifecycle_node" => Action::Node(Box::new(process::node(fields, NodeKind::Lifecycle)?)),
        "load_composable_node" => load(fields)?,
        "log" => {
            let level = fields.optional("level")?;
            let level = level.map_or(LogLevel::Known(Level::Info), LogLevel::Named);
            Action::Log { message: fields.required("message")?, level }
        }
        "log_info" => message(fields, Level::Info)?,
        "log_debug" => message(fields, Level::Debug)?,
        "log_warning" => message(fields, Level::Warning)?,
        "log_error" => message(fields, Level::Error)?,
        "set_use_sim_time" => Action::SetUseSimTime(fields.required("value")?),
        "timer" => Action::Timer(timer(fields, false)?),
        "ros_timer" => Action::Timer(timer(fields, true)?),
        "shutdown" => Action::Shutdown { reason: fields.optional("reason")? },
        _ => Action::Node(Box::new(process::node(fields, NodeKind::Container)?)),
    })
}

fn message(fields: &mut Fields, level: Level) -> Result<Action, LaunchError> {
    let level = LogLevel::Known(level);
    Ok(Action::Log { message: fields.required("message")?, level })
}

fn timer(fields: &mut Fields, is_ros: bool) -> Result<Timer, LaunchError> {
    Ok(Timer {
        is_ros,
        period: fields.required("period")?,
        cancel_on_shutdown: fields.optional("cancel_on_shutdown")?,
        actions: items(fields.actions())?,
    })
}

fn declaration(fields: &mut Fields) -> Result<Declaration, LaunchError> {
    let (name, _) = fields.text("name")?.ok_or_else(|| fields.missing("name"))?;
    let default = fields.optional("default")?;
    let description = fields.text("description")?.map(|(text, _)| text);
    let choices = fields.each("choice", |choice| {
        Ok(choice.text("value")?.ok_or_else(|| choice.missing("value"))?.0)
    })?;
    // In ROS 1, an `arg` with a `value` is a constant.
    if let Some(value) = fields.take("value") {
        let problem = format!(
            "`value` of the argument {}: expected `default`; a constant is called `let`",
            shown(&name)
        );
        return Err(LaunchError::at(&value.at, problem));
    }
    Ok(Declaration { name, default, description, choices })
}

/// An argument whose value is true or false.
fn truth_declaration(fields: &mut Fields) -> Result<Declaration, LaunchError> {
    let (name, _) = fields.text("name")?.ok_or_else(|| fields.missing("name"))?;
    let default = fields.optional("default")?;
    let description = fields.text("description")?.map(|(text, _)| text);
    let choices = ["true", "false", "True", "False", "TRUE", "FALSE"].map(str::to_owned).into();
    Ok(Declaration { name, default, description, choices })
}

fn round(fields: &mut Fields) -> Result<Loop, LaunchError> {
    let length = fields.required("len")?;
    let (name, _) = fields.text("name")?.ok_or_else(|| fields.missing("name"))?;
    Ok(Loop { length, name, body: Body::Actions(items(fields.actions())?) })
}

fn group(fields: &mut Fields) -> Result<Group, LaunchError> {
    let scoped = fields.optional("scoped")?;
    let forwarding = fields.optional("forwarding")?;
    // ROS 1 has the attribute `ns`, and people still write it.
    if let Some(namespace) = fields.take("ns") {
        let problem = "`ns` of `group`: write `push_ros_namespace` as the group's first action";
        return Err(LaunchError::at(&namespace.at, problem));
    }
    let keep = fields.pairs("keep")?;
    let actions = items(fields.actions())?;
    Ok(Group { scoped, forwarding, keep, actions })
}

fn include(fields: &mut Fields) -> Result<Action, LaunchError> {
    let file = fields.required("file")?;
    let mut arguments = fields.pairs("arg")?;
    arguments.extend(fields.pairs("let")?);
    Ok(Action::Include { source: Source::File { path: file, language: None }, arguments })
}

fn load(fields: &mut Fields) -> Result<Action, LaunchError> {
    let target = Target::Name(fields.required("target")?);
    let components = process::components(fields)?;
    if components.is_empty() {
        return Err(fields.error("`load_composable_node` without a `composable_node`"));
    }
    Ok(Action::Load { target, components })
}

//! Actions that start processes or load components: `executable`, `node`, `lifecycle_node` and
//! containers. They are parsed as in `launch/launch/actions/execute_process.py` and
//! `launch_ros/launch_ros/actions/node.py`.

use super::condition::{Condition, condition};
use super::fields::Fields;
use super::handler::Reaction;
use crate::error::{LaunchError, hint, shown};
use crate::output::Output;
use crate::position::Position;
use crate::substitution::Template;
use crate::tree::{AttributeValue, Scalar};
use crate::value::{Value, ValueType};

/// The options that all processes have.
#[derive(Clone, Debug)]
pub(crate) struct ProcessOptions {
    pub(crate) directory: Option<Template>,
    /// Whether `environment` replaces the environment of the launch.
    pub(crate) replaces_environment: bool,
    pub(crate) environment: Vec<(Template, Template)>,
    pub(crate) prefix: Option<Template>,
    pub(crate) output: Option<OutputChoice>,
    pub(crate) respawn: Option<Template>,
    pub(crate) respawn_delay: Option<Template>,
    pub(crate) respawn_max_retries: Option<Template>,
    pub(crate) sigterm_timeout: Option<Template>,
    pub(crate) sigkill_timeout: Option<Template>,
    pub(crate) emulate_tty: Option<Template>,
    pub(crate) ends_launch: bool,
    /// What else happens when the process ends.
    pub(crate) on_exit: Option<Reaction>,
}

/// The destinations of a process's output.
#[derive(Clone, Debug)]
pub(crate) enum OutputChoice {
    /// The name of a mode.
    Mode(Template),
    /// Destinations for each stream.
    Streams(Output),
}

/// The words of a command line.
#[derive(Clone, Debug)]
pub(crate) enum Words {
    /// A line that is split as a shell does.
    Line(Template),
    /// Words that are not split again.
    List(Vec<Template>),
}

/// An `executable`: a process with any command line.
#[derive(Clone, Debug)]
pub(crate) struct Executable {
    pub(crate) command: Words,
    pub(crate) name: Option<Template>,
    pub(crate) shell: Option<Template>,
    pub(crate) options: ProcessOptions,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    Node,
    Container,
    /// A managed node.
    Lifecycle,
}

/// A process that runs a node of a package.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    pub(crate) package: Option<Template>,
    pub(crate) executable: Template,
    pub(crate) label: Option<Template>,
    pub(crate) facts: NodeFacts,
    pub(crate) arguments: Option<Words>,
    pub(crate) ros_arguments: Option<Words>,
    pub(crate) options: ProcessOptions,
    pub(crate) components: Vec<Component>,
    /// Whether a managed node is configured and activated after its start.
    pub(crate) autostart: Option<Template>,
    /// Whether a shell runs the command line.
    pub(crate) shell: Option<Template>,
}

/// The names and settings of a node.
#[derive(Clone, Debug)]
pub(crate) struct NodeFacts {
    pub(crate) name: Option<Template>,
    pub(crate) namespace: Option<Template>,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) remaps: Vec<(Template, Template)>,
}

/// A component that a container loads.
#[derive(Clone, Debug)]
pub(crate) struct Component {
    pub(crate) at: Position,
    pub(crate) condition: Option<Condition>,
    pub(crate) package: Template,
    pub(crate) plugin: Template,
    pub(crate) facts: NodeFacts,
    pub(crate) extra_arguments: Vec<ParameterEntry>,
}

/// A `param` of a node: a value, or a file with values.
#[derive(Clone, Debug)]
pub(crate) enum Parameter {
    Entry(ParameterEntry),
    File {
        path: Template,
        substitute: Option<Template>,
        /// Whether a missing file is only worth a warning.
        may_be_missing: bool,
    },
}

/// The container that loads components.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    /// The full name of its node.
    Name(Template),
    /// The number of the action that starts it.
    Action(u64),
}

/// A parameter, or nested parameters under a common name.
#[derive(Clone, Debug)]
pub(crate) struct ParameterEntry {
    pub(crate) name: Template,
    pub(crate) at: Position,
    pub(crate) content: ParameterContent,
}

#[derive(Clone, Debug)]
pub(crate) enum ParameterContent {
    Nested(Vec<ParameterEntry>),
    One { value: ParameterText, kind: Option<ValueType> },
    List { items: Vec<ParameterText>, kind: Option<ValueType> },
}

/// A value, which is known now or after its substitutions have been evaluated.
#[derive(Clone, Debug)]
pub(crate) enum ParameterText {
    Known { value: Value, source: String },
    Later(Template),
}

pub(super) fn executable(fields: &mut Fields) -> Result<Executable, LaunchError> {
    Ok(Executable {
        command: Words::Line(fields.required("cmd")?),
        name: fields.optional("name")?,
        shell: fields.optional("shell")?,
        options: options(fields)?,
    })
}

fn options(fields: &mut Fields) -> Result<ProcessOptions, LaunchError> {
    let environment = fields.pairs("env")?;
    let ends_launch = match fields.text("on_exit")? {
        None => false,
        Some((text, _)) if text == "shutdown" => true,
        Some((text, at)) => {
            return Err(LaunchError::at(
                &at,
                format!("{} for `on_exit`: expected `shutdown`", shown(&text)),
            ));
        }
    };
    Ok(ProcessOptions {
        directory: fields.optional("cwd")?,
        replaces_environment: false,
        environment,
        prefix: fields.optional("launch-prefix")?,
        output: fields.optional("output")?.map(OutputChoice::Mode),
        respawn: fields.optional("respawn")?,
        respawn_delay: fields.optional("respawn_delay")?,
        respawn_max_retries: fields.optional("respawn_max_retries")?,
        sigterm_timeout: fields.optional("sigterm_timeout")?,
        sigkill_timeout: fields.optional("sigkill_timeout")?,
        emulate_tty: fields.optional("emulate_tty")?,
        ends_launch,
        on_exit: None,
    })
}

pub(super) fn node(fields: &mut Fields, kind: NodeKind) -> Result<Node, LaunchError> {
    let package = fields.optional("pkg")?;
    let executable = fields.required("exec")?;
    let facts = facts(fields)?;
    if kind != NodeKind::Node && facts.name.is_none() {
        return Err(fields.missing("name"));
    }
    let components = if kind == NodeKind::Container { components(fields)? } else { Vec::new() };
    let autostart = if kind == NodeKind::Lifecycle { fields.optional("autostart")? } else { None };
    Ok(Node {
        kind,
        package,
        executable,
        label: fields.optional("exec_name")?,
        facts,
        arguments: fields.optional("args")?.map(Words::Line),
        ros_arguments: fields.optional("ros_args")?.map(Words::Line),
        options: options(fields)?,
        components,
        autostart,
        shell: None,
    })
}

fn facts(fields: &mut Fields) -> Result<NodeFacts, LaunchError> {
    Ok(NodeFacts {
        name: fields.optional("name")?,
        namespace: namespace(fields)?,
        parameters: fields.each("param", parameter)?,
        remaps: fields
            .each("remap", |child| Ok((child.required("from")?, child.required("to")?)))?,
    })
}

/// Reads `namespace`, or `ns`, which is the name of the attribute in ROS 1.
fn namespace(fields: &mut Fields) -> Result<Option<Template>, LaunchError> {
    match (fields.optional("namespace")?, fields.optional("ns")?) {
        (Some(_), Some(second)) => Err(LaunchError::at(
            &second.at,
            "both `ns` and `namespace` are given: they mean the same, expected one of them",
        )),
        (one, other) => Ok(one.or(other)),
    }
}

pub(super) fn components(fields: &mut Fields) -> Result<Vec<Component>, LaunchError> {
    fields.each("composable_node", |fields| {
        Ok(Component {
            at: fields.at.clone(),
            condition: condition(fields)?,
            package: fields.required("pkg")?,
            plugin: fields.required("plugin")?,
            facts: facts(fields)?,
            extra_arguments: fields.each("extra_arg", unquoted_entry)?,
        })
    })
}

fn parameter(fields: &mut Fields) -> Result<Parameter, LaunchError> {
    let Some(path) = fields.optional("from")? else {
        return Ok(Parameter::Entry(parameter_entry(fields)?));
    };
    if let Some(name) = fields.take("name") {
        return Err(LaunchError::at(
            &name.at,
            "`name` is given for a `param` with `from`: the parameter file has the names",
        ));
    }
    let substitute = fields.optional("allow_substs")?;
    Ok(Parameter::File { path, substitute, may_be_missing: false })
}

/// Reads a parameter whose YAML quotes do not make the value a string: the text within the quotes
/// is parsed again, as stock launch does for `extra_arg` and `set_parameter`
/// (`launch_ros/launch_ros/{descriptions/composable_node,actions/set_parameter}.py`).
pub(super) fn unquoted_entry(fields: &mut Fields) -> Result<ParameterEntry, LaunchError> {
    fields.unquote("value");
    parameter_entry(fields)
}

/// Reads a named `param` with a value, or with nested parameters.
pub(super) fn parameter_entry(fields: &mut Fields) -> Result<ParameterEntry, LaunchError> {
    let name = fields.required("name")?;
    let kind = fields.text("type")?.map(|(text, at)| value_type(&text, &at)).transpose()?;
    let value = fields.take("value");
    let nested = fields.children("param");
    let content = match (value, nested.is_empty()) {
        (Some(attribute), true) => content(&attribute.value, kind)?,
        (None, false) if kind.is_none() => {
            let nested = nested.into_iter().map(|fields| fields.read(parameter_entry));
            ParameterContent::Nested(nested.collect::<Result<_, _>>()?)
        }
        (None, true) => {
            return Err(
                fields.error("`param` without its `value` (or `from`, or parameters within it)")
            );
        }
        _ => {
            return Err(fields
                .error("`param` with parameters within it has neither a `value` nor a `type`"));
        }
    };
    Ok(ParameterEntry { name, at: fields.at.clone(), content })
}

fn value_type(text: &str, at: &Position) -> Result<ValueType, LaunchError> {
    let names = || ValueType::NAMES.iter().map(|(name, _)| *name);
    let known = ValueType::NAMES.iter().find(|(name, _)| *name == text).map(|(_, kind)| *kind);
    known.ok_or_else(|| {
        LaunchError::at(at, format!("unknown type {}{}", shown(text), hint(text, names())))
    })
}

fn content(
    value: &AttributeValue,
    kind: Option<ValueType>,
) -> Result<ParameterContent, LaunchError> {
    Ok(match value {
        AttributeValue::One(scalar) => {
            ParameterContent::One { value: parameter_text(scalar, kind)?, kind }
        }
        AttributeValue::List(items) => {
            let items =
                items.iter().map(|item| parameter_text(item, kind)).collect::<Result<_, _>>()?;
            ParameterContent::List { items, kind }
        }
    })
}

/// Parses the text as YAML before substitutions are evaluated. So `'$(var x)'` loses its quotes,
/// and the result of `$(var x)` is parsed as YAML again.
fn parameter_text(scalar: &Scalar, kind: Option<ValueType>) -> Result<ParameterText, LaunchError> {
    let whole = Template::parse(scalar)?;
    let is_text = scalar.quoted || matches!(kind, Some(ValueType::String | ValueType::Strings));
    let value = match (is_text, Value::from_yaml(&scalar.text)) {
        (true, _) => Value::String(scalar.text.clone()),
        (false, Ok(value)) => value,
        // The items of a list may have a common type once their substitutions have been evaluated.
        (false, Err(_)) if whole.as_text().is_none() => return Ok(ParameterText::Later(whole)),
        (false, Err(problem)) => return Err(LaunchError::at(&scalar.at, problem)),
    };
    match value {
        Value::String(text) => {
            let verbatim = scalar.verbatim && text == scalar.text;
            let template = Template::parse(&Scalar { text, verbatim, ..scalar.clone() })?;
            Ok(match template.as_text() {
                Some(text) => known(Value::String(text.to_owned()), text),
                None => ParameterText::Later(template),
            })
        }
        Value::Strings(_) if whole.as_text().is_none() => Ok(ParameterText::Later(whole)),
        Value::Strings(items) => {
            let plain =
                |text: String| Template::parse(&Scalar { text, verbatim: false, ..scalar.clone() });
            let items = items
                .into_iter()
                .map(|item| Ok(plain(item)?.as_text().unwrap_or_default().to_owned()));
            Ok(known(Value::Strings(items.collect::<Result<_, LaunchError>>()?), &scalar.text))
        }
        value => Ok(known(value, &scalar.text)),
    }
}

fn known(value: Value, source: &str) -> ParameterText {
    ParameterText::Known { value, source: source.to_owned() }
}

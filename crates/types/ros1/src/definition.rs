//! Reads definitions of ROS 1 messages into the same tree as definitions of ROS 2.
//!
//! In that tree, `time` and `duration` are `builtin_interfaces/Time` and `Duration`, which have the
//! same numbers in the same order. The syntax rules are those of `genmsg/msg_loader.py`.

use feros_interface::{
    BaseType, Field, FieldType, Literal, MAX_DEFINITION_BYTES, MessageDefinition, Namespace, Shape,
    TypeName,
};

use crate::peer_text::shown_name;

/// The line that precedes each referenced definition in a `message_definition`.
pub(crate) const SEPARATOR: &str =
    "================================================================================";

/// The reason why a text is not a definition of a ROS 1 message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DefinitionError {
    /// A line is neither a field nor a constant.
    #[error(
        "line {number} of {name} is not a field or constant of ROS 1: `{line}` (expected \
         {expected})"
    )]
    Line {
        /// The message.
        name: String,
        /// The line, counted from 1.
        number: usize,
        /// The text of the line, at most 80 characters.
        line: String,
        /// The expected content.
        expected: &'static str,
    },
    /// The text is too long.
    #[error(
        "the definition of {name} has {len} bytes, more than the limit of {MAX_DEFINITION_BYTES}"
    )]
    TooLong {
        /// The message.
        name: String,
        /// The length of the definition, in bytes.
        len: usize,
    },
    /// The name is not the name of a message.
    #[error("`{name}` is not a ROS 1 type name: expected package/Name")]
    Name {
        /// The malformed name.
        name: String,
    },
    /// The definition of a service has no line between request and response.
    #[error("the definition of the service {name} has no line `---` between request and response")]
    NotAService {
        /// The service.
        name: String,
    },
}

/// One message of ROS 1, without the messages that it refers to.
#[derive(Clone, Debug, PartialEq)]
pub struct Ros1Message {
    /// The name `package/msg/Name` and the fields of the message, without its constants.
    pub definition: MessageDefinition,
    /// The constants in the form that the checksum covers: `type NAME=value`.
    pub constants: Vec<String>,
    /// The text that the message was read from.
    pub text: String,
}

/// Splits a name of the form `package/Name`.
///
/// # Errors
/// Returns an error if the name is malformed.
pub fn parse_type(name: &str) -> Result<TypeName, DefinitionError> {
    let fault = || DefinitionError::Name { name: shortened(name) };
    let (package, name) = name.split_once('/').ok_or_else(fault)?;
    if !is_identifier(package) || !is_identifier(name) {
        return Err(fault());
    }
    Ok(TypeName::message(package, name))
}

/// Returns the name in the form that ROS 1 uses: `package/Name`.
#[must_use]
pub fn type_text(name: &TypeName) -> String {
    format!("{}/{}", name.package, name.name)
}

/// Reads one message, without the messages that it refers to.
///
/// # Errors
/// Returns an error for the first faulty line.
pub fn parse_message(name: &TypeName, text: &str) -> Result<Ros1Message, DefinitionError> {
    if text.len() > MAX_DEFINITION_BYTES {
        return Err(DefinitionError::TooLong { name: type_text(name), len: text.len() });
    }
    let mut message = Ros1Message {
        definition: MessageDefinition::new(name.clone(), Vec::new()),
        constants: Vec::new(),
        text: text.to_owned(),
    };
    for (index, line) in text.lines().enumerate() {
        let clean = line.split('#').next().unwrap_or_default().trim();
        if clean.is_empty() {
            continue;
        }
        let fault = |expected| DefinitionError::Line {
            name: type_text(name),
            number: index + 1,
            line: shortened(line),
            expected,
        };
        if clean.contains('=') {
            message.constants.push(constant(line.trim(), clean).ok_or_else(|| {
                fault("a constant `type NAME=value` of a number, a bool or a string")
            })?);
        } else {
            let field = field(&name.package, clean)
                .ok_or_else(|| fault("a field `type name`, `type[] name` or `type[7] name`"))?;
            message.definition.fields.push(field);
        }
    }
    Ok(message)
}

/// Reads a service. The request and the response have the names `package/srv/Name_Request` and
/// `_Response`.
///
/// # Errors
/// See [`parse_message`]. Also returns an error if there is no line `---`.
pub fn parse_service(
    name: &TypeName,
    text: &str,
) -> Result<(Ros1Message, Ros1Message), DefinitionError> {
    let name = TypeName::new(name.package.clone(), Namespace::Srv, name.name.clone());
    let lines: Vec<&str> = text.lines().collect();
    let middle = lines.iter().position(|line| line.trim() == "---");
    let middle = middle.ok_or_else(|| DefinitionError::NotAService { name: type_text(&name) })?;
    let request = parse_message(&name.with_suffix("_Request"), &lines[..middle].join("\n"))?;
    let response = parse_message(&name.with_suffix("_Response"), &lines[middle + 1..].join("\n"))?;
    Ok((request, response))
}

/// Splits a `message_definition`. Returns the text of the message itself, and the name and text of
/// each message that it refers to.
pub(crate) fn split_full_text(text: &str) -> (String, Vec<(String, String)>) {
    let mut sections: Vec<(String, Vec<&str>)> = vec![(String::new(), Vec::new())];
    for line in text.lines() {
        let line = line.trim_end();
        if line.len() >= SEPARATOR.len() && line.bytes().all(|byte| byte == b'=') {
            sections.push((String::new(), Vec::new()));
            continue;
        }
        let is_nested = sections.len() > 1;
        if let Some((name, lines)) = sections.last_mut() {
            match line.strip_prefix("MSG:") {
                Some(named) if is_nested && name.is_empty() => *name = named.trim().to_owned(),
                _ => lines.push(line),
            }
        }
    }
    let mut sections = sections.into_iter().map(|(name, lines)| (name, lines.join("\n")));
    let own = sections.next().unwrap_or_default().1;
    (own, sections.collect())
}

fn constant(line: &str, clean: &str) -> Option<String> {
    let (ty, rest) = clean.split_once(char::is_whitespace)?;
    let is_text = ty == "string";
    if !is_text && primitive(ty).is_none() {
        return None;
    }
    // A string constant extends to the end of the line, even if a part of it looks like a comment.
    let rest = if is_text { line.split_once(char::is_whitespace)?.1 } else { rest };
    let (name, value) = rest.split_once('=')?;
    is_identifier(name.trim()).then(|| format!("{ty} {}={}", name.trim(), value.trim()))
}

fn field(package: &str, clean: &str) -> Option<Field> {
    let mut words = clean.split_whitespace();
    let (ty, name) = (words.next()?, words.next()?);
    if words.next().is_some() || !is_identifier(name) {
        return None;
    }
    let (base, shape) = match ty.split_once('[') {
        None => (ty, Shape::Single),
        Some((base, "]")) => (base, Shape::Sequence),
        Some((base, size)) => {
            let size: u32 = size.strip_suffix(']')?.parse().ok()?;
            (base, Shape::Array(size))
        }
    };
    let base = match base {
        "time" => BaseType::Nested(TypeName::message("builtin_interfaces", "Time")),
        "duration" => BaseType::Nested(TypeName::message("builtin_interfaces", "Duration")),
        "string" => BaseType::String { bound: None },
        "Header" => BaseType::Nested(TypeName::message("std_msgs", "Header")),
        _ => match primitive(base) {
            Some(primitive) => primitive,
            None => BaseType::Nested(match base.split_once('/') {
                Some(_) => parse_type(base).ok()?,
                None if is_identifier(base) => TypeName::message(package, base),
                None => return None,
            }),
        },
    };
    Some(Field::new(name, FieldType { base, shape }))
}

/// The type of a number or a bool. ROS 1 and ROS 2 have the same keywords for these.
fn primitive(name: &str) -> Option<BaseType> {
    BaseType::of_keyword(name)
        .filter(|ty| !matches!(ty, BaseType::String { .. } | BaseType::WString { .. }))
}

/// Returns the type of a field in the form that ROS 1 uses, or `None` if ROS 1 does not have the
/// type.
pub(crate) fn field_type_text(ty: &FieldType) -> Option<String> {
    let base = match &ty.base {
        BaseType::Nested(name) if name.package == "builtin_interfaces" => match &*name.name {
            "Time" => "time".to_owned(),
            "Duration" => "duration".to_owned(),
            _ => return None,
        },
        BaseType::Nested(name) => type_text(name),
        BaseType::String { .. } => "string".to_owned(),
        BaseType::WString { .. } => return None,
        number => number.to_string(),
    };
    Some(match ty.shape {
        Shape::Single => base,
        Shape::Array(size) => format!("{base}[{size}]"),
        Shape::Sequence | Shape::BoundedSequence(_) => format!("{base}[]"),
    })
}

/// Returns the text of a ROS 1 definition for a ROS 2 message, or `None` if ROS 1 does not have one
/// of the types.
pub(crate) fn of_ros2(definition: &MessageDefinition) -> Option<String> {
    let mut text = String::new();
    for constant in &definition.constants {
        let ty = field_type_text(&FieldType::single(constant.ty.clone()))?;
        let value = match &constant.value {
            Literal::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
            Literal::Integer(value) => value.to_string(),
            Literal::Float(value) => value.to_string(),
            Literal::String(value) => value.clone(),
            Literal::Array(_) => return None,
        };
        text.push_str(&format!("{ty} {}={value}\n", constant.name));
    }
    for field in &definition.fields {
        text.push_str(&format!("{} {}\n", field_type_text(&field.ty)?, field.name));
    }
    Some(text)
}

fn is_identifier(text: &str) -> bool {
    text.len() <= 255
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn shortened(text: &str) -> String {
    let first: String = text.chars().take(80).collect();
    shown_name(&first).into_owned()
}

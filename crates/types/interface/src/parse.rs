//! Parses definitions line by line, by the rules of stock ROS 2 (`rosidl_adapter`).
//!
//! Some rules are surprising, but Feros follows them so that a file has the same meaning in Feros
//! and in stock ROS 2: a `#` starts a comment even inside quotes, a `=` anywhere after the type
//! makes the line a constant, and a line may not be indented.

mod error;
mod line;
mod literal;

use crate::name::{Namespace, TypeName, is_package_name, is_type_name};
use crate::tree::{ActionDefinition, Interface, MessageDefinition, ServiceDefinition};
use error::{Located, at};
pub use error::{ParseError, ParseErrorKind};
use line::MessageParser;

/// The limit on the size of a definition, in bytes. The longest definition of stock ROS 2 has about
/// 15 KB.
pub const MAX_DEFINITION_BYTES: usize = 1 << 20;

/// Parses the text of `msg/<name>.msg` of a package.
///
/// ```
/// use feros_interface::{Literal, parse_message};
///
/// let point = parse_message("my_msgs", "Point", "# A place.\nfloat64 x 1.5\nfloat64 y\n")?;
/// assert_eq!(point.fields[0].default, Some(Literal::Float(1.5)));
/// assert_eq!(point.comment, ["A place."]);
///
/// let error = parse_message("my_msgs", "Point", "float64 x\nfloat46 y\n").unwrap_err();
/// assert_eq!((error.line, error.column), (2, 1));
/// # Ok::<(), feros_interface::ParseError>(())
/// ```
///
/// # Errors
/// Fails at the first line that violates the rules, for a wrong package or type name, and for a
/// text that is too large.
pub fn parse_message(
    package: &str,
    name: &str,
    text: &str,
) -> Result<MessageDefinition, ParseError> {
    let name = definition_name(package, Namespace::Msg, name, text)?;
    let lines: Vec<Line<'_>> = split_lines(text).collect();
    message(name.clone(), &lines).map_err(|located| located.in_definition(&name))
}

/// Parses the text of `srv/<name>.srv` of a package: the request, `---`, and the response.
///
/// # Errors
/// Fails like [`parse_message`], and if there is not exactly one separator.
pub fn parse_service(
    package: &str,
    name: &str,
    text: &str,
) -> Result<ServiceDefinition, ParseError> {
    let name = definition_name(package, Namespace::Srv, name, text)?;
    let parse = || {
        let [request, response] = parts(text, "request and response")?;
        Ok(ServiceDefinition {
            request: message(name.with_suffix("_Request"), &request)?,
            response: message(name.with_suffix("_Response"), &response)?,
            name: name.clone(),
        })
    };
    parse().map_err(|located: Located| located.in_definition(&name))
}

/// Parses the text of `action/<name>.action` of a package: the goal, `---`, the result, `---`, and
/// the feedback.
///
/// # Errors
/// Fails like [`parse_message`], and if there are not exactly two separators.
pub fn parse_action(package: &str, name: &str, text: &str) -> Result<ActionDefinition, ParseError> {
    let name = definition_name(package, Namespace::Action, name, text)?;
    let parse = || {
        let [goal, result, feedback] = parts(text, "goal, result and feedback")?;
        Ok(ActionDefinition {
            goal: message(name.with_suffix("_Goal"), &goal)?,
            result: message(name.with_suffix("_Result"), &result)?,
            feedback: message(name.with_suffix("_Feedback"), &feedback)?,
            name: name.clone(),
        })
    };
    parse().map_err(|located: Located| located.in_definition(&name))
}

/// Parses a definition of any kind.
///
/// # Errors
/// Fails like the function for the kind of definition.
pub fn parse_interface(name: &TypeName, text: &str) -> Result<Interface, ParseError> {
    Ok(match name.namespace {
        Namespace::Msg => Interface::Message(parse_message(&name.package, &name.name, text)?),
        Namespace::Srv => Interface::Service(parse_service(&name.package, &name.name, text)?),
        Namespace::Action => Interface::Action(parse_action(&name.package, &name.name, text)?),
    })
}

/// One line of a definition, with its number counted from 1. Its tabs have been replaced by spaces.
struct Line<'a> {
    number: u32,
    text: std::borrow::Cow<'a, str>,
}

fn split_lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    // `str::lines` splits at `\n` and `\r\n`, but a `\r` without `\n` also ends a line.
    text.lines().flat_map(|line| line.split('\r')).zip(1..).map(|(line, number)| {
        let text = if line.contains('\t') { line.replace('\t', " ").into() } else { line.into() };
        Line { number, text }
    })
}

fn definition_name(
    package: &str,
    namespace: Namespace,
    name: &str,
    text: &str,
) -> Result<TypeName, ParseError> {
    let full = TypeName::new(package, namespace, name);
    let fault = if !is_package_name(package) {
        ParseErrorKind::PackageName { name: package.to_owned() }
    } else if !is_type_name(name) {
        ParseErrorKind::TypeName { name: name.to_owned() }
    } else if text.len() > MAX_DEFINITION_BYTES {
        ParseErrorKind::TooLarge { bytes: text.len(), limit: MAX_DEFINITION_BYTES }
    } else {
        return Ok(full);
    };
    Err(at(1, 1, fault).in_definition(&full))
}

const SEPARATOR: &str = "---";

/// Splits a text at its separators into exactly `N` parts.
fn parts<'a, const N: usize>(
    text: &'a str,
    names: &'static str,
) -> Result<[Vec<Line<'a>>; N], Located> {
    let mut parts: [Vec<Line<'a>>; N] = std::array::from_fn(|_| Vec::new());
    let mut current = 0;
    let mut last_line = 1;
    for line in split_lines(text) {
        last_line = line.number;
        if line.text != SEPARATOR {
            parts[current].push(line);
            continue;
        }
        current += 1;
        if current == N {
            let kind = ParseErrorKind::Separators { found: N, expected: N - 1, parts: names };
            return Err(at(line.number, 1, kind));
        }
    }
    if current + 1 != N {
        let kind = ParseErrorKind::Separators { found: current, expected: N - 1, parts: names };
        return Err(at(last_line, 1, kind));
    }
    Ok(parts)
}

fn message(name: TypeName, lines: &[Line<'_>]) -> Result<MessageDefinition, Located> {
    let mut parser = MessageParser::new(name);
    for line in lines {
        parser.line(line.number, &line.text)?;
    }
    Ok(parser.finish())
}

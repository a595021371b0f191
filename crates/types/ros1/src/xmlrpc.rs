//! Values, calls and answers of XML-RPC. ROS 1 nodes use XML-RPC to communicate with their master
//! and with each other.

use std::fmt::{self, Write as _};

use crate::peer_text::{shown, shown_name};
use roxmltree::{Document, Node, ParsingOptions};

/// The size limit of a call or answer, in bytes. Even the state of a master with thousands of
/// topics takes fewer bytes.
pub(crate) const MAX_MESSAGE_BYTES: usize = 16 << 20;
/// The limit on the nesting depth of lists and structures.
const MAX_DEPTH: usize = 32;

/// A value in a call or answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An integer.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// A floating-point number.
    Double(f64),
    /// A string. Dates and bytes are also stored as strings.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// A structure, which consists of names with values.
    Struct(Vec<(String, Value)>),
}

/// The reason why a text is not a valid XML-RPC call or answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum XmlRpcError {
    /// The text is malformed.
    #[error("not XML-RPC: {0}")]
    Form(String),
    /// The other side reports that the call failed.
    #[error("the call failed on the other side: {0}")]
    Fault(String),
}

impl Value {
    /// Returns the string if the value is a string.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the integer if the value is an integer.
    #[must_use]
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            Self::Bool(value) => Some(i64::from(*value)),
            _ => None,
        }
    }

    /// Returns the elements of a list. The result is empty if the value is not a list.
    #[must_use]
    pub fn as_list(&self) -> &[Value] {
        match self {
            Self::List(elements) => elements,
            _ => &[],
        }
    }

    /// Returns the value of a member of a structure.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<&Value> {
        match self {
            Self::Struct(members) => {
                members.iter().find(|(member, _)| member == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    fn write(&self, out: &mut String) {
        out.push_str("<value>");
        // Writing into a string cannot fail.
        let _ = match self {
            Self::Int(number) if i32::try_from(*number).is_err() => {
                write!(out, "<i8>{number}</i8>")
            }
            Self::Int(number) => write!(out, "<int>{number}</int>"),
            Self::Bool(value) => write!(out, "<boolean>{}</boolean>", u8::from(*value)),
            Self::Double(number) => write!(out, "<double>{number}</double>"),
            Self::Text(text) => write!(out, "<string>{}</string>", escaped(text)),
            Self::List(elements) => {
                out.push_str("<array><data>");
                elements.iter().for_each(|element| element.write(out));
                write!(out, "</data></array>")
            }
            Self::Struct(members) => {
                out.push_str("<struct>");
                for (name, value) in members {
                    let _ = write!(out, "<member><name>{}</name>", escaped(name));
                    value.write(out);
                    out.push_str("</member>");
                }
                write!(out, "</struct>")
            }
        };
        out.push_str("</value>");
    }
}

impl fmt::Display for Value {
    /// Formats the value as JSON.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => write!(f, "{number}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Double(number) => write!(f, "{number:?}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::List(elements) => {
                f.write_str("[")?;
                for (index, element) in elements.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{element}")?;
                }
                f.write_str("]")
            }
            Self::Struct(members) => {
                f.write_str("{")?;
                for (index, (name, value)) in members.iter().enumerate() {
                    let comma = if index > 0 { ", " } else { "" };
                    write!(f, "{comma}{name:?}: {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // XML parsers would turn a carriage return into a line feed.
            '\r' => out.push_str("&#13;"),
            other => out.push(other),
        }
    }
    out
}

/// Returns the text of a call.
pub(crate) fn call(method: &str, parameters: &[Value]) -> String {
    let mut out =
        format!("<?xml version=\"1.0\"?><methodCall><methodName>{method}</methodName><params>");
    for parameter in parameters {
        out.push_str("<param>");
        parameter.write(&mut out);
        out.push_str("</param>");
    }
    out + "</params></methodCall>"
}

/// Returns the text of an answer.
pub(crate) fn answer(value: &Value) -> String {
    let mut out = "<?xml version=\"1.0\"?><methodResponse><params><param>".to_owned();
    value.write(&mut out);
    out + "</param></params></methodResponse>"
}

/// Reads a call. Returns the method and its parameters.
///
/// # Errors
/// Returns an error if the text is not a call.
pub fn read_call(text: &str) -> Result<(String, Vec<Value>), XmlRpcError> {
    let document = parse(text)?;
    let root = document.root_element();
    let method = child(root, "methodName").and_then(|node| node.text());
    let method = method.ok_or_else(|| XmlRpcError::Form("there is no methodName".to_owned()))?;
    Ok((method.trim().to_owned(), parameters(root)?))
}

/// Reads an answer.
///
/// # Errors
/// Returns an error if the text is not an answer or reports a fault.
pub fn read_answer(text: &str) -> Result<Value, XmlRpcError> {
    let document = parse(text)?;
    let root = document.root_element();
    if let Some(fault) = child(root, "fault") {
        let what = match child(fault, "value").map(|node| value(node, 0)).transpose()? {
            Some(Value::Struct(members)) => members
                .iter()
                .find(|(name, _)| name == "faultString")
                .and_then(|(_, value)| value.as_text())
                .map(str::to_owned),
            _ => None,
        };
        return Err(XmlRpcError::Fault(shown(&what.unwrap_or_default()).into_owned()));
    }
    let mut parameters = parameters(root)?.into_iter();
    parameters.next().ok_or_else(|| XmlRpcError::Form("the answer has no value".to_owned()))
}

fn parse(text: &str) -> Result<Document<'_>, XmlRpcError> {
    let options = ParsingOptions { allow_dtd: false, nodes_limit: 1 << 20, ..Default::default() };
    Document::parse_with_options(text, options)
        .map_err(|error| XmlRpcError::Form(shown_name(&error.to_string()).into_owned()))
}

fn child<'a, 'i>(node: Node<'a, 'i>, name: &str) -> Option<Node<'a, 'i>> {
    node.children().find(|child| child.has_tag_name(name))
}

fn parameters(root: Node<'_, '_>) -> Result<Vec<Value>, XmlRpcError> {
    let Some(all) = child(root, "params") else { return Ok(Vec::new()) };
    let each = all.children().filter(|node| node.has_tag_name("param"));
    each.map(|node| {
        let node = child(node, "value");
        value(node.ok_or_else(|| XmlRpcError::Form("a param has no value".to_owned()))?, 0)
    })
    .collect()
}

fn value(node: Node<'_, '_>, depth: usize) -> Result<Value, XmlRpcError> {
    if depth > MAX_DEPTH {
        return Err(XmlRpcError::Form(format!(
            "values are nested more than {MAX_DEPTH} levels deep"
        )));
    }
    let Some(typed) = node.children().find(Node::is_element) else {
        return Ok(Value::Text(node.text().unwrap_or_default().to_owned()));
    };
    let text = typed.text().unwrap_or_default();
    let wrong = || {
        let (text, kind) = (shown_name(text), shown_name(typed.tag_name().name()));
        XmlRpcError::Form(format!("`{text}` is not a valid {kind}"))
    };
    Ok(match typed.tag_name().name() {
        "int" | "i4" | "i8" => Value::Int(text.trim().parse().map_err(|_| wrong())?),
        "boolean" => Value::Bool(text.trim() == "1"),
        "double" => Value::Double(text.trim().parse().map_err(|_| wrong())?),
        "array" => {
            let data = child(typed, "data").ok_or_else(wrong)?;
            let elements = data.children().filter(|node| node.has_tag_name("value"));
            Value::List(elements.map(|node| value(node, depth + 1)).collect::<Result<_, _>>()?)
        }
        "struct" => {
            let members = typed.children().filter(|node| node.has_tag_name("member"));
            let member = |node| {
                let name = child(node, "name").and_then(|name| name.text()).unwrap_or_default();
                let inner = child(node, "value").ok_or_else(wrong)?;
                Ok((name.to_owned(), value(inner, depth + 1)?))
            };
            Value::Struct(members.map(member).collect::<Result<_, XmlRpcError>>()?)
        }
        _ => Value::Text(text.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn values_come_back_as_they_were() {
        let value = Value::List(vec![
            Value::Int(-7),
            Value::Int(1 << 40),
            Value::Bool(true),
            Value::Double(1.5),
            Value::Text("a <b> & c\r\n".to_owned()),
            Value::Struct(vec![("x".to_owned(), Value::List(Vec::new()))]),
        ]);
        assert_eq!(read_answer(&answer(&value)).unwrap(), value);
        let (method, parameters) =
            read_call(&call("getPid", &[value.clone(), "/me".into()])).unwrap();
        assert_eq!((method.as_str(), parameters), ("getPid", vec![value, "/me".into()]));
    }

    #[test]
    fn hostile_texts_are_refused() {
        let deep = format!(
            "<methodCall><methodName>a</methodName><params><param>{}{}</param></params></methodCall>",
            "<value><array><data>".repeat(40),
            "</data></array></value>".repeat(40)
        );
        for text in ["", "<a", "<methodCall/>", "<methodResponse/>", &deep, "<!DOCTYPE a><a/>"] {
            assert!(read_call(text).is_err() && read_answer(text).is_err(), "{text}");
        }
        let fault = "<methodResponse><fault><value><struct><member><name>faultString</name>\
                     <value><string>no</string></value></member></struct></value></fault></methodResponse>";
        assert_eq!(read_answer(fault), Err(XmlRpcError::Fault("no".to_owned())));
    }
}

//! Values as Python prints them, which is how `ros2 param` shows them.

use feros::{ParameterType, ParameterValue};
use feros_interface::python_float;

/// The name of a type, as `ros2 param` prints it (`ros2param/ros2param/api/__init__.py`).
pub(super) fn type_name(parameter_type: ParameterType) -> &'static str {
    match parameter_type {
        ParameterType::NotSet => "not set",
        ParameterType::Bool => "boolean",
        ParameterType::Integer => "integer",
        ParameterType::Double => "double",
        ParameterType::String => "string",
        ParameterType::ByteArray => "byte array",
        ParameterType::BoolArray => "boolean array",
        ParameterType::IntegerArray => "integer array",
        ParameterType::DoubleArray => "double array",
        ParameterType::StringArray => "string array",
    }
}

/// The label before a value (`ros2param/ros2param/verb/get.py`).
pub(super) fn label(value: &ParameterValue) -> &'static str {
    match value {
        ParameterValue::NotSet => "Parameter not set.",
        ParameterValue::Bool(_) => "Boolean value is:",
        ParameterValue::Integer(_) => "Integer value is:",
        ParameterValue::Double(_) => "Double value is:",
        ParameterValue::String(_) => "String value is:",
        ParameterValue::ByteArray(_) => "Byte values are:",
        ParameterValue::BoolArray(_) => "Boolean values are:",
        ParameterValue::IntegerArray(_) => "Integer values are:",
        ParameterValue::DoubleArray(_) => "Double values are:",
        ParameterValue::StringArray(_) => "String values are:",
    }
}

/// A value as Python prints the object that rclpy has for it.
pub(super) fn value(value: &ParameterValue) -> String {
    match value {
        ParameterValue::NotSet => "None".to_owned(),
        ParameterValue::Bool(value) => boolean(*value).to_owned(),
        ParameterValue::Integer(value) => value.to_string(),
        ParameterValue::Double(value) => python_float(*value),
        ParameterValue::String(value) => value.clone(),
        ParameterValue::ByteArray(values) => list(values.iter().map(|byte| bytes(*byte))),
        ParameterValue::BoolArray(values) => {
            list(values.iter().map(|value| boolean(*value).to_owned()))
        }
        ParameterValue::IntegerArray(values) => array('q', values.iter().map(ToString::to_string)),
        ParameterValue::DoubleArray(values) => {
            array('d', values.iter().map(|value| python_float(*value)))
        }
        ParameterValue::StringArray(values) => list(values.iter().map(|value| quoted(value))),
    }
}

fn boolean(value: bool) -> &'static str {
    if value { "True" } else { "False" }
}

fn list(elements: impl Iterator<Item = String>) -> String {
    format!("[{}]", elements.collect::<Vec<_>>().join(", "))
}

fn array(code: char, elements: impl Iterator<Item = String>) -> String {
    match list(elements).as_str() {
        "[]" => format!("array('{code}')"),
        elements => format!("array('{code}', {elements})"),
    }
}

fn bytes(byte: u8) -> String {
    match byte {
        b'\'' => "b\"'\"".to_owned(),
        b'\\' => "b'\\\\'".to_owned(),
        b'\n' => "b'\\n'".to_owned(),
        b'\r' => "b'\\r'".to_owned(),
        b'\t' => "b'\\t'".to_owned(),
        b' '..=b'~' => format!("b'{}'", char::from(byte)),
        _ => format!("b'\\x{byte:02x}'"),
    }
}

fn quoted(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let mut out = String::from(quote);
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            '\\' => out.push_str("\\\\"),
            _ if character == quote => out.extend(['\\', quote]),
            _ if character.is_control() => {
                out.push_str(&format!("\\x{:02x}", u32::from(character)))
            }
            _ => out.push(character),
        }
    }
    out.push(quote);
    out
}

/// A value as JSON.
pub(super) fn json(value: &ParameterValue) -> serde_json::Value {
    match value {
        ParameterValue::NotSet => serde_json::Value::Null,
        ParameterValue::Bool(value) => (*value).into(),
        ParameterValue::Integer(value) => (*value).into(),
        ParameterValue::Double(value) => number(*value),
        ParameterValue::String(value) => value.clone().into(),
        ParameterValue::ByteArray(values) => values.clone().into(),
        ParameterValue::BoolArray(values) => values.clone().into(),
        ParameterValue::IntegerArray(values) => values.clone().into(),
        ParameterValue::DoubleArray(values) => values.iter().copied().map(number).collect(),
        ParameterValue::StringArray(values) => values.clone().into(),
    }
}

/// A number as JSON; infinity and NaN become strings, since JSON has no words for them.
fn number(value: f64) -> serde_json::Value {
    if value.is_finite() { value.into() } else { value.to_string().into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_python() {
        for (given, expected) in [
            (ParameterValue::Bool(true), "True"),
            (1e20.into(), "1e+20"),
            ("it's".into(), "it's"),
            (vec![b'a', 0, b'\''].into(), r#"[b'a', b'\x00', b"'"]"#),
            (vec![true, false].into(), "[True, False]"),
            (vec![1_i64, 2].into(), "array('q', [1, 2])"),
            (ParameterValue::IntegerArray(vec![]), "array('q')"),
            (vec![0.5].into(), "array('d', [0.5])"),
            (vec!["a", "it's", "\"'", "b\n"].into(), r#"['a', "it's", '"\'', 'b\n']"#),
        ] {
            assert_eq!(value(&given), expected);
        }
    }
}

//! Parameters in the protocol: names that include the node, and values in JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use feros_parameter::ParameterValue;
use serde::{Deserialize, Serialize};
use serde_json::{Number, Value};

/// A parameter's value in JSON.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct ParameterJson {
    /// The value; `None` for a parameter that is not set or that is to be deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// The type, where JSON does not show it: `byte_array` for a string in base64; `float64` and
    /// `float64_array` where the numbers could be integers.
    #[serde(rename = "type", default, skip_serializing_if = "Option::is_none")]
    pub value_type: Option<String>,
}

/// The error for a name that is not the name of a parameter.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{name}` is not the name of a parameter: write the node, a dot and the parameter, such as \
     /robot/camera.rate"
)]
pub struct ParameterNameError {
    /// The name, or the beginning of a long name.
    pub name: String,
}

const BYTES: &str = "byte_array";
const DOUBLE: &str = "float64";
const DOUBLES: &str = "float64_array";

/// Splits a name such as `/robot/camera.rate` into the node and the parameter. Names of nodes
/// contain no dots.
///
/// # Errors
/// When the name has no node or no parameter.
///
/// ```
/// use feros_view::protocol::split_name;
/// assert_eq!(split_name("/robot/camera.gain.red"), Ok(("/robot/camera", "gain.red")));
/// assert!(split_name("rate").is_err());
/// ```
pub fn split_name(name: &str) -> Result<(&str, &str), ParameterNameError> {
    match name.split_once('.') {
        Some((node, parameter)) if node.starts_with('/') && !parameter.is_empty() => {
            Ok((node, parameter))
        }
        _ => Err(ParameterNameError { name: name.chars().take(100).collect() }),
    }
}

/// Returns the name of a node's parameter with the name of its node.
pub fn full_name(node: &str, parameter: &str) -> String {
    format!("{node}.{parameter}")
}

/// Returns a value in JSON. Numbers that JSON cannot write, such as NaN, become `null`.
pub fn to_json(value: ParameterValue) -> ParameterJson {
    let with_type = |value: Value, value_type: &str| ParameterJson {
        value: Some(value),
        value_type: Some(value_type.to_owned()),
    };
    let plain = |value: Value| ParameterJson { value: Some(value), value_type: None };
    match value {
        ParameterValue::NotSet => ParameterJson::default(),
        ParameterValue::Bool(value) => plain(value.into()),
        ParameterValue::Integer(value) => plain(value.into()),
        ParameterValue::Double(value) => with_type(value.into(), DOUBLE),
        ParameterValue::String(value) => plain(value.into()),
        ParameterValue::ByteArray(bytes) => with_type(STANDARD.encode(bytes).into(), BYTES),
        ParameterValue::BoolArray(values) => plain(values.into()),
        ParameterValue::IntegerArray(values) => plain(values.into()),
        ParameterValue::DoubleArray(values) => with_type(values.into(), DOUBLES),
        ParameterValue::StringArray(values) => plain(values.into()),
    }
}

impl ParameterJson {
    /// Returns the parameter's value, or the reason why it is invalid.
    ///
    /// # Errors
    /// For values of several types in one list, objects, integers of more than 64 bits, and values
    /// that do not match the given type.
    pub fn into_value(self) -> Result<ParameterValue, String> {
        let Some(value) = self.value else { return Ok(ParameterValue::NotSet) };
        match (self.value_type.as_deref(), value) {
            (Some(BYTES), Value::String(text)) => match STANDARD.decode(&text) {
                Ok(bytes) => Ok(ParameterValue::ByteArray(bytes)),
                Err(error) => Err(format!("the bytes are not base64: {error}")),
            },
            (Some(DOUBLE), Value::Number(number)) => double(&number).map(ParameterValue::Double),
            (Some(DOUBLES), Value::Array(values)) => doubles(&values),
            (Some(other @ (BYTES | DOUBLE | DOUBLES)), value) => {
                Err(format!("a value of type {other} cannot be {}", kind(&value)))
            }
            (_, Value::Bool(value)) => Ok(ParameterValue::Bool(value)),
            (_, Value::String(value)) => Ok(ParameterValue::String(value)),
            (_, Value::Number(number)) if number.is_f64() => {
                double(&number).map(ParameterValue::Double)
            }
            (_, Value::Number(number)) => integer(&number).map(ParameterValue::Integer),
            (_, Value::Array(values)) => list(values),
            (_, value @ (Value::Null | Value::Object(_))) => {
                Err(format!("a parameter cannot be {}", kind(&value)))
            }
        }
    }
}

/// Converts a list. An empty list does not show its type: it becomes a list of strings, as in
/// rclpy.
fn list(values: Vec<Value>) -> Result<ParameterValue, String> {
    let mixed = || "the values of a list must have one type".to_owned();
    match values.first() {
        None => Ok(ParameterValue::StringArray(Vec::new())),
        Some(Value::Bool(_)) => {
            let values = values.iter().map(|value| value.as_bool().ok_or_else(mixed));
            Ok(ParameterValue::BoolArray(values.collect::<Result<_, _>>()?))
        }
        Some(Value::String(_)) => {
            let text = |value| match value {
                Value::String(text) => Ok(text),
                _ => Err(mixed()),
            };
            Ok(ParameterValue::StringArray(values.into_iter().map(text).collect::<Result<_, _>>()?))
        }
        Some(Value::Number(_)) if values.iter().any(Value::is_f64) => doubles(&values),
        Some(Value::Number(_)) => {
            let whole = |value: &Value| match value {
                Value::Number(number) => integer(number),
                _ => Err(mixed()),
            };
            let values = values.iter().map(whole).collect::<Result<_, _>>()?;
            Ok(ParameterValue::IntegerArray(values))
        }
        Some(value) => Err(format!("a parameter cannot be a list of {}", kind(value))),
    }
}

fn doubles(values: &[Value]) -> Result<ParameterValue, String> {
    let number = |value: &Value| match value {
        Value::Number(number) => double(number),
        other => Err(format!("a list of numbers cannot have {}", kind(other))),
    };
    Ok(ParameterValue::DoubleArray(values.iter().map(number).collect::<Result<_, _>>()?))
}

fn double(number: &Number) -> Result<f64, String> {
    number.as_f64().ok_or_else(|| format!("{number} is not a 64-bit floating-point number"))
}

fn integer(number: &Number) -> Result<i64, String> {
    number.as_i64().ok_or_else(|| format!("{number} is not a 64-bit integer"))
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn value(json: Value) -> Result<ParameterValue, String> {
        serde_json::from_value::<ParameterJson>(json).unwrap().into_value()
    }

    #[test]
    fn values_survive_json() {
        let values: [ParameterValue; 10] = [
            ParameterValue::NotSet,
            true.into(),
            i64::MIN.into(),
            5.0.into(),
            "text".into(),
            vec![0_u8, 255].into(),
            vec![true, false].into(),
            vec![i64::MAX].into(),
            vec![0.5, 1.0].into(),
            vec!["a", ""].into(),
        ];
        for value in values {
            let text = serde_json::to_string(&to_json(value.clone())).unwrap();
            let read: ParameterJson = serde_json::from_str(&text).unwrap();
            assert_eq!(read.into_value(), Ok(value), "{text}");
        }
    }

    #[test]
    fn numbers_have_the_given_type() {
        assert_eq!(value(json!({"value": 5})), Ok(5.into()));
        assert_eq!(value(json!({"value": 5, "type": "float64"})), Ok(5.0.into()));
        assert_eq!(value(json!({"value": [1, 2.5]})), Ok(vec![1.0, 2.5].into()));
        assert_eq!(value(json!({"value": [1], "type": "float64_array"})), Ok(vec![1.0].into()));
        assert_eq!(value(json!({})), Ok(ParameterValue::NotSet));
    }

    #[test]
    fn values_that_no_parameter_can_have_are_refused() {
        for json in [
            json!({"value": {"a": 1}}),
            json!({"value": [1, "a"]}),
            json!({"value": [true, 1]}),
            json!({"value": ["a", 1]}),
            json!({"value": [[1]]}),
            json!({"value": 18_446_744_073_709_551_615_u64}),
            json!({"value": "*", "type": "byte_array"}),
            json!({"value": "5", "type": "float64"}),
        ] {
            assert!(value(json.clone()).is_err(), "{json}");
        }
    }

    proptest! {
        #[test]
        fn names_are_split_where_the_node_ends(name in "\\PC{0,40}") {
            if let Ok((node, parameter)) = split_name(&name) {
                prop_assert_eq!(full_name(node, parameter), name);
            }
        }
    }
}

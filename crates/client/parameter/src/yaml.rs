//! Reads values from YAML, by the rules of rcl's parser (`rcl_yaml_param_parser/src/parse.c`).

use feros_yaml::{Content, Limits, Node, Place, Problem, Scalar, ScalarStyle};

use crate::number;
use crate::value::{ParameterType, ParameterValue};

/// Limits only the depth. The number of values is limited by the limit on the size of a file.
pub(crate) const LIMITS: Limits = Limits { depth: 64, values: usize::MAX };

/// The error for text that is not the expected YAML.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}, column {column}: {problem}; expected {expected}")]
pub struct YamlError {
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted from 1.
    pub column: usize,
    /// The problem.
    pub problem: String,
    /// The expected form.
    pub expected: &'static str,
}

pub(crate) const VALUE: &str = "a boolean, a number, a string, or a list of one of them";

impl YamlError {
    pub(crate) fn new(place: Place, problem: impl Into<String>, expected: &'static str) -> Self {
        Self { line: place.line, column: place.column, problem: problem.into(), expected }
    }
}

impl From<feros_yaml::YamlError> for YamlError {
    fn from(error: feros_yaml::YamlError) -> Self {
        let (problem, expected) = match error.problem {
            Problem::Alias => {
                ("an alias (`*name`)".to_owned(), "the value itself, without an alias")
            }
            Problem::SecondDocument => {
                ("there is more than one document (`---`)".to_owned(), "one document")
            }
            Problem::Key => ("a name is a list or mapping".to_owned(), "a name and a colon"),
            other => (other.to_string(), "YAML"),
        };
        Self::new(error.place, problem, expected)
    }
}

/// Converts a list. An empty list becomes a list of strings, which [`ParameterValue::as_declared`]
/// converts to the declared type.
pub(crate) fn list(items: &[Node]) -> Result<ParameterValue, YamlError> {
    const HOMOGENEOUS: &str = "elements of one type, such as [1.0, 2.0] or [a, b]";
    let mut list = None;
    for item in items {
        let Content::Scalar(element) = &item.content else {
            let problem = "a list or mapping within a list";
            return Err(YamlError::new(item.place, problem, HOMOGENEOUS));
        };
        let element = scalar(element)?;
        let found = element.parameter_type();
        let list = list.get_or_insert_with(|| empty_list_of(found));
        if let Err(wanted) = push(list, element) {
            let problem = format!(
                "an element of type {found} in a list whose first element is of type {wanted}"
            );
            return Err(YamlError::new(item.place, problem, HOMOGENEOUS));
        }
    }
    Ok(list.unwrap_or_else(|| empty_list_of(ParameterType::String)))
}

/// Converts a scalar.
pub(crate) fn scalar(scalar: &Scalar) -> Result<ParameterValue, YamlError> {
    let is_quoted = matches!(scalar.style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
    let refused = |problem: &str| Err(YamlError::new(scalar.place, problem, VALUE));
    if scalar.text.contains('\0') {
        return refused("a string with a NUL character");
    }
    if is_quoted || scalar.is_tagged_string {
        return Ok(ParameterValue::String(scalar.text.clone()));
    }
    if scalar.text.is_empty() {
        return refused("there is no value");
    }
    Ok(plain_scalar(&scalar.text))
}

fn plain_scalar(text: &str) -> ParameterValue {
    match text {
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            true.into()
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            false.into()
        }
        _ => match (number::integer(text), number::double(text)) {
            (Some(value), _) => value.into(),
            (None, Some(value)) => value.into(),
            (None, None) => text.into(),
        },
    }
}

/// Returns an empty list for elements of this type.
fn empty_list_of(element: ParameterType) -> ParameterValue {
    match element {
        ParameterType::Bool => ParameterValue::BoolArray(Vec::new()),
        ParameterType::Integer => ParameterValue::IntegerArray(Vec::new()),
        ParameterType::Double => ParameterValue::DoubleArray(Vec::new()),
        _ => ParameterValue::StringArray(Vec::new()),
    }
}

/// Adds an element; on a mismatch, the error is the name of the list's element type.
fn push(list: &mut ParameterValue, element: ParameterValue) -> Result<(), &'static str> {
    match (list, element) {
        (ParameterValue::BoolArray(list), ParameterValue::Bool(value)) => list.push(value),
        (ParameterValue::IntegerArray(list), ParameterValue::Integer(value)) => list.push(value),
        (ParameterValue::DoubleArray(list), ParameterValue::Double(value)) => list.push(value),
        (ParameterValue::StringArray(list), ParameterValue::String(value)) => list.push(value),
        (ParameterValue::BoolArray(_), _) => return Err("bool"),
        (ParameterValue::IntegerArray(_), _) => return Err("integer"),
        (ParameterValue::DoubleArray(_), _) => return Err("double"),
        _ => return Err("string"),
    }
    Ok(())
}

impl ParameterValue {
    /// Reads a value as `rcl` does for `-p name:=value`: `true`, `yes`, `on` and the like are
    /// booleans; `5`, `0x1F` and `010` integers; `1.0`, `1e3` and `.nan` floating point numbers;
    /// other words, and text in quotes or with the tag `!!str`, are strings. All elements of a list
    /// have the same type.
    ///
    /// # Errors
    /// When the text is empty, a list of mixed types, a mapping or not YAML.
    pub fn from_yaml(text: &str) -> Result<Self, YamlError> {
        let Some(node) = feros_yaml::document(text, LIMITS)? else {
            let start = Place { line: 1, column: 1 };
            return Err(YamlError::new(start, "there is no value", VALUE));
        };
        match &node.content {
            Content::Scalar(text) => scalar(text),
            Content::List(items) => list(items),
            Content::Mapping(_) => Err(YamlError::new(node.place, "a mapping", VALUE)),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn values_are_those_that_rcl_reads() {
        for (text, expected) in [
            ("true", ParameterValue::Bool(true)),
            ("Off", ParameterValue::Bool(false)),
            ("tRUE", "tRUE".into()),
            ("y", true.into()),
            ("\"y\"", "y".into()),
            ("!!str 5", "5".into()),
            ("'5'", "5".into()),
            ("!!int \"7\"", "7".into()),
            ("5", 5.into()),
            ("0x1F", 31.into()),
            ("010", 8.into()),
            ("08", 8.0.into()),
            ("1.0", 1.0.into()),
            ("1e400", "1e400".into()),
            ("~", "~".into()),
            ("null", "null".into()),
            ("|\n  5\n", "5\n".into()),
            ("\"\"", "".into()),
            ("hello world", "hello world".into()),
            ("[true, off]", vec![true, false].into()),
            ("[1, 0x10]", vec![1, 16].into()),
            ("[1.0, -.inf]", vec![1.0, f64::NEG_INFINITY].into()),
            ("[a, '1']", vec!["a", "1"].into()),
            ("- a\n- b", vec!["a", "b"].into()),
            ("[]", Vec::<String>::new().into()),
        ] {
            assert_eq!(ParameterValue::from_yaml(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn invalid_values_are_refused_with_their_place() {
        for (text, line, column, problem) in [
            ("", 1, 1, "there is no value"),
            (
                "[1,\n  2.5]",
                2,
                3,
                "an element of type double in a list whose first element is of type integer",
            ),
            ("[1, [2]]", 1, 5, "a list or mapping within a list"),
            ("[1, ]]", 1, 6, "this is not YAML"),
            ("{a: 1}", 1, 1, "a mapping"),
            ("&a [1, *a]", 1, 8, "an alias (`*name`)"),
            ("1\n---\n2", 3, 1, "there is more than one document (`---`)"),
            ("\"a\\0b\"", 1, 1, "a string with a NUL character"),
        ] {
            let error = ParameterValue::from_yaml(text).unwrap_err();
            assert!(error.problem.starts_with(problem), "{text}: {error}");
            assert_eq!((error.line, error.column), (line, column), "{text}: {error}");
        }
    }

    #[test]
    fn deep_nesting_does_no_harm() {
        assert!(ParameterValue::from_yaml(&"[".repeat(100_000)).is_err());
        assert!(ParameterValue::from_yaml(&"{a: ".repeat(100_000)).is_err());
    }
}

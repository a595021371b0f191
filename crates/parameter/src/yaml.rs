//! Reads values from YAML, by the rules of rcl's parser (`rcl_yaml_param_parser/src/parse.c`).

use std::borrow::Cow;

use saphyr_parser::{Event, Parser, ScalarStyle, Span, StrInput, Tag};

use crate::number;
use crate::value::{ParameterType, ParameterValue};

/// The limit on the nesting of mappings.
pub(crate) const MAX_DEPTH: usize = 64;

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
    /// What was expected instead.
    pub expected: &'static str,
}

pub(crate) const VALUE: &str = "a boolean, a number, a string, or a list of one of them";

/// The parser's events for a YAML text.
pub(crate) struct Events<'a> {
    parser: Parser<'a, StrInput<'a>>,
    /// The position of the last event.
    pub(crate) place: Span,
}

impl<'a> Events<'a> {
    /// Starts to parse `text`.
    pub(crate) fn new(text: &'a str) -> Self {
        Self { parser: Parser::new_from_str(text), place: Span::default() }
    }

    /// Returns the next event, without the starts and ends of documents; at the end of the text,
    /// always `StreamEnd`.
    pub(crate) fn next(&mut self) -> Result<Event<'a>, YamlError> {
        loop {
            let (event, place) = match self.parser.next_event() {
                None => return Ok(Event::StreamEnd),
                Some(Ok(found)) => found,
                Some(Err(error)) => {
                    let marker = error.marker();
                    return Err(YamlError {
                        line: marker.line(),
                        column: marker.col() + 1,
                        problem: format!("this is not YAML: {}", error.info()),
                        expected: "YAML",
                    });
                }
            };
            self.place = place;
            match event {
                Event::StreamStart
                | Event::DocumentStart(_)
                | Event::DocumentEnd
                | Event::Nothing => {}
                Event::Alias(_) => {
                    return Err(self.error("an alias (`*name`)", "the value itself, written out"));
                }
                event => return Ok(event),
            }
        }
    }

    /// Creates an error at the position of the last event.
    pub(crate) fn error(&self, problem: impl Into<String>, expected: &'static str) -> YamlError {
        error_at(self.place, problem, expected)
    }

    /// Fails unless the document ends here.
    pub(crate) fn end(&mut self) -> Result<(), YamlError> {
        match self.next()? {
            Event::StreamEnd => Ok(()),
            _ => Err(self.error("there is more than one document (`---`)", "one document")),
        }
    }

    /// Reads the elements of a list after its start event. An empty list becomes a list of strings,
    /// which [`ParameterValue::as_declared`] converts.
    pub(crate) fn list(&mut self) -> Result<ParameterValue, YamlError> {
        const HOMOGENEOUS: &str = "elements of one type, such as [1.0, 2.0] or [a, b]";
        let mut list = None;
        loop {
            let element = match self.next()? {
                Event::SequenceEnd => break,
                Event::Scalar(text, style, _, tag) => self.scalar(&text, style, tag.as_deref())?,
                _ => return Err(self.error("a list or mapping within a list", HOMOGENEOUS)),
            };
            let found = element.parameter_type();
            let list = list.get_or_insert_with(|| empty_list_of(found));
            if let Err(wanted) = push(list, element) {
                let problem = format!(
                    "an element of type {found} in a list whose first element is of type {wanted}"
                );
                return Err(self.error(problem, HOMOGENEOUS));
            }
        }
        Ok(list.unwrap_or_else(|| empty_list_of(ParameterType::String)))
    }

    /// Converts a scalar that was read.
    pub(crate) fn scalar(
        &self,
        text: &str,
        style: ScalarStyle,
        tag: Option<&Tag>,
    ) -> Result<ParameterValue, YamlError> {
        let is_quoted = matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted);
        let is_string = tag.is_some_and(|tag| tag.is_yaml_core_schema() && tag.suffix == "str");
        if text.contains('\0') {
            return Err(self.error("a string with a NUL character", VALUE));
        }
        if is_quoted || is_string {
            return Ok(ParameterValue::String(text.to_owned()));
        }
        if text.is_empty() {
            return Err(self.error("there is no value", VALUE));
        }
        Ok(plain_scalar(text))
    }
}

pub(crate) fn error_at(
    place: Span,
    problem: impl Into<String>,
    expected: &'static str,
) -> YamlError {
    let start = place.start;
    YamlError { line: start.line(), column: start.col() + 1, problem: problem.into(), expected }
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
        let mut events = Events::new(text);
        let value = match events.next()? {
            Event::Scalar(text, style, _, tag) => {
                events.scalar(&text, style, tag.as_ref().map(Cow::as_ref))?
            }
            Event::SequenceStart(..) => events.list()?,
            Event::StreamEnd => return Err(events.error("there is no value", VALUE)),
            _ => return Err(events.error("a mapping", VALUE)),
        };
        events.end()?;
        Ok(value)
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
    fn what_is_no_value_is_refused_with_its_place() {
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

//! The tree that YAML and JSON input have in common: scalars, lists and mappings, read without a
//! message type.

use feros_yaml::{Limits, Problem, YamlError};

use super::input_error::{InputError, InputErrorKind};

/// Lists and mappings in the input may be nested a little more deeply than messages can be. The
/// number of values is limited by the size of the text, which the caller limits.
const LIMITS: Limits =
    Limits { depth: 2 * feros_interface::MAX_NESTING_DEPTH + 2, values: usize::MAX };

#[derive(Debug)]
pub(super) struct InputNode {
    pub(super) content: Content,
    /// The line and the column, both counted from 1, or `None` if they are unknown.
    pub(super) position: Option<(usize, usize)>,
}

#[derive(Debug)]
pub(super) enum Content {
    /// A string, number, boolean or null. `plain` is true if the text was not in quotes.
    Scalar {
        text: String,
        plain: bool,
    },
    List(Vec<InputNode>),
    Mapping(Vec<(String, InputNode)>),
}

impl InputNode {
    /// Whether no value was given, as in `field:`, `field: ~` and `field: null`.
    pub(super) fn is_nothing(&self) -> bool {
        matches!(&self.content, Content::Scalar { text, plain: true } if matches!(text.as_str(), "" | "~" | "null"))
    }

    /// Describes the given value in error messages.
    pub(super) fn describe(&self) -> String {
        match &self.content {
            Content::Scalar { text, plain } => {
                let mut shown: String = text.chars().take(40).collect();
                if shown.len() < text.len() {
                    shown.push_str("...");
                }
                if *plain { format!("`{shown}`") } else { format!("the text `{shown}`") }
            }
            Content::List(items) => format!("a list of {}", items.len()),
            Content::Mapping(_) => "a mapping".to_owned(),
        }
    }

    pub(super) fn from_json(value: serde_json::Value) -> Self {
        use serde_json::Value::{Array, Bool, Null, Number, Object, String};
        let content = match value {
            Null => Content::Scalar { text: "null".to_owned(), plain: true },
            Bool(value) => Content::Scalar { text: value.to_string(), plain: true },
            Number(value) => Content::Scalar { text: value.to_string(), plain: true },
            String(text) => Content::Scalar { text, plain: false },
            Array(items) => Content::List(items.into_iter().map(InputNode::from_json).collect()),
            Object(entries) => Content::Mapping(
                entries
                    .into_iter()
                    .map(|(key, value)| (key, InputNode::from_json(value)))
                    .collect(),
            ),
        };
        Self { content, position: None }
    }

    /// Reads one YAML document.
    pub(super) fn from_yaml(text: &str) -> Result<Self, InputError> {
        let document = match feros_yaml::document(text, LIMITS) {
            Ok(document) => document,
            // All JSON is YAML, with one exception: JSON may escape a character beyond U+FFFF as
            // two surrogates, and many programs write it in this way.
            Err(error) => match (&error.problem, serde_json::from_str(text)) {
                (Problem::Syntax(_), Ok(json)) => return Ok(Self::from_json(json)),
                _ => return Err(refused(error)),
            },
        };
        let nothing = || Self {
            content: Content::Scalar { text: String::new(), plain: true },
            position: None,
        };
        Ok(document.map_or_else(nothing, Self::from))
    }
}

impl From<feros_yaml::Node> for InputNode {
    fn from(node: feros_yaml::Node) -> Self {
        let content = match node.content {
            feros_yaml::Content::Scalar(scalar) => {
                Content::Scalar { plain: scalar.is_plain(), text: scalar.text }
            }
            feros_yaml::Content::List(items) => {
                Content::List(items.into_iter().map(Self::from).collect())
            }
            feros_yaml::Content::Mapping(entries) => Content::Mapping(
                entries.into_iter().map(|(key, value)| (key.text, value.into())).collect(),
            ),
        };
        Self { content, position: Some((node.place.line, node.place.column)) }
    }
}

fn refused(error: YamlError) -> InputError {
    let kind = match error.problem {
        Problem::Syntax(message) => InputErrorKind::Syntax { format: "YAML", message },
        Problem::Alias => InputErrorKind::Alias,
        Problem::SecondDocument => InputErrorKind::SeveralDocuments,
        Problem::Key => InputErrorKind::Key,
        Problem::TooDeep(limit) | Problem::TooMany(limit) => InputErrorKind::TooDeep { limit },
    };
    InputError::new(kind, Some((error.place.line, error.place.column)))
}

//! The error for a text that is not a message of the expected type, with its position.

use feros_wording::in_parentheses;

use super::path::Place;

/// The error for a text that is not a message of the expected type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}{kind}", self.position_text(), place.prefix())]
pub struct InputError {
    place: Place,
    position: Option<(usize, usize)>,
    kind: Box<InputErrorKind>,
}

/// A problem in a text that should be a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputErrorKind {
    /// The text is not YAML or JSON.
    #[error("this is not {format}: {message}")]
    Syntax {
        /// The format that was expected.
        format: &'static str,
        /// The error of the YAML or JSON parser.
        message: String,
    },
    /// The YAML contains an alias. Aliases are refused, because nested aliases can expand to
    /// enormous values.
    #[error("aliases (`*name`) are not supported: write the value out")]
    Alias,
    /// The YAML contains more than one document.
    #[error("there is more than one document (`---`): give one message at a time")]
    SeveralDocuments,
    /// A list or mapping is used as a key.
    #[error("a key is a list or mapping: keys are names of fields")]
    Key,
    /// Lists and mappings are nested too deeply.
    #[error(
        "lists and mappings are nested more than {limit} deep, deeper than any message: correct the \
         brackets or the indentation"
    )]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// The message has no field with that name.
    #[error("`{ty}` has no field `{field}`{}: it has {known}", in_parentheses(nearest.as_slice()))]
    UnknownField {
        /// The message's type.
        ty: String,
        /// The name that was given.
        field: String,
        /// The most similar field name, if any name is similar.
        nearest: Option<String>,
        /// The names of all fields.
        known: String,
    },
    /// A field and its value form one word, such as `x:0`, which YAML reads as a key without a
    /// value, or as a string.
    #[error(
        "`{given}` is a single word in YAML: write a space after the colon, `{field}: {value}`"
    )]
    NoBlank {
        /// The word.
        given: String,
        /// The field with which the word begins.
        field: String,
        /// The rest of the word.
        value: String,
    },
    /// A field is given twice.
    #[error("the field `{field}` is given twice")]
    Duplicate {
        /// The field.
        field: String,
    },
    /// The value does not have the field's type.
    #[error("expected {expected}, got {given}")]
    WrongType {
        /// The values that the field takes.
        expected: String,
        /// The value that was given.
        given: String,
    },
}

impl InputError {
    pub(super) fn new(kind: InputErrorKind, position: Option<(usize, usize)>) -> Self {
        Self { place: Place::default(), position, kind: Box::new(kind) }
    }

    /// The problem.
    #[must_use]
    pub fn kind(&self) -> &InputErrorKind {
        &self.kind
    }

    /// The field, such as `points[2].x`. It is empty for the message itself.
    #[must_use]
    pub fn path(&self) -> String {
        self.place.to_string()
    }

    /// The line and the column in the text, both counted from 1, or `None` if they are unknown.
    #[must_use]
    pub fn position(&self) -> Option<(usize, usize)> {
        self.position
    }

    fn position_text(&self) -> String {
        match self.position {
            Some((line, column)) => format!("line {line}, column {column}: "),
            None => String::new(),
        }
    }

    pub(super) fn in_field(mut self, name: &str) -> Self {
        self.place.prepend_field(name);
        self
    }

    pub(super) fn at_index(mut self, index: usize) -> Self {
        self.place.prepend_index(index);
        self
    }
}

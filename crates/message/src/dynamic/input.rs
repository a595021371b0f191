//! Dynamic messages from YAML and JSON, as `ros2 topic pub` takes them: fields that are not named
//! keep their defaults.

use super::node::{Content, Node};
use super::path::{Place, known_fields};
use super::scalar::read_scalar;
use super::stamp::{StampFields, Stamps};
use super::types::{DynamicField, DynamicType};
use super::value::{Array, DynamicMessage, Value};
use feros_interface::Shape;

/// A text that is no message of the type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{}{kind}", self.position_text(), place.prefix())]
pub struct InputError {
    place: Place,
    position: Option<(usize, usize)>,
    kind: Box<InputErrorKind>,
}

/// What is wrong in a text that should be a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum InputErrorKind {
    /// The text is no YAML or JSON.
    #[error("this is no {format}: {message}")]
    Syntax {
        /// Which of the two.
        format: &'static str,
        /// What its parser says.
        message: String,
    },
    /// YAML with an alias: aliases of aliases multiply.
    #[error("aliases (`*name`) are not supported: write the value out")]
    Alias,
    /// YAML with more than one document.
    #[error("there is more than one document (`---`): give one message at a time")]
    SeveralDocuments,
    /// A list or mapping as a key.
    #[error("a key is a list or mapping: keys are names of fields")]
    Key,
    /// Lists and mappings are nested too deep.
    #[error("lists and mappings are nested more than {limit} deep, more than any message is")]
    TooDeep {
        /// The limit.
        limit: usize,
    },
    /// A message has no field of that name.
    #[error("`{ty}` has no field `{field}`{}: it has {known}", did_you_mean(nearest.as_deref()))]
    UnknownField {
        /// The message's type.
        ty: String,
        /// The name that was given.
        field: String,
        /// The field with the most similar name, if one is similar.
        nearest: Option<String>,
        /// The names of all fields.
        known: String,
    },
    /// A field is given twice.
    #[error("the field `{field}` is given twice")]
    Duplicate {
        /// The field.
        field: String,
    },
    /// The value is of another type.
    #[error("expected {expected}, got {given}")]
    WrongType {
        /// What the field takes.
        expected: String,
        /// What was given.
        given: String,
    },
}

fn did_you_mean(nearest: Option<&str>) -> String {
    nearest.map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

impl InputError {
    pub(super) fn new(kind: InputErrorKind, position: Option<(usize, usize)>) -> Self {
        Self { place: Place::default(), position, kind: Box::new(kind) }
    }

    /// What is wrong.
    #[must_use]
    pub fn kind(&self) -> &InputErrorKind {
        &self.kind
    }

    /// The field, such as `points[2].x`; empty for the message itself.
    #[must_use]
    pub fn path(&self) -> String {
        self.place.to_string()
    }

    /// Line and column in the text, both from 1, where they are known.
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

    fn in_field(mut self, name: &str) -> Self {
        self.place.prepend_field(name);
        self
    }

    fn at_index(mut self, index: usize) -> Self {
        self.place.prepend_index(index);
        self
    }
}

impl DynamicMessage {
    /// Reads a message from YAML. Fields that are not named keep their defaults; nothing at all is
    /// the default message.
    ///
    /// # Errors
    /// If the text is no YAML, names a field that the type has not, or gives a field a value that
    /// it cannot take. The error says line and column, the field's path, what was expected and what
    /// was given.
    pub fn from_yaml(ty: &DynamicType, text: &str) -> Result<Self, InputError> {
        build(&Node::from_yaml(text)?, ty, &mut Stamps::off())
    }

    /// Reads a message from YAML in which a `std_msgs/Header` may be `auto` and a
    /// `builtin_interfaces/Time` may be `now`. These are left zero; the [`StampFields`] set them
    /// when the message is sent.
    ///
    /// # Errors
    /// As [`DynamicMessage::from_yaml`].
    pub fn from_yaml_with_stamps(
        ty: &DynamicType,
        text: &str,
    ) -> Result<(Self, StampFields), InputError> {
        let mut stamps = Stamps::on();
        let message = build(&Node::from_yaml(text)?, ty, &mut stamps)?;
        Ok((message, stamps.finish()))
    }

    /// Reads a message from JSON. `null` stands for the default.
    ///
    /// # Errors
    /// As [`DynamicMessage::from_yaml`].
    pub fn from_json(ty: &DynamicType, text: &str) -> Result<Self, InputError> {
        let value: serde_json::Value = serde_json::from_str(text).map_err(|error| {
            let kind = InputErrorKind::Syntax { format: "JSON", message: error.to_string() };
            InputError::new(kind, None)
        })?;
        build(&Node::from_json(value), ty, &mut Stamps::off())
    }
}

fn wrong_type(expected: String, node: &Node) -> InputError {
    InputError::new(InputErrorKind::WrongType { expected, given: node.describe() }, node.position)
}

fn build(node: &Node, ty: &DynamicType, stamps: &mut Stamps) -> Result<DynamicMessage, InputError> {
    let mut message = ty.default_message();
    if node.is_nothing() || stamps.take(node, ty) {
        return Ok(message);
    }
    let Content::Mapping(entries) = &node.content else {
        return Err(wrong_type(
            format!("a mapping with the fields of {} ({})", ty.name(), known_fields(ty)),
            node,
        ));
    };
    let mut given = vec![false; ty.fields().len()];
    for (name, value) in entries {
        let Some(index) = ty.field_index(name) else {
            return Err(unknown_field(ty, name, value));
        };
        if std::mem::replace(&mut given[index], true) {
            return Err(InputError::new(
                InputErrorKind::Duplicate { field: name.clone() },
                value.position,
            ));
        }
        if value.is_nothing() {
            continue;
        }
        stamps.enter(index);
        let value = build_field(value, &ty.fields()[index], stamps)
            .map_err(|error| error.in_field(name))?;
        stamps.leave();
        message.values_mut()[index] = value;
    }
    Ok(message)
}

fn unknown_field(ty: &DynamicType, name: &str, value: &Node) -> InputError {
    let likeness =
        |field: &&DynamicField| (strsim::jaro_winkler(name, field.name()) * 1000.0) as u32;
    // Comparing is quadratic in the length of the name.
    let nearest = ty.fields().iter().filter(|_| name.len() <= 256).max_by_key(likeness);
    let kind = InputErrorKind::UnknownField {
        ty: ty.name().to_string(),
        field: name.to_owned(),
        nearest: nearest.filter(|field| likeness(field) > 800).map(|field| field.name().to_owned()),
        known: known_fields(ty),
    };
    InputError::new(kind, value.position)
}

fn build_field(
    node: &Node,
    field: &DynamicField,
    stamps: &mut Stamps,
) -> Result<Value, InputError> {
    if field.shape() == Shape::Single {
        return build_element(node, field, stamps);
    }
    let ty = &field.definition().ty;
    let Content::List(items) = &node.content else {
        return Err(wrong_type(format!("{ty} (a list, such as [1, 2])"), node));
    };
    match field.shape() {
        Shape::Array(size) if items.len() != size as usize => {
            return Err(wrong_type(format!("{ty} (exactly {size} elements)"), node));
        }
        Shape::BoundedSequence(bound) if items.len() > bound as usize => {
            return Err(wrong_type(format!("{ty} (at most {bound} elements)"), node));
        }
        _ => {}
    }
    let mut array = Array::empty_of(field);
    for (index, item) in items.iter().enumerate() {
        stamps.at_index(index);
        array.push(build_element(item, field, stamps).map_err(|error| error.at_index(index))?);
    }
    Ok(Value::Array(array))
}

fn build_element(
    node: &Node,
    field: &DynamicField,
    stamps: &mut Stamps,
) -> Result<Value, InputError> {
    if let Some(nested) = field.nested() {
        return build(node, nested, stamps).map(Value::Message);
    }
    match &node.content {
        Content::Scalar { text, plain } => {
            read_scalar(field.base(), text, *plain).map_err(|expected| wrong_type(expected, node))
        }
        _ => Err(wrong_type(field.base().to_string(), node)),
    }
}

//! Reads dynamic messages from YAML and JSON, like `ros2 topic pub`
//! (`rosidl_runtime_py/set_message.py`): fields that are not in the text keep their defaults.

use super::input_error::{InputError, InputErrorKind};
use super::input_tree::{Content, InputNode};
use super::path::known_fields;
use super::scalar::read_scalar;
use super::stamp::{StampFields, Stamps};
use super::types::{DynamicField, DynamicType};
use super::value::{Array, DynamicMessage, Value};
use feros_interface::Shape;

impl DynamicMessage {
    /// Reads a message from YAML. Fields that are not in the text keep their defaults. An empty
    /// string gives the default message.
    ///
    /// # Errors
    /// Fails if the text is not YAML, names a field that the type does not have, or gives a field a
    /// value that it cannot take. The error names the line and the column, the path of the field,
    /// the expected value and the given value.
    pub fn from_yaml(ty: &DynamicType, text: &str) -> Result<Self, InputError> {
        build(&InputNode::from_yaml(text)?, ty, &mut Stamps::off())
    }

    /// Reads a message from YAML in which a `std_msgs/Header` may be `auto` and a
    /// `builtin_interfaces/Time` may be `now`. Such fields are zero at first. The returned
    /// [`StampFields`] sets them when the message is sent.
    ///
    /// # Errors
    /// Fails like [`DynamicMessage::from_yaml`].
    pub fn from_yaml_with_stamps(
        ty: &DynamicType,
        text: &str,
    ) -> Result<(Self, StampFields), InputError> {
        let mut stamps = Stamps::on();
        let message = build(&InputNode::from_yaml(text)?, ty, &mut stamps)?;
        Ok((message, stamps.finish()))
    }

    /// Reads a message from JSON. `null` means the default.
    ///
    /// # Errors
    /// Fails like [`DynamicMessage::from_yaml`].
    pub fn from_json(ty: &DynamicType, text: &str) -> Result<Self, InputError> {
        let value: serde_json::Value = serde_json::from_str(text).map_err(|error| {
            let kind = InputErrorKind::Syntax { format: "JSON", message: error.to_string() };
            InputError::new(kind, None)
        })?;
        build(&InputNode::from_json(value), ty, &mut Stamps::off())
    }
}

fn wrong_type(expected: String, node: &InputNode) -> InputError {
    InputError::new(InputErrorKind::WrongType { expected, given: node.describe() }, node.position)
}

fn build(
    node: &InputNode,
    ty: &DynamicType,
    stamps: &mut Stamps,
) -> Result<DynamicMessage, InputError> {
    let mut message = ty.default_message();
    if node.is_nothing() || stamps.take(node, ty) {
        return Ok(message);
    }
    let Content::Mapping(entries) = &node.content else {
        if let Content::Scalar { text, .. } = &node.content
            && let Some(error) = no_blank(ty, text, node)
        {
            return Err(error);
        }
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

/// Detects a field and its value without the required space after the colon, and returns the error
/// for this.
fn no_blank(ty: &DynamicType, word: &str, at: &InputNode) -> Option<InputError> {
    let (field, value) = word.split_once(':')?;
    ty.field_index(field)?;
    let (given, field, value) = (word.to_owned(), field.to_owned(), value.to_owned());
    Some(InputError::new(InputErrorKind::NoBlank { given, field, value }, at.position))
}

fn unknown_field(ty: &DynamicType, name: &str, value: &InputNode) -> InputError {
    if let Some(error) = no_blank(ty, name, value).filter(|_| value.is_nothing()) {
        return error;
    }
    let nearest = feros_wording::nearest(name, ty.fields().iter().map(DynamicField::name));
    let kind = InputErrorKind::UnknownField {
        ty: ty.name().to_string(),
        field: name.to_owned(),
        nearest: nearest.first().map(|&field| field.to_owned()),
        known: known_fields(ty),
    };
    InputError::new(kind, value.position)
}

fn build_field(
    node: &InputNode,
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
    node: &InputNode,
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

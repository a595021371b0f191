//! Positions inside messages, for errors and for `echo --field`.

use std::fmt;

use feros_interface::BaseType;

use super::types::DynamicField;
use super::value::{DynamicMessage, ValueRef};

/// The position of a value in a message, such as `points[2].name`. While an error is passed
/// outwards, each level of the message adds its step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Place {
    /// The steps. The innermost step is first.
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Field(String),
    Index(usize),
}

impl Place {
    pub(super) fn prepend_field(&mut self, name: &str) {
        self.steps.push(Step::Field(name.to_owned()));
    }

    pub(super) fn prepend_index(&mut self, index: usize) {
        self.steps.push(Step::Index(index));
    }

    /// The start of an error message. It names the field, unless the position is the message
    /// itself.
    pub(super) fn prefix(&self) -> String {
        if self.steps.is_empty() { String::new() } else { format!("field `{self}`: ") }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, step) in self.steps.iter().rev().enumerate() {
            match step {
                Step::Field(name) if position == 0 => f.write_str(name)?,
                Step::Field(name) => write!(f, ".{name}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// A selected part of a message.
#[derive(Clone, Copy, Debug)]
pub struct Selected<'a> {
    pub(super) value: ValueRef<'a>,
    pub(super) field: &'a DynamicField,
}

impl<'a> Selected<'a> {
    /// The value of the part.
    #[must_use]
    pub fn value(&self) -> ValueRef<'a> {
        self.value
    }

    pub(super) fn is_byte(&self) -> bool {
        *self.field.base() == BaseType::Byte
    }
}

/// A path that leads to no part of a message.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The path is not of the form `a.b[0].c`.
    #[error("`{path}` is not a field path: write `a.b` for fields and `a[0]` for elements")]
    Form {
        /// The path.
        path: String,
    },
    /// The message has no field with that name.
    #[error("`{ty}` has no field `{field}`: it has {known}")]
    UnknownField {
        /// The type of the message that was reached.
        ty: String,
        /// The field's name.
        field: String,
        /// The names of the fields of that type.
        known: String,
    },
    /// The path indexes a value that is not an array, or names a field of a value that is not a
    /// message.
    #[error("`{part}` is of type `{ty}`, which has no {wanted}")]
    Leaf {
        /// The path up to the value that has no such part.
        part: String,
        /// The type of that value.
        ty: String,
        /// The part that the path requests.
        wanted: &'static str,
    },
    /// The path names an element that this message does not have.
    #[error("`{part}` has {len} elements, so index {index} (counted from 0) does not exist")]
    Index {
        /// The path up to the array.
        part: String,
        /// The number of elements.
        len: usize,
        /// The index that was requested.
        index: usize,
    },
}

impl DynamicMessage {
    /// Selects a part by its path, such as `header.stamp` or `points[0].x`.
    ///
    /// ```
    /// # use feros_message::dynamic::{DynamicMessage, DynamicType, ValueRef};
    /// let ty = DynamicType::resolve(feros_interface::shipped(), &"sensor_msgs/msg/Imu".parse()?)?;
    /// let imu = DynamicMessage::from_yaml(&ty, "{header: {frame_id: imu_link}}")?;
    /// assert_eq!(imu.select("header.frame_id")?.value(), ValueRef::String("imu_link"));
    /// assert_eq!(imu.select("orientation_covariance[8]")?.value(), ValueRef::F64(0.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Fails if the path leads to no value. The error names the last part that exists, and what it
    /// contains.
    pub fn select(&self, path: &str) -> Result<Selected<'_>, PathError> {
        let form = || PathError::Form { path: path.to_owned() };
        let mut reached: Option<Selected<'_>> = None;
        let mut part = String::new();
        for segment in path.split('.') {
            let (name, indexes) = match segment.find('[') {
                Some(bracket) => segment.split_at(bracket),
                None => (segment, ""),
            };
            if name.is_empty() {
                return Err(form());
            }
            let message = match reached {
                None => self,
                Some(Selected { value: ValueRef::Message(message), .. }) => message,
                Some(other) => return Err(leaf(&part, &other, "fields")),
            };
            let mut selected = field_of(message, name)?;
            part = if part.is_empty() { name.to_owned() } else { format!("{part}.{name}") };
            for index_text in indexes.split_terminator(']') {
                let digits = index_text.strip_prefix('[').ok_or_else(form)?;
                let index = digits.parse().map_err(|_| form())?;
                selected = element_of(&selected, &part, index)?;
                part = format!("{part}[{index}]");
            }
            if !indexes.is_empty() && !indexes.ends_with(']') {
                return Err(form());
            }
            reached = Some(selected);
        }
        reached.ok_or_else(form)
    }
}

fn field_of<'a>(message: &'a DynamicMessage, name: &str) -> Result<Selected<'a>, PathError> {
    let found = message.fields().find(|(field, _)| field.name() == name);
    let (field, value) = found.ok_or_else(|| PathError::UnknownField {
        ty: message.ty().name().to_string(),
        field: name.to_owned(),
        known: known_fields(message.ty()),
    })?;
    Ok(Selected { value: value.as_ref(), field })
}

fn element_of<'a>(
    selected: &Selected<'a>,
    part: &str,
    index: usize,
) -> Result<Selected<'a>, PathError> {
    let ValueRef::Array(array) = selected.value else {
        return Err(leaf(part, selected, "elements"));
    };
    let no_such = || PathError::Index { part: part.to_owned(), len: array.len(), index };
    Ok(Selected { value: array.get(index).ok_or_else(no_such)?, field: selected.field })
}

fn leaf(part: &str, selected: &Selected<'_>, wanted: &'static str) -> PathError {
    let ty = &selected.field.definition().ty;
    let is_element = !matches!(selected.value, ValueRef::Array(_));
    let ty = if is_element { ty.base.to_string() } else { ty.to_string() };
    PathError::Leaf { part: part.to_owned(), ty, wanted }
}

/// Lists the names of a type's fields for an error message.
pub(super) fn known_fields(ty: &super::types::DynamicType) -> String {
    let names: Vec<String> =
        ty.fields().iter().map(|field| format!("`{}`", field.name())).collect();
    if names.is_empty() { "no fields".to_owned() } else { names.join(", ") }
}

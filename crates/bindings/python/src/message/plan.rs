//! The plan of a message class: the properties that encoding and decoding need, computed once.

use std::sync::Arc;

use feros_interface::{BaseType, Field, Literal, MessageDefinition, Shape};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyType};

use super::number::Number;
use crate::ffi::{Class, Plain, What};

/// The plan for encoding and decoding messages of one class.
pub(crate) struct Plan {
    /// The name, as `package/msg/Name`.
    pub(super) name: String,
    /// The class, with the slots of the fields, followed by the slot [`Plan::check`].
    pub(super) class: Class,
    pub(super) slots: Vec<Slot>,
    /// For messages of fixed size, the size by the start position modulo 8.
    pub(super) extent: Option<[usize; 8]>,
    /// The fast writer, if messages consist only of floats.
    pub(super) plain: Option<Arc<Plain>>,
    /// The minimum size of a message, in bytes, without padding; never 0.
    pub(super) least_bytes: usize,
    /// Whether the message has sequences of numbers, which can be read in place.
    pub(super) has_sequences: bool,
}

/// One field.
pub(super) struct Slot {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) shape: Many,
    pub(super) default: Initial,
}

/// The type of a field's elements.
pub(super) enum Kind {
    Bool,
    Byte,
    Number(Number),
    Text { bound: Option<usize> },
    WideText { bound: Option<usize> },
    Message(Arc<Plan>),
}

/// The number of elements of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Many {
    One,
    Array(usize),
    Sequence { bound: Option<usize> },
}

/// The initial value of a field.
pub(super) enum Initial {
    /// One immutable object.
    Object(Py<PyAny>),
    /// A new array of numbers with these bytes.
    Numbers(Vec<u8>),
    /// A new list of these immutable objects.
    List(Vec<Py<PyAny>>),
    /// A new message.
    Message,
    /// A new list of this many new messages.
    Messages(usize),
}

impl Plan {
    /// Makes the plan of a class for a definition. `nested` finds the plans of its nested messages.
    pub(super) fn new(
        definition: &MessageDefinition,
        class: &Bound<'_, PyType>,
        nested: impl Fn(&str) -> PyResult<Arc<Plan>>,
    ) -> PyResult<Self> {
        let slots = definition.fields.iter().map(|field| Slot::new(class.py(), field, &nested));
        let slots = slots.collect::<PyResult<Vec<_>>>()?;
        let least_bytes: usize = slots.iter().map(Slot::least_bytes).sum();
        let mut extent = Some([0; 8]);
        for start in 0..8 {
            let end = match slots.is_empty() {
                true => Some(start + 1),
                false => slots.iter().try_fold(start, |at, slot| slot.end_of_fixed(at)),
            };
            match (&mut extent, end) {
                (Some(extent), Some(end)) => extent[start] = end - start,
                (extent, _) => *extent = None,
            }
        }
        let mut names: Vec<String> = slots.iter().map(|slot| format!("_{}", slot.name)).collect();
        names.push("_check_fields".to_owned());
        let (py, class) = (class.py(), Class::new(class, &names)?);
        let plain = slots.iter().map(Slot::plain).collect::<Option<Vec<_>>>();
        let plain = plain.filter(|slots| !slots.is_empty());
        Ok(Self {
            name: definition.name.to_string(),
            plain: plain.and_then(|slots| Plain::new(py, &class, slots)).map(Arc::new),
            class,
            has_sequences: slots.iter().any(Slot::has_sequences),
            slots,
            extent,
            least_bytes: least_bytes.max(1),
        })
    }

    /// The number of the slot that controls whether setting a field checks the value.
    pub(super) fn check(&self) -> usize {
        self.slots.len()
    }

    /// The end position of a message that starts at `at`, if its size is fixed.
    pub(super) fn end_of_fixed(&self, at: usize) -> Option<usize> {
        Some(at + self.extent.as_ref()?[at % 8])
    }
}

impl Slot {
    fn new(
        py: Python<'_>,
        field: &Field,
        nested: &impl Fn(&str) -> PyResult<Arc<Plan>>,
    ) -> PyResult<Self> {
        let size = |bound: &Option<u32>| bound.map(|bound| bound as usize);
        let kind = match &field.ty.base {
            BaseType::Bool => Kind::Bool,
            BaseType::Byte => Kind::Byte,
            BaseType::String { bound } => Kind::Text { bound: size(bound) },
            BaseType::WString { bound } => Kind::WideText { bound: size(bound) },
            BaseType::Nested(name) => Kind::Message(nested(&name.to_string())?),
            number => match Number::of(number) {
                Some(number) => Kind::Number(number),
                None => return Err(PyTypeError::new_err(format!("no field has type {number}"))),
            },
        };
        let shape = match field.ty.shape {
            Shape::Single => Many::One,
            Shape::Array(size) => Many::Array(size as usize),
            Shape::BoundedSequence(bound) => Many::Sequence { bound: Some(bound as usize) },
            Shape::Sequence => Many::Sequence { bound: None },
        };
        let default = default_of(py, field, &kind, shape)?;
        Ok(Self { name: field.name.clone(), kind, shape, default })
    }

    /// The content of the slot, if it is a float or a message that consists only of floats.
    fn plain(&self) -> Option<What> {
        match &self.kind {
            _ if self.shape != Many::One => None,
            Kind::Number(Number::F32) => Some(What::Float32),
            Kind::Number(Number::F64) => Some(What::Float64),
            Kind::Message(plan) => plan.plain.clone().map(What::Message),
            _ => None,
        }
    }

    fn has_sequences(&self) -> bool {
        match &self.kind {
            Kind::Number(_) => matches!(self.shape, Many::Sequence { .. }),
            Kind::Message(plan) => plan.has_sequences,
            _ => false,
        }
    }

    fn least_bytes(&self) -> usize {
        match self.shape {
            Many::One => self.kind.least_bytes(),
            Many::Array(count) => self.kind.least_bytes().saturating_mul(count),
            Many::Sequence { .. } => 4,
        }
    }

    /// The end position of the field that starts at `at`, if its size is fixed.
    pub(super) fn end_of_fixed(&self, at: usize) -> Option<usize> {
        match self.shape {
            Many::One => self.kind.end_of_fixed(at, 1),
            Many::Array(count) => self.kind.end_of_fixed(at, count),
            Many::Sequence { .. } => None,
        }
    }
}

impl Kind {
    /// The minimum size of one element, in bytes, without padding; never 0.
    pub(super) fn least_bytes(&self) -> usize {
        match self {
            Self::Bool | Self::Byte => 1,
            Self::Number(number) => number.size(),
            Self::Text { .. } | Self::WideText { .. } => 4,
            Self::Message(plan) => plan.least_bytes,
        }
    }

    /// The end position of consecutive elements that start at `at`, if their size is fixed.
    pub(super) fn end_of_fixed(&self, at: usize, count: usize) -> Option<usize> {
        match self {
            Self::Bool | Self::Byte => Some(at + count),
            Self::Number(_) if count == 0 => Some(at),
            Self::Number(number) => {
                Some(at.next_multiple_of(number.size()) + count * number.size())
            }
            Self::Text { .. } | Self::WideText { .. } => None,
            Self::Message(plan) => {
                let extent = plan.extent.as_ref()?;
                let mut at = at;
                for index in 0..count {
                    let step = extent[at % 8];
                    if step % 8 == 0 {
                        return Some(at + step * (count - index)); // the rest starts alike modulo 8
                    }
                    at += step;
                }
                Some(at)
            }
        }
    }

    /// The description of one element, for error texts.
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Bool => "a bool".to_owned(),
            Self::Byte => "bytes of length 1".to_owned(),
            Self::Number(number) => format!("a number that fits {}", number.dtype()),
            Self::Text { .. } | Self::WideText { .. } => "a str".to_owned(),
            Self::Message(plan) => format!("a {}", plan.name),
        }
    }
}

fn default_of(py: Python<'_>, field: &Field, kind: &Kind, shape: Many) -> PyResult<Initial> {
    let declared = match &field.default {
        Some(Literal::Array(elements)) => elements.as_slice(),
        _ => &[],
    };
    let count = match shape {
        Many::One => {
            return Ok(match kind {
                Kind::Message(_) => Initial::Message,
                _ => Initial::Object(scalar(py, &field.ty.base, field.default.as_ref())?),
            });
        }
        Many::Array(count) => count,
        Many::Sequence { .. } => declared.len(),
    };
    let element = |index: usize| declared.get(index);
    Ok(match kind {
        Kind::Message(_) => Initial::Messages(count),
        Kind::Number(number) => {
            let mut bytes = Vec::with_capacity(count * number.size());
            for index in 0..count {
                push_number(&mut bytes, *number, element(index));
            }
            Initial::Numbers(bytes)
        }
        _ => {
            let elements = (0..count).map(|index| scalar(py, &field.ty.base, element(index)));
            Initial::List(elements.collect::<PyResult<_>>()?)
        }
    })
}

/// Converts a declared value to Python. Without a declared value, returns the zero value of the
/// type.
pub(crate) fn scalar(
    py: Python<'_>,
    base: &BaseType,
    value: Option<&Literal>,
) -> PyResult<Py<PyAny>> {
    let integer = match value {
        Some(Literal::Integer(value)) => *value,
        _ => 0,
    };
    Ok(match base {
        BaseType::Bool => {
            let is_true = matches!(value, Some(Literal::Bool(true)));
            is_true.into_pyobject(py)?.to_owned().into_any().unbind()
        }
        BaseType::Byte => {
            let byte = u8::try_from(integer).unwrap_or_default();
            PyBytes::new(py, &[byte]).into_any().unbind()
        }
        BaseType::Float32 | BaseType::Float64 => {
            let float = match value {
                Some(Literal::Float(value)) => *value,
                _ => integer as f64,
            };
            float.into_pyobject(py)?.into_any().unbind()
        }
        BaseType::String { .. } | BaseType::WString { .. } => {
            let text = match value {
                Some(Literal::String(text)) => text.as_str(),
                _ => "",
            };
            PyString::new(py, text).into_any().unbind()
        }
        BaseType::Nested(_) => py.None(),
        _ => match i64::try_from(integer) {
            Ok(integer) => integer.into_pyobject(py)?.into_any().unbind(),
            Err(_) => {
                let integer = u64::try_from(integer).unwrap_or_default();
                integer.into_pyobject(py)?.into_any().unbind()
            }
        },
    })
}

fn push_number(bytes: &mut Vec<u8>, number: Number, value: Option<&Literal>) {
    let (integer, float) = match value {
        Some(Literal::Integer(value)) => (*value, *value as f64),
        Some(Literal::Float(value)) => (*value as i128, *value),
        _ => (0, 0.0),
    };
    match number {
        Number::I8 | Number::U8 => bytes.extend((integer as u8).to_ne_bytes()),
        Number::I16 | Number::U16 => bytes.extend((integer as u16).to_ne_bytes()),
        Number::I32 | Number::U32 => bytes.extend((integer as u32).to_ne_bytes()),
        Number::I64 | Number::U64 => bytes.extend((integer as u64).to_ne_bytes()),
        Number::F32 => bytes.extend((float as f32).to_ne_bytes()),
        Number::F64 => bytes.extend(float.to_ne_bytes()),
    }
}

//! Messages of any type with values in all fields.

use feros_interface::{BaseType, Shape};
use feros_message::dynamic::{Array, DynamicField, DynamicMessage, DynamicType, Value};

/// A message with a value in every field, which depends on `seed`.
pub(crate) fn filled(ty: &DynamicType, seed: u64) -> DynamicMessage {
    let mut message = ty.default_message();
    for (number, field) in ty.fields().iter().enumerate() {
        let value = value(field, seed.wrapping_mul(31).wrapping_add(number as u64 + 1));
        message.set(field.name(), value).unwrap();
    }
    message
}

fn value(field: &DynamicField, seed: u64) -> Value {
    let definition = &field.definition().ty;
    let count = match definition.shape {
        Shape::Single => return element(field, &definition.base, seed),
        Shape::Array(size) => size as usize,
        Shape::BoundedSequence(bound) => (bound as usize).min(2),
        Shape::Sequence => 3,
    };
    let elements = (0..count as u64).map(|index| element(field, &definition.base, seed + index));
    array(elements.collect(), field)
}

macro_rules! collected {
    ($elements:ident, $($variant:ident),+) => {
        match $elements.first() {
            $(Some(Value::$variant(_)) => Array::$variant(
                $elements.into_iter().filter_map(|value| match value {
                    Value::$variant(value) => Some(value),
                    _ => None,
                }).collect(),
            ),)+
            _ => unreachable!("arrays of tests have elements"),
        }
    };
}

fn array(elements: Vec<Value>, field: &DynamicField) -> Value {
    assert!(!elements.is_empty(), "{}", field.name());
    Value::Array(collected!(
        elements, Bool, U8, I8, U16, I16, U32, I32, U64, I64, F32, F64, String, WString, Message
    ))
}

fn element(field: &DynamicField, base: &BaseType, seed: u64) -> Value {
    let text = |bound: Option<u32>| {
        let whole = format!("text {seed}");
        whole.chars().take(bound.map_or(usize::MAX, |bound| bound as usize)).collect::<String>()
    };
    match base {
        BaseType::Bool => Value::Bool(seed % 2 == 1),
        BaseType::Byte | BaseType::Char | BaseType::Uint8 => Value::U8(seed as u8),
        BaseType::Int8 => Value::I8(seed as i8),
        BaseType::Uint16 => Value::U16(seed as u16),
        BaseType::Int16 => Value::I16(-(seed as u8 as i16)),
        BaseType::Uint32 => Value::U32(seed as u32),
        BaseType::Int32 => Value::I32(-(seed as u8 as i32)),
        BaseType::Uint64 => Value::U64(seed),
        BaseType::Int64 => Value::I64(-(seed as u8 as i64)),
        BaseType::Float32 => Value::F32(seed as u8 as f32 + 0.5),
        BaseType::Float64 => Value::F64(seed as u8 as f64 - 0.25),
        BaseType::String { bound } => Value::String(text(*bound)),
        BaseType::WString { bound } => Value::WString(text(*bound).as_str().into()),
        BaseType::Nested(_) => Value::Message(filled(field.nested().unwrap(), seed)),
    }
}

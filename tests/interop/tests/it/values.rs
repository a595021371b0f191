//! Makes extreme messages of any type, and compares messages exactly.
//!
//! The JSON has the form of `peers/conversion.py`: not-a-number and the infinities are `"nan"`,
//! `"inf"`, `"-inf"`.

use feros::message::dynamic::{DynamicField, DynamicMessage, DynamicType, ValueRef};
use feros_interface::{BaseType, Shape};
use serde_json::{Map, Value, json};

/// The part of the value range from which all fields of a message take their values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extreme {
    /// No field is named: each side fills in the defaults that it knows.
    Default,
    /// The smallest numbers; strings and sequences are empty.
    Least,
    /// The greatest numbers, long strings, full sequences.
    Greatest,
    /// Not-a-number, negative zero, subnormals, strings in many scripts, short sequences.
    Odd,
}

pub(crate) const EXTREMES: [Extreme; 4] =
    [Extreme::Default, Extreme::Least, Extreme::Greatest, Extreme::Odd];

const ODD_FLOATS: [f64; 6] =
    [f64::NAN, -0.0, f64::MIN_POSITIVE / 4.0, f64::INFINITY, f64::NEG_INFINITY, 0.1];
const ODD_FLOATS32: [f32; 6] = [f32::NAN, -0.0, 1e-45, f32::INFINITY, f32::NEG_INFINITY, 0.1];
const ODD_TEXTS: [&str; 5] = [
    "aé😀\u{1d11e}",
    "ハローワールド",
    "\"quoted\" \\ 'and'\r\n\t",
    "\u{1}\u{7f}\u{feff}",
    "~ null: [*&]",
];

/// The number of elements of a full unbounded sequence.
const MANY: usize = 100;
/// The number of elements of a full unbounded sequence of messages. It is small because the sizes
/// of nested sequences multiply.
const MANY_MESSAGES: usize = 3;
/// The length of a single long string, and of each string in a sequence.
const LONG_TEXT: usize = 3000;
const LONG_TEXT_OF_MANY: usize = 30;

impl Extreme {
    /// Makes a message of this kind, as JSON.
    pub(crate) fn of(self, ty: &DynamicType) -> Value {
        self.message(ty, &mut 0)
    }

    /// `turn` counts the elements, so that neighbours differ.
    fn message(self, ty: &DynamicType, turn: &mut usize) -> Value {
        if self == Self::Default {
            return json!({});
        }
        let fields =
            ty.fields().iter().map(|field| (field.name().to_owned(), self.field(field, turn)));
        Value::Object(fields.collect::<Map<_, _>>())
    }

    fn field(self, field: &DynamicField, turn: &mut usize) -> Value {
        let many = if field.nested().is_some() { MANY_MESSAGES } else { MANY };
        let sequence_length = |bound: usize| match self {
            Self::Least => 0,
            Self::Odd => bound.min(2),
            _ => bound,
        };
        let length = match field.definition().ty.shape {
            Shape::Single => return self.element(field, turn),
            Shape::Array(length) => length as usize,
            Shape::BoundedSequence(bound) => sequence_length(bound as usize),
            Shape::Sequence => sequence_length(many),
        };
        (0..length).map(|_| self.element(field, turn)).collect()
    }

    fn element(self, field: &DynamicField, turn: &mut usize) -> Value {
        *turn += 1;
        let nth = *turn;
        let greatest = self == Self::Greatest;
        match &field.definition().ty.base {
            BaseType::Bool => {
                json!(if self == Self::Odd { nth.is_multiple_of(2) } else { greatest })
            }
            BaseType::Float32 => match self {
                Self::Odd => float(ODD_FLOATS32[nth % ODD_FLOATS32.len()].into()),
                _ => float(if greatest { f32::MAX } else { f32::MIN }.into()),
            },
            BaseType::Float64 => match self {
                Self::Odd => float(ODD_FLOATS[nth % ODD_FLOATS.len()]),
                _ => float(if greatest { f64::MAX } else { f64::MIN }),
            },
            BaseType::String { bound } | BaseType::WString { bound } => {
                let longest = if field.definition().ty.shape == Shape::Single {
                    LONG_TEXT
                } else {
                    LONG_TEXT_OF_MANY
                };
                json!(self.text(bound.map(|bound| bound as usize), longest, nth))
            }
            BaseType::Nested(_) => self.message(field.nested().unwrap(), turn),
            integer => {
                let (least, most) = integer.integer_range().unwrap();
                let value = match self {
                    Self::Odd => (nth as i128 * 37).min(most),
                    Self::Greatest => most,
                    Self::Default | Self::Least => least,
                };
                i64::try_from(value)
                    .map_or_else(|_| json!(u64::try_from(value).unwrap()), Value::from)
            }
        }
    }

    fn text(self, bound: Option<usize>, longest: usize, nth: usize) -> String {
        match (self, bound) {
            (Self::Odd, None) => ODD_TEXTS[nth % ODD_TEXTS.len()].to_owned(),
            (Self::Odd, Some(bound)) => {
                let text = ODD_TEXTS[nth % ODD_TEXTS.len()];
                text.chars()
                    .scan(0, |length, c| {
                        *length += c.len_utf8();
                        (*length <= bound).then_some(c)
                    })
                    .collect()
            }
            (Self::Greatest, bound) => "x".repeat(bound.unwrap_or(longest)),
            _ => String::new(),
        }
    }
}

fn float(value: f64) -> Value {
    match value {
        value if value.is_nan() => json!("nan"),
        value if value.is_infinite() => json!(if value > 0.0 { "inf" } else { "-inf" }),
        value => json!(value),
    }
}

/// Converts the peer's JSON to a message of the type.
pub(crate) fn from_json(ty: &DynamicType, value: &Value) -> DynamicMessage {
    DynamicMessage::from_json(ty, &value.to_string()).unwrap()
}

/// Converts a message with all its fields to the peer's JSON.
pub(crate) fn to_json(message: &DynamicMessage) -> Value {
    let fields = message
        .fields()
        .map(|(field, value)| (field.name().to_owned(), value_to_json(value.as_ref())));
    Value::Object(fields.collect::<Map<_, _>>())
}

fn value_to_json(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Bool(value) => json!(value),
        ValueRef::U8(value) => json!(value),
        ValueRef::I8(value) => json!(value),
        ValueRef::U16(value) => json!(value),
        ValueRef::I16(value) => json!(value),
        ValueRef::U32(value) => json!(value),
        ValueRef::I32(value) => json!(value),
        ValueRef::U64(value) => json!(value),
        ValueRef::I64(value) => json!(value),
        ValueRef::F32(value) => float(value.into()),
        ValueRef::F64(value) => float(value),
        ValueRef::String(text) => json!(text),
        ValueRef::WString(text) => json!(String::from_utf16(text.as_units()).unwrap()),
        ValueRef::Message(message) => to_json(message),
        ValueRef::Array(array) => {
            (0..array.len()).map(|at| value_to_json(array.get(at).unwrap())).collect()
        }
        other => panic!("a kind of value that the tests do not know: {other:?}"),
    }
}

/// Finds the path where two values first differ. Floats are compared by their bits, so `-0.0`
/// differs from `0.0`.
pub(crate) fn difference(expected: &Value, found: &Value) -> Option<String> {
    match (expected, found) {
        (Value::Object(a), Value::Object(b)) => {
            if !a.keys().eq(b.keys()) {
                let names = |map: &Map<_, _>| map.keys().cloned().collect::<Vec<_>>();
                return Some(format!(": fields {:?} became {:?}", names(a), names(b)));
            }
            a.iter()
                .find_map(|(name, value)| Some(format!(".{name}{}", difference(value, &b[name])?)))
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            let mut pairs = a.iter().zip(b).enumerate();
            pairs.find_map(|(at, (a, b))| Some(format!("[{at}]{}", difference(a, b)?)))
        }
        // `text_of` writes a number as its shortest exact text, with its sign.
        _ if text_of(expected) == text_of(found) => None,
        _ => {
            let show = |value: &Value| value.to_string().chars().take(200).collect::<String>();
            Some(format!(": {} became {}", show(expected), show(found)))
        }
    }
}

/// The text of a value; two numbers have the same text only if they are equal, including the sign
/// of zero.
fn text_of(value: &Value) -> String {
    value.to_string()
}

#[test]
fn differences_are_found_where_they_are() {
    let value = json!({"a": [1, {"b": -0.0}], "c": "nan"});
    assert_eq!(difference(&value, &value), None);
    assert_eq!(
        difference(&value, &json!({"a": [1, {"b": 0.0}], "c": "nan"})).unwrap(),
        ".a[1].b: -0.0 became 0.0"
    );
    assert!(difference(&value, &json!({"a": [1], "c": "nan"})).unwrap().starts_with(".a: "));
    assert!(difference(&value, &json!({"a": []})).unwrap().starts_with(": fields"));
}

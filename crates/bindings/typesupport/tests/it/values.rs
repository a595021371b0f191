//! Fills messages of any type with values that are the same on every run.

use feros_interface::{BaseType, Shape};
use feros_message::cdr::WString;
use feros_message::dynamic::{Array, DynamicField, DynamicMessage, DynamicType, Value};

/// Pseudorandom numbers, which are the same for the same seed (xorshift).
pub(crate) struct Numbers(u64);

impl Numbers {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `end`.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }
}

/// A message with a value for every field; sequences have up to 6 elements, or fewer if their bound
/// is lower.
pub(crate) fn message(ty: &DynamicType, numbers: &mut Numbers) -> DynamicMessage {
    let mut message = ty.default_message();
    for field in ty.fields() {
        let value = match field.definition().ty.shape {
            Shape::Single => one(field, numbers),
            Shape::Array(count) => array(field, count as usize, numbers),
            Shape::BoundedSequence(bound) => {
                let count = numbers.below(bound.min(6) as usize + 1);
                array(field, count, numbers)
            }
            Shape::Sequence => {
                let count = numbers.below(7);
                array(field, count, numbers)
            }
        };
        message.set(field.name(), value).unwrap();
    }
    message
}

fn text(bound: Option<u32>, numbers: &mut Numbers) -> String {
    let longest = bound.map_or(40, |bound| bound as usize);
    // Letters of one byte, since the bound counts bytes.
    (0..numbers.below(longest + 1)).map(|_| char::from(b'a' + numbers.below(26) as u8)).collect()
}

fn wide_text(bound: Option<u32>, numbers: &mut Numbers) -> WString {
    let longest = bound.map_or(20, |bound| bound as usize);
    // Any code unit except NUL, including unpaired surrogates.
    (0..numbers.below(longest + 1)).map(|_| (numbers.next() as u16).max(1)).collect()
}

macro_rules! values {
    ($($base:ident $(| $other:ident)* => $variant:ident, $make:expr;)+) => {
        fn one(field: &DynamicField, numbers: &mut Numbers) -> Value {
            match &field.definition().ty.base {
                $(BaseType::$base $(| BaseType::$other)* => {
                    let make: fn(&mut Numbers) -> _ = $make;
                    Value::$variant(make(numbers))
                })+
                BaseType::String { bound } => Value::String(text(*bound, numbers)),
                BaseType::WString { bound } => Value::WString(wide_text(*bound, numbers)),
                BaseType::Nested(_) => Value::Message(message(field.nested().unwrap(), numbers)),
            }
        }

        fn array(field: &DynamicField, count: usize, numbers: &mut Numbers) -> Value {
            let items = 0..count;
            Value::Array(match &field.definition().ty.base {
                $(BaseType::$base $(| BaseType::$other)* => {
                    let make: fn(&mut Numbers) -> _ = $make;
                    Array::$variant(items.map(|_| make(numbers)).collect())
                })+
                BaseType::String { bound } => {
                    Array::String(items.map(|_| text(*bound, numbers)).collect())
                }
                BaseType::WString { bound } => {
                    Array::WString(items.map(|_| wide_text(*bound, numbers)).collect())
                }
                BaseType::Nested(_) => {
                    let ty = field.nested().unwrap();
                    Array::Message(items.map(|_| message(ty, numbers)).collect())
                }
            })
        }
    };
}
values! {
    Bool => Bool, |numbers| numbers.next() & 1 == 1;
    Uint8 | Byte | Char => U8, |numbers| numbers.next() as u8;
    Int8 => I8, |numbers| numbers.next() as i8;
    Uint16 => U16, |numbers| numbers.next() as u16;
    Int16 => I16, |numbers| numbers.next() as i16;
    Uint32 => U32, |numbers| numbers.next() as u32;
    Int32 => I32, |numbers| numbers.next() as i32;
    Uint64 => U64, |numbers| numbers.next();
    Int64 => I64, |numbers| numbers.next() as i64;
    Float32 => F32, |numbers| numbers.next() as f32 / 1e9;
    Float64 => F64, |numbers| numbers.next() as f64 / 1e9;
}

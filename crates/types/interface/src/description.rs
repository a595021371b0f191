//! Type descriptions and RIHS01 type hashes. Stock ROS 2 announces the hashes of types, and
//! compares types by their hashes.

use std::fmt::{self, Display, Write as _};
use std::str::FromStr;

use sha2::{Digest, Sha256};

use crate::tree::{BaseType, Field, Literal, Shape};

/// A type and all types that it refers to, as in `type_description_interfaces/msg/TypeDescription`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TypeDescription {
    /// The type itself.
    pub type_description: IndividualTypeDescription,
    /// All types to which it refers, directly or indirectly, ordered by name.
    pub referenced_type_descriptions: Vec<IndividualTypeDescription>,
}

/// One type of a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndividualTypeDescription {
    /// The full name, for example `std_msgs/msg/String`.
    pub type_name: String,
    /// The fields in the order of the wire.
    pub fields: Vec<FieldDescription>,
}

/// One field of a description.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldDescription {
    /// The name.
    pub name: String,
    /// The type.
    pub ty: FieldTypeDescription,
    /// The default in the notation of stock ROS 2, which is the notation of Python. It is empty if
    /// the field has no default. The default is not a part of the hash.
    pub default_value: String,
}

/// The type of a field of a description, as in `type_description_interfaces/msg/FieldType`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldTypeDescription {
    /// The number of the element type. An array adds 48 to it, a bounded sequence 96, and an
    /// unbounded sequence 144.
    pub type_id: u8,
    /// The size of an array or the bound of a sequence, and otherwise 0.
    pub capacity: u64,
    /// The bound of a string, and otherwise 0.
    pub string_capacity: u64,
    /// The full name of the nested type, and otherwise an empty string.
    pub nested_type_name: String,
}

impl TypeDescription {
    /// The RIHS01 hash: SHA-256 over the description in JSON, without the defaults.
    pub fn type_hash(&self) -> TypeHash {
        TypeHash(Sha256::digest(self.json(false).as_bytes()).into())
    }

    /// The description in JSON on one line, with the defaults.
    pub fn to_json(&self) -> String {
        self.json(true)
    }

    fn json(&self, with_defaults: bool) -> String {
        let mut out = String::from("{\"type_description\": ");
        self.type_description.write_json(&mut out, with_defaults);
        out.push_str(", \"referenced_type_descriptions\": [");
        for (index, referenced) in self.referenced_type_descriptions.iter().enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            referenced.write_json(&mut out, with_defaults);
        }
        out.push_str("]}");
        out
    }
}

impl IndividualTypeDescription {
    pub(crate) fn of(type_name: String, fields: &[Field]) -> Self {
        Self { type_name, fields: fields.iter().map(FieldDescription::of).collect() }
    }

    fn write_json(&self, out: &mut String, with_defaults: bool) {
        out.push_str("{\"type_name\": ");
        write_json_text(out, &self.type_name);
        out.push_str(", \"fields\": [");
        for (index, field) in self.fields.iter().enumerate() {
            if index > 0 {
                out.push_str(", ");
            }
            out.push_str("{\"name\": ");
            write_json_text(out, &field.name);
            let FieldTypeDescription { type_id, capacity, string_capacity, nested_type_name } =
                &field.ty;
            out.push_str(", \"type\": {\"type_id\": ");
            out.push_str(&type_id.to_string());
            out.push_str(", \"capacity\": ");
            out.push_str(&capacity.to_string());
            out.push_str(", \"string_capacity\": ");
            out.push_str(&string_capacity.to_string());
            out.push_str(", \"nested_type_name\": ");
            write_json_text(out, nested_type_name);
            out.push('}');
            if with_defaults {
                out.push_str(", \"default_value\": ");
                write_json_text(out, &field.default_value);
            }
            out.push('}');
        }
        out.push_str("]}");
    }
}

impl FieldDescription {
    fn of(field: &Field) -> Self {
        let (id, string_capacity, nested_type_name) = match &field.ty.base {
            BaseType::Nested(name) => (1, 0, name.to_string()),
            BaseType::Int8 => (2, 0, String::new()),
            BaseType::Uint8 | BaseType::Char => (3, 0, String::new()),
            BaseType::Int16 => (4, 0, String::new()),
            BaseType::Uint16 => (5, 0, String::new()),
            BaseType::Int32 => (6, 0, String::new()),
            BaseType::Uint32 => (7, 0, String::new()),
            BaseType::Int64 => (8, 0, String::new()),
            BaseType::Uint64 => (9, 0, String::new()),
            BaseType::Float32 => (10, 0, String::new()),
            BaseType::Float64 => (11, 0, String::new()),
            BaseType::Bool => (15, 0, String::new()),
            BaseType::Byte => (16, 0, String::new()),
            BaseType::String { bound: None } => (17, 0, String::new()),
            BaseType::WString { bound: None } => (18, 0, String::new()),
            BaseType::String { bound: Some(bound) } => (21, *bound, String::new()),
            BaseType::WString { bound: Some(bound) } => (22, *bound, String::new()),
        };
        let (offset, capacity) = match field.ty.shape {
            Shape::Single => (0, 0),
            Shape::Array(size) => (48, size),
            Shape::BoundedSequence(bound) => (96, bound),
            Shape::Sequence => (144, 0),
        };
        Self {
            name: field.name.clone(),
            ty: FieldTypeDescription {
                type_id: id + offset,
                capacity: capacity.into(),
                string_capacity: string_capacity.into(),
                nested_type_name,
            },
            default_value: field.default.as_ref().map(python_text).unwrap_or_default(),
        }
    }
}

/// Formats a literal like Python's `str`, as stock descriptions do
/// (`rosidl_generator_type_description/rosidl_generator_type_description/__init__.py`).
fn python_text(literal: &Literal) -> String {
    match literal {
        Literal::String(text) => text.clone(),
        Literal::Array(elements) => {
            let inner: Vec<String> = elements.iter().map(python_repr).collect();
            let comma = if inner.len() == 1 { "," } else { "" };
            format!("({}{comma})", inner.join(", "))
        }
        other => python_repr(other),
    }
}

fn python_repr(literal: &Literal) -> String {
    match literal {
        Literal::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
        Literal::Integer(value) => value.to_string(),
        Literal::Float(value) => python_float(*value),
        Literal::String(text) => {
            let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
            let mut out = String::from(quote);
            for character in text.chars() {
                if character == quote || character == '\\' {
                    out.push('\\');
                }
                out.push(character);
            }
            out.push(quote);
            out
        }
        Literal::Array(_) => python_text(literal),
    }
}

/// Formats a number like Python's `repr` and the tools of stock ROS 2: numbers from 1e16 on and
/// below 1e-4 have an exponent with at least two digits.
///
/// ```
/// # use feros_interface::python_float;
/// assert_eq!(python_float(1.0), "1.0");
/// assert_eq!(python_float(1.5e-5), "1.5e-05");
/// ```
pub fn python_float(value: f64) -> String {
    if value.is_nan() {
        return "nan".to_owned();
    }
    let magnitude = value.abs();
    if value.is_infinite() || value == 0.0 || (1e-4..1e16).contains(&magnitude) {
        return format!("{value:?}");
    }
    let text = format!("{value:e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    match exponent.strip_prefix('-') {
        Some(digits) => format!("{mantissa}e-{digits:0>2}"),
        None => format!("{mantissa}e+{exponent:0>2}"),
    }
}

/// Writes a JSON string in which all characters outside ASCII are escaped, as the hash requires.
fn write_json_text(out: &mut String, text: &str) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(character),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    // Writing to a `String` cannot fail.
                    let _ = write!(out, "\\u{unit:04x}");
                }
            }
        }
    }
    out.push('"');
}

/// The RIHS01 hash of a type description, written as `RIHS01_` and 64 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TypeHash(pub [u8; 32]);

const PREFIX: &str = "RIHS01_";

impl Display for TypeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for TypeHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TypeHash({self})")
    }
}

/// The error for a string that is not a type hash of version 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a type hash: expected `RIHS01_` and 64 hexadecimal digits")]
pub struct TypeHashError {
    /// The given string.
    pub text: String,
}

impl FromStr for TypeHash {
    type Err = TypeHashError;

    fn from_str(text: &str) -> Result<Self, TypeHashError> {
        let parse = || {
            let digits = text.strip_prefix(PREFIX)?.as_bytes();
            let mut hash = [0; 32];
            if digits.len() != 2 * hash.len() {
                return None;
            }
            for (byte, pair) in hash.iter_mut().zip(digits.chunks_exact(2)) {
                // Stock ROS 2 writes hashes only in lower case.
                let digit = |c: u8| match c {
                    b'0'..=b'9' => Some(c - b'0'),
                    b'a'..=b'f' => Some(c - b'a' + 10),
                    _ => None,
                };
                *byte = digit(pair[0])? << 4 | digit(pair[1])?;
            }
            Some(TypeHash(hash))
        };
        parse().ok_or_else(|| TypeHashError { text: text.to_owned() })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn hash_text_round_trip() {
        let text = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
        let hash: TypeHash = text.parse().unwrap();
        assert_eq!(hash.to_string(), text);
        assert_eq!(hash.0[..2], [0xdf, 0x66]);
        for wrong in [
            "",
            "RIHS01_",
            &text[..text.len() - 1],
            &text.replace("RIHS01", "RIHS02"),
            &text.to_uppercase(),
        ] {
            assert!(wrong.parse::<TypeHash>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn floats_are_written_as_python_does() {
        for (value, text) in [
            (1.0, "1.0"),
            (-0.0, "-0.0"),
            (1e16, "1e+16"),
            (1.5e-5, "1.5e-05"),
            (1e300, "1e+300"),
            (0.0001, "0.0001"),
            (f64::INFINITY, "inf"),
            (f64::NAN, "nan"),
        ] {
            assert_eq!(python_float(value), text);
        }
    }
}

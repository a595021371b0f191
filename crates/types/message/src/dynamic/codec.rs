//! Decodes dynamic messages from CDR, and encodes them.

use feros_cdr::{ByteOrder, DecodeError, EncodeError, Reader, Sizer, WString, Writer};
use feros_interface::{BaseType, Shape};

use super::path::Place;
use super::types::{DynamicField, DynamicType};
use super::value::{Array, DynamicMessage, Value, for_each_primitive};

/// A sample that is not a message of the type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{kind}", place.prefix())]
pub struct DynamicDecodeError {
    place: Place,
    kind: DecodeErrorKind,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum DecodeErrorKind {
    #[error(transparent)]
    Cdr(#[from] DecodeError),
    #[error(
        "length {len}, but the type allows at most {bound}: the sender's type differs; build both \
         sides from the same definition"
    )]
    Bound { len: usize, bound: usize },
}

/// A message that cannot be serialized.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{source}", place.prefix())]
pub struct DynamicEncodeError {
    place: Place,
    source: EncodeError,
}

impl DynamicDecodeError {
    fn in_field(mut self, name: &str) -> Self {
        self.place.prepend_field(name);
        self
    }

    fn at_index(mut self, index: usize) -> Self {
        self.place.prepend_index(index);
        self
    }

    /// The field in which reading failed, such as `points[2].name`. It is empty for the message
    /// itself.
    #[must_use]
    pub fn path(&self) -> String {
        self.place.to_string()
    }
}

impl From<DecodeError> for DynamicDecodeError {
    fn from(error: DecodeError) -> Self {
        Self { place: Place::default(), kind: error.into() }
    }
}

impl From<EncodeError> for DynamicEncodeError {
    fn from(source: EncodeError) -> Self {
        Self { place: Place::default(), source }
    }
}

impl DynamicType {
    /// Decodes a serialized sample with its 4-byte header, in either byte order. Bytes after the
    /// message are ignored, since transports may add padding.
    ///
    /// The bytes are untrusted. Memory is never requested for elements that the remaining bytes
    /// cannot contain, so a message takes at most about a hundred times the memory of the sample.
    /// This maximum occurs for sequences of one-byte messages.
    ///
    /// # Errors
    /// Fails if the bytes are not a message of this type. The error names the field.
    pub fn decode(&self, sample: &[u8]) -> Result<DynamicMessage, DynamicDecodeError> {
        decode_message(&mut Reader::new(sample)?, self)
    }
}

fn decode_message(
    reader: &mut Reader<'_>,
    ty: &DynamicType,
) -> Result<DynamicMessage, DynamicDecodeError> {
    if ty.fields().is_empty() {
        // The member that stock ROS 2 puts into a message without fields.
        reader.read::<u8>()?;
    }
    let mut values = Vec::with_capacity(ty.fields().len());
    for field in ty.fields() {
        values.push(decode_field(reader, field).map_err(|error| error.in_field(field.name()))?);
    }
    Ok(DynamicMessage::from_values(ty, values))
}

fn decode_field(
    reader: &mut Reader<'_>,
    field: &DynamicField,
) -> Result<Value, DynamicDecodeError> {
    let count = match field.shape() {
        Shape::Single => return decode_element(reader, field),
        Shape::Array(size) => {
            let (size, remaining) = (size as usize, reader.remaining_bytes());
            let needed = size.saturating_mul(field.least_element_bytes());
            if needed > remaining {
                let offset = reader.position();
                return Err(
                    DecodeError::Truncated { offset, what: "array", needed, remaining }.into()
                );
            }
            size
        }
        Shape::Sequence => reader.read_count(field.least_element_bytes())?,
        Shape::BoundedSequence(bound) => {
            let count = reader.read_count(field.least_element_bytes())?;
            check_bound(count, Some(bound))?;
            count
        }
    };
    decode_elements(reader, field, count).map(Value::Array)
}

fn check_bound(len: usize, bound: Option<u32>) -> Result<(), DynamicDecodeError> {
    match bound {
        Some(bound) if len > bound as usize => {
            let kind = DecodeErrorKind::Bound { len, bound: bound as usize };
            Err(DynamicDecodeError { place: Place::default(), kind })
        }
        _ => Ok(()),
    }
}

fn decode_string(
    reader: &mut Reader<'_>,
    bound: Option<u32>,
) -> Result<String, DynamicDecodeError> {
    let text = reader.read_str()?;
    check_bound(text.len(), bound)?;
    Ok(text.to_owned())
}

fn decode_wstring(
    reader: &mut Reader<'_>,
    bound: Option<u32>,
) -> Result<WString, DynamicDecodeError> {
    let text = reader.read_wstr()?.to_wstring();
    check_bound(text.len(), bound)?;
    Ok(text)
}

fn decode_nested(
    reader: &mut Reader<'_>,
    field: &DynamicField,
) -> Result<DynamicMessage, DynamicDecodeError> {
    let nested = field.nested().expect("resolving a type sets the type of every nested field");
    decode_message(reader, nested)
}

/// Reads elements one after the other. The index is added to the path of an error.
fn decode_each<T>(
    count: usize,
    mut element: impl FnMut() -> Result<T, DynamicDecodeError>,
) -> Result<Vec<T>, DynamicDecodeError> {
    // A count may be wrong even if the remaining bytes allow it. The array grows only as elements
    // are read, so a wrong count costs little memory.
    let mut items = Vec::new();
    for index in 0..count {
        items.push(element().map_err(|error| error.at_index(index))?);
    }
    Ok(items)
}

macro_rules! define_primitive_codec {
    ($($variant:ident($rust:ty) => $base:ident $(| $other:path)*;)+) => {
        fn decode_element(reader: &mut Reader<'_>, field: &DynamicField) -> Result<Value, DynamicDecodeError> {
            Ok(match field.base() {
                $(BaseType::$base $(| $other)* => Value::$variant(reader.read::<$rust>()?),)+
                BaseType::String { bound } => Value::String(decode_string(reader, *bound)?),
                BaseType::WString { bound } => Value::WString(decode_wstring(reader, *bound)?),
                BaseType::Nested(_) => Value::Message(decode_nested(reader, field)?),
            })
        }

        fn decode_elements(
            reader: &mut Reader<'_>,
            field: &DynamicField,
            count: usize,
        ) -> Result<Array, DynamicDecodeError> {
            Ok(match field.base() {
                $(BaseType::$base $(| $other)* => Array::$variant(reader.read_slice::<$rust>(count)?.to_vec()),)+
                BaseType::String { bound } => Array::String(decode_each(count, || decode_string(reader, *bound))?),
                BaseType::WString { bound } => Array::WString(decode_each(count, || decode_wstring(reader, *bound))?),
                BaseType::Nested(_) => Array::Message(decode_each(count, || decode_nested(reader, field))?),
            })
        }

        fn size_value(sizer: &mut Sizer, value: &Value) {
            match value {
                $(Value::$variant(_) => sizer.add::<$rust>(),)+
                Value::String(text) => sizer.add_string(text.len()),
                Value::WString(text) => sizer.add_wstring(text.len()),
                Value::Message(message) => size_message(sizer, message),
                Value::Array(array) => match array {
                    $(Array::$variant(items) => sizer.add_slice::<$rust>(items.len()),)+
                    Array::String(items) => items.iter().for_each(|text| sizer.add_string(text.len())),
                    Array::WString(items) => items.iter().for_each(|text| sizer.add_wstring(text.len())),
                    Array::Message(items) => items.iter().for_each(|message| size_message(sizer, message)),
                },
            }
        }

        fn encode_value(writer: &mut Writer<'_>, value: &Value) -> Result<(), DynamicEncodeError> {
            match value {
                $(Value::$variant(value) => writer.write(*value)?,)+
                Value::String(text) => writer.write_string(text)?,
                Value::WString(text) => writer.write_wstring(text.as_units())?,
                Value::Message(message) => encode_message(writer, message)?,
                Value::Array(array) => match array {
                    $(Array::$variant(items) => writer.write_slice(items)?,)+
                    Array::String(items) => {
                        encode_each(items, |text| Ok(writer.write_string(text)?))?;
                    }
                    Array::WString(items) => {
                        encode_each(items, |text| Ok(writer.write_wstring(text.as_units())?))?;
                    }
                    Array::Message(items) => {
                        encode_each(items, |message| encode_message(writer, message))?;
                    }
                },
            }
            Ok(())
        }
    };
}
for_each_primitive!(define_primitive_codec);

impl DynamicMessage {
    /// Serializes the message with the 4-byte header. The byte order is little-endian, as in ROS 2.
    ///
    /// # Errors
    /// Fails if a string contains a NUL character, or if a sequence has more elements than its
    /// 32-bit count can express. The error names the field. Bounds are not checked, because a
    /// message never contains a value beyond its bound.
    pub fn to_cdr(&self) -> Result<Vec<u8>, DynamicEncodeError> {
        self.to_cdr_in(ByteOrder::Little)
    }

    /// Serializes the message in the given byte order.
    ///
    /// # Errors
    /// Fails like [`DynamicMessage::to_cdr`].
    pub fn to_cdr_in(&self, order: ByteOrder) -> Result<Vec<u8>, DynamicEncodeError> {
        let mut sizer = Sizer::with_header();
        size_message(&mut sizer, self);
        let mut buffer = vec![0; sizer.total_bytes()];
        encode_message(&mut Writer::with_byte_order(&mut buffer, order)?, self)?;
        Ok(buffer)
    }
}

fn is_sequence(field: &DynamicField) -> bool {
    matches!(field.shape(), Shape::Sequence | Shape::BoundedSequence(_))
}

fn size_message(sizer: &mut Sizer, message: &DynamicMessage) {
    if message.values().is_empty() {
        sizer.add::<u8>();
    }
    for (field, value) in message.fields() {
        if is_sequence(field) {
            sizer.add_count();
        }
        size_value(sizer, value);
    }
}

fn encode_message(
    writer: &mut Writer<'_>,
    message: &DynamicMessage,
) -> Result<(), DynamicEncodeError> {
    if message.values().is_empty() {
        writer.write(0_u8)?;
    }
    for (field, value) in message.fields() {
        let mut encode = || {
            if let (true, Value::Array(array)) = (is_sequence(field), value) {
                writer.write_count(array.len())?;
            }
            encode_value(writer, value)
        };
        encode().map_err(|mut error: DynamicEncodeError| {
            error.place.prepend_field(field.name());
            error
        })?;
    }
    Ok(())
}

fn encode_each<T>(
    items: &[T],
    mut encode: impl FnMut(&T) -> Result<(), DynamicEncodeError>,
) -> Result<(), DynamicEncodeError> {
    for (index, item) in items.iter().enumerate() {
        encode(item).map_err(|mut error| {
            error.place.prepend_index(index);
            error
        })?;
    }
    Ok(())
}

//! The values of dynamic messages. Arrays of numbers are stored in packed form: the data of an
//! image is one block of bytes and not a tree of values.

use feros_cdr::WString;
use feros_interface::{BaseType, Literal, Shape};

use super::types::{DynamicField, DynamicType};

/// A message whose type is known only at run time.
#[derive(Clone, Debug, PartialEq)]
pub struct DynamicMessage {
    ty: DynamicType,
    /// One value for each field, with the field's type.
    values: Vec<Value>,
}

/// Calls a macro with all built-in element types except strings. For each type, the macro gets its
/// variant, its Rust type, and its names in definitions.
macro_rules! for_each_primitive {
    ($call:ident) => {
        $call! {
            Bool(bool) => Bool;
            U8(u8) => Uint8 | BaseType::Byte | BaseType::Char;
            I8(i8) => Int8;
            U16(u16) => Uint16;
            I16(i16) => Int16;
            U32(u32) => Uint32;
            I32(i32) => Int32;
            U64(u64) => Uint64;
            I64(i64) => Int64;
            F32(f32) => Float32;
            F64(f64) => Float64;
        }
    };
}
pub(super) use for_each_primitive;

macro_rules! define_values {
    ($($variant:ident($rust:ty) => $base:ident $(| $other:path)*;)+) => {
        /// The value of a field.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Value {
            $(
                #[doc = concat!("One `", stringify!($rust), "`.")]
                $variant($rust),
            )+
            /// A `string`.
            String(String),
            /// A `wstring`.
            WString(WString),
            /// A nested message.
            Message(DynamicMessage),
            /// An array or sequence.
            Array(Array),
        }

        /// The elements of an array or sequence. All of them have the same type.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Array {
            $(
                #[doc = concat!("Elements of type `", stringify!($rust), "`.")]
                $variant(Vec<$rust>),
            )+
            /// Elements of type `string`.
            String(Vec<String>),
            /// Elements of type `wstring`.
            WString(Vec<WString>),
            /// Nested messages.
            Message(Vec<DynamicMessage>),
        }

        /// A borrowed [`Value`] or element of an [`Array`].
        #[derive(Clone, Copy, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum ValueRef<'a> {
            $(
                #[doc = concat!("One `", stringify!($rust), "`.")]
                $variant($rust),
            )+
            /// A `string`.
            String(&'a str),
            /// A `wstring`.
            WString(&'a WString),
            /// A nested message.
            Message(&'a DynamicMessage),
            /// An array or sequence.
            Array(&'a Array),
        }

        impl Value {
            /// Borrows the value.
            #[must_use]
            pub fn as_ref(&self) -> ValueRef<'_> {
                match self {
                    $(Value::$variant(value) => ValueRef::$variant(*value),)+
                    Value::String(text) => ValueRef::String(text),
                    Value::WString(text) => ValueRef::WString(text),
                    Value::Message(message) => ValueRef::Message(message),
                    Value::Array(array) => ValueRef::Array(array),
                }
            }
        }

        impl Array {
            /// The number of elements.
            #[must_use]
            pub fn len(&self) -> usize {
                match self {
                    $(Array::$variant(items) => items.len(),)+
                    Array::String(items) => items.len(),
                    Array::WString(items) => items.len(),
                    Array::Message(items) => items.len(),
                }
            }

            /// Whether there are no elements.
            #[must_use]
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }

            /// One element.
            #[must_use]
            pub fn get(&self, index: usize) -> Option<ValueRef<'_>> {
                match self {
                    $(Array::$variant(items) => items.get(index).copied().map(ValueRef::$variant),)+
                    Array::String(items) => items.get(index).map(|text| ValueRef::String(text)),
                    Array::WString(items) => items.get(index).map(ValueRef::WString),
                    Array::Message(items) => items.get(index).map(ValueRef::Message),
                }
            }

            /// An empty array for the elements of a field.
            pub(super) fn empty_of(field: &DynamicField) -> Self {
                match field.base() {
                    $(BaseType::$base $(| $other)* => Array::$variant(Vec::new()),)+
                    BaseType::String { .. } => Array::String(Vec::new()),
                    BaseType::WString { .. } => Array::WString(Vec::new()),
                    BaseType::Nested(_) => Array::Message(Vec::new()),
                }
            }

            /// Adds an element. If it does not have the element type of the array, drops it and
            /// returns `false`.
            pub(super) fn push(&mut self, value: Value) -> bool {
                match (self, value) {
                    $((Array::$variant(items), Value::$variant(value)) => items.push(value),)+
                    (Array::String(items), Value::String(value)) => items.push(value),
                    (Array::WString(items), Value::WString(value)) => items.push(value),
                    (Array::Message(items), Value::Message(value)) => items.push(value),
                    _ => return false,
                }
                true
            }

            /// Appends copies of `fill` until the array has `len` elements.
            pub(super) fn filled(mut self, fill: Value, len: usize) -> Self {
                match (&mut self, fill) {
                    $((Array::$variant(items), Value::$variant(value)) => items.resize(len, value),)+
                    (Array::String(items), Value::String(value)) => items.resize(len, value),
                    (Array::WString(items), Value::WString(value)) => items.resize(len, value),
                    (Array::Message(items), Value::Message(value)) => items.resize(len, value),
                    _ => {}
                }
                self
            }
        }

        impl Value {
            /// Whether the value fits a field, which means that the element type is the same and
            /// the number of elements is allowed.
            fn fits(&self, field: &DynamicField) -> bool {
                let is_element = |nested: &DynamicMessage| field.nested() == Some(&nested.ty);
                match (field.shape(), self) {
                    $((Shape::Single, Value::$variant(_)) =>
                        matches!(field.base(), BaseType::$base $(| $other)*),)+
                    (Shape::Single, Value::String(text)) => match field.base() {
                        BaseType::String { bound } => within(*bound, text.len()),
                        _ => false,
                    },
                    (Shape::Single, Value::WString(text)) => match field.base() {
                        BaseType::WString { bound } => within(*bound, text.len()),
                        _ => false,
                    },
                    (Shape::Single, Value::Message(message)) => is_element(message),
                    (Shape::Single, Value::Array(_)) => false,
                    (shape, Value::Array(array)) => {
                        let right_count = match shape {
                            Shape::Array(size) => array.len() == size as usize,
                            Shape::BoundedSequence(bound) => array.len() <= bound as usize,
                            _ => true,
                        };
                        let right_elements = match (field.base(), array) {
                            $((BaseType::$base $(| $other)*, Array::$variant(_)) => true,)+
                            (BaseType::String { bound }, Array::String(items)) =>
                                items.iter().all(|text| within(*bound, text.len())),
                            (BaseType::WString { bound }, Array::WString(items)) =>
                                items.iter().all(|text| within(*bound, text.len())),
                            (BaseType::Nested(_), Array::Message(items)) => items.iter().all(is_element),
                            _ => false,
                        };
                        right_count && right_elements
                    }
                    _ => false,
                }
            }
        }
    };
}
for_each_primitive!(define_values);

fn within(bound: Option<u32>, len: usize) -> bool {
    bound.is_none_or(|bound| len <= bound as usize)
}

/// The reason why a field was not set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetError {
    /// The field does not exist.
    #[error("`{ty}` has no field `{field}`")]
    UnknownField {
        /// The message's type.
        ty: String,
        /// The field's name.
        field: String,
    },
    /// The value does not have the field's type, or has a number of elements that the field does
    /// not allow.
    #[error("the value for field `{field}` is not of type `{ty}`")]
    WrongType {
        /// The field's name.
        field: String,
        /// The field's type.
        ty: String,
    },
}

impl DynamicType {
    /// A message with all fields at their defaults.
    #[must_use]
    pub fn default_message(&self) -> DynamicMessage {
        DynamicMessage::default_of(self)
    }
}

impl DynamicMessage {
    /// The type.
    #[must_use]
    pub fn ty(&self) -> &DynamicType {
        &self.ty
    }

    /// The fields and their values in the order of the wire.
    pub fn fields(&self) -> impl Iterator<Item = (&DynamicField, &Value)> {
        self.ty.fields().iter().zip(&self.values)
    }

    /// The value of a field. For a field of a nested message, see [`DynamicMessage::select`].
    #[must_use]
    pub fn get(&self, field: &str) -> Option<&Value> {
        self.values.get(self.ty.field_index(field)?)
    }

    /// Sets a field.
    ///
    /// # Errors
    /// Fails if there is no such field, or if the value does not fit the field. After an error, the
    /// message is unchanged.
    pub fn set(&mut self, field: &str, value: Value) -> Result<(), SetError> {
        let unknown =
            || SetError::UnknownField { ty: self.ty.name().to_string(), field: field.to_owned() };
        let index = self.ty.field_index(field).ok_or_else(unknown)?;
        let definition = &self.ty.fields()[index];
        if !value.fits(definition) {
            let ty = definition.definition().ty.to_string();
            return Err(SetError::WrongType { field: field.to_owned(), ty });
        }
        self.values[index] = value;
        Ok(())
    }

    pub(super) fn default_of(ty: &DynamicType) -> Self {
        Self { ty: ty.clone(), values: ty.fields().iter().map(default_value).collect() }
    }

    /// Makes a message from values for the fields of `ty`, one for each field.
    pub(super) fn from_values(ty: &DynamicType, values: Vec<Value>) -> Self {
        debug_assert_eq!(ty.fields().len(), values.len());
        Self { ty: ty.clone(), values }
    }

    pub(super) fn values(&self) -> &[Value] {
        &self.values
    }

    pub(super) fn values_mut(&mut self) -> &mut [Value] {
        &mut self.values
    }
}

/// The declared default of a field. A field without a declared default is zero, false or empty.
pub(super) fn default_value(field: &DynamicField) -> Value {
    let declared = field.definition().default.as_ref();
    let element = |literal| element_value(field, literal);
    match (field.shape(), declared) {
        (Shape::Single, literal) => element(literal),
        (_, Some(Literal::Array(literals))) => {
            let mut array = Array::empty_of(field);
            for literal in literals {
                array.push(element(Some(literal)));
            }
            Value::Array(array)
        }
        (Shape::Array(size), _) => {
            Value::Array(Array::empty_of(field).filled(element(None), size as usize))
        }
        _ => Value::Array(Array::empty_of(field)),
    }
}

macro_rules! define_element_value {
    ($($variant:ident($rust:ty) => $base:ident $(| $other:path)*;)+) => {
        /// Converts a literal into one element. The parser has checked that the literal has the
        /// field's type.
        fn element_value(field: &DynamicField, literal: Option<&Literal>) -> Value {
            match field.base() {
                $(BaseType::$base $(| $other)* => {
                    Value::$variant(literal.and_then(<$rust as FromLiteral>::from_literal).unwrap_or_default())
                })+
                BaseType::String { .. } => Value::String(text_of(literal).to_owned()),
                BaseType::WString { .. } => Value::WString(WString::from(text_of(literal))),
                BaseType::Nested(_) => match field.nested() {
                    Some(nested) => Value::Message(nested.default_message()),
                    // This cannot happen, because resolving sets the type of every nested field.
                    None => Value::Bool(false),
                },
            }
        }
    };
}
for_each_primitive!(define_element_value);

fn text_of(literal: Option<&Literal>) -> &str {
    match literal {
        Some(Literal::String(text)) => text,
        _ => "",
    }
}

trait FromLiteral: Sized {
    fn from_literal(literal: &Literal) -> Option<Self>;
}

macro_rules! from_literal {
    ($($($rust:ty)+ => $variant:ident($value:ident) => $read:expr;)+) => {$($(
        impl FromLiteral for $rust {
            fn from_literal(literal: &Literal) -> Option<Self> {
                match *literal {
                    Literal::$variant($value) => $read,
                    _ => None,
                }
            }
        }
    )+)+};
}
from_literal! {
    bool => Bool(value) => Some(value);
    u8 i8 u16 i16 u32 i32 u64 i64 => Integer(value) => value.try_into().ok();
    f64 => Float(value) => Some(value);
    f32 => Float(value) => Some(value as f32);
}

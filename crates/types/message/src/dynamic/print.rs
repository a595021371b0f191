//! Decides which parts of a value are shown, before they are written as YAML or JSON.

use std::borrow::Cow;

use feros_interface::{BaseType, Shape};

use super::path::Selected;
use super::types::DynamicField;
use super::value::{Array, DynamicMessage, ValueRef, for_each_primitive};

/// Options for printing a message, as in `ros2 topic echo` (`rosidl_runtime_py/convert.py`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions {
    /// The number of elements of an array, and of characters of a string, that are shown. The rest
    /// is omitted (`--truncate-length`).
    pub truncate_length: Option<usize>,
    /// Whether to show only the type and the length of each array (`--no-arr`).
    pub no_arr: bool,
    /// Whether to show only the length of each string (`--no-str`).
    pub no_str: bool,
    /// Whether to print YAML on one line, with braces and brackets (`--flow-style`).
    pub flow_style: bool,
}

/// A value as it is shown.
pub(super) enum Shown<'a> {
    Bool(bool),
    Signed(i64),
    Unsigned(u64),
    Float(f64),
    /// The value of a `byte`, which stock tools show as a character.
    Byte(u8),
    Text(Cow<'a, str>),
    Message(&'a DynamicMessage),
    Elements(Elements<'a>),
}

/// An array and the number of its elements that are shown.
pub(super) struct Elements<'a> {
    array: &'a Array,
    field: &'a DynamicField,
    shown: usize,
}

impl<'a> Elements<'a> {
    /// The shown elements, followed by `...` if the array has more.
    pub(super) fn iter(&self, options: &'a PrintOptions) -> impl Iterator<Item = Shown<'a>> {
        let (array, field) = (self.array, self.field);
        let dots = (self.shown < array.len()).then(|| Shown::Text("...".into()));
        (0..self.shown)
            .filter_map(move |index| array.get(index))
            .map(move |value| show(Selected { value, field }, options))
            .chain(dots)
    }
}

macro_rules! define_show {
    ($($variant:ident($rust:ty) => $base:ident $(| $other:path)*;)+) => {
        /// Decides how much of a value is shown.
        pub(super) fn show<'a>(selected: Selected<'a>, options: &PrintOptions) -> Shown<'a> {
            match selected.value {
                ValueRef::U8(byte) if selected.is_byte() => Shown::Byte(byte),
                $(ValueRef::$variant(value) => value.into(),)+
                ValueRef::String(text) => show_text(text.into(), options),
                ValueRef::WString(text) => show_text(text.to_string().into(), options),
                ValueRef::Message(message) => Shown::Message(message),
                ValueRef::Array(array) if options.no_arr => Shown::Text(abbreviation(selected.field, array).into()),
                ValueRef::Array(array) => {
                    let shown = options.truncate_length.unwrap_or(usize::MAX).min(array.len());
                    Shown::Elements(Elements { array, field: selected.field, shown })
                }
            }
        }
    };
}
for_each_primitive!(define_show);

macro_rules! shown_from {
    ($($rust:ty => $variant:ident;)+) => {
        $(impl From<$rust> for Shown<'_> {
            fn from(value: $rust) -> Self {
                Shown::$variant(value.into())
            }
        })+
    };
}
shown_from! {
    bool => Bool;
    u8 => Unsigned;
    u16 => Unsigned;
    u32 => Unsigned;
    u64 => Unsigned;
    i8 => Signed;
    i16 => Signed;
    i32 => Signed;
    i64 => Signed;
    f32 => Float;
    f64 => Float;
}

fn show_text<'a>(text: Cow<'a, str>, options: &PrintOptions) -> Shown<'a> {
    if options.no_str {
        return Shown::Text(format!("<string length: <{}>>", text.chars().count()).into());
    }
    let cut = options.truncate_length.and_then(|length| text.char_indices().nth(length));
    Shown::Text(match cut {
        Some((end, _)) => format!("{}...", &text[..end]).into(),
        None => text,
    })
}

fn abbreviation(field: &DynamicField, array: &Array) -> String {
    let element: Cow<'_, str> = match field.base() {
        BaseType::Bool => "boolean".into(),
        BaseType::Byte => "octet".into(),
        BaseType::Char => "uint8".into(),
        BaseType::Float32 => "float".into(),
        BaseType::Float64 => "double".into(),
        BaseType::Nested(name) => name.to_string().into(),
        other => other.keyword().unwrap_or_default().into(),
    };
    match field.shape() {
        Shape::Array(size) => format!("<array type: {element}[{size}]>"),
        Shape::BoundedSequence(bound) => {
            format!("<sequence type: {element}[{bound}], length: {}>", array.len())
        }
        _ => format!("<sequence type: {element}, length: {}>", array.len()),
    }
}

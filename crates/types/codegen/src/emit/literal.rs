//! Formats constants and defaults as Rust expressions.

use feros_interface::{BaseType, Field, FieldType, Literal, Shape};

use crate::emit::source::Source;
use crate::emit::types::{Context, primitive};
use crate::names::identifier;

/// Returns the value of a constant. Strings become `&str`.
pub(crate) fn constant(ty: &BaseType, value: &Literal) -> String {
    match value {
        Literal::String(text) => format!("{text:?}"),
        value => number(ty, value),
    }
}

/// Returns the type of a constant.
pub(crate) fn constant_type(ty: &BaseType) -> &'static str {
    primitive(ty).map_or("&'static str", |(name, _)| name)
}

/// Returns the value of a field in `Default::default`.
pub(crate) fn default(context: &Context<'_>, field: &Field) -> String {
    match &field.default {
        Some(value) => declared(context, &field.ty, value),
        None => undeclared(&field.ty),
    }
}

/// Writes the implementation of `Default` for a struct with these fields and values.
pub(crate) fn default_impl<'a>(
    source: &mut Source,
    name: &str,
    fields: impl Iterator<Item = (&'a Field, String)>,
) {
    source.line(format!("impl ::core::default::Default for {name} {{"));
    source.line("fn default() -> Self {");
    source.line("Self {");
    for (field, value) in fields {
        source.line(format!("{}: {value},", identifier(&field.name)));
    }
    source.close(3);
}

/// Whether `#[derive(Default)]` gives this field its default. The standard library implements
/// `Default` for arrays of up to 32 elements.
pub(crate) fn is_derivable(field: &Field) -> bool {
    field.default.is_none() && !matches!(field.ty.shape, Shape::Array(len) if len > 32)
}

pub(crate) fn undeclared(ty: &FieldType) -> String {
    match ty.shape {
        Shape::Array(_) => {
            "::core::array::from_fn(|_| ::core::default::Default::default())".to_owned()
        }
        _ => "::core::default::Default::default()".to_owned(),
    }
}

fn declared(context: &Context<'_>, ty: &FieldType, value: &Literal) -> String {
    match value {
        Literal::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| single(context, &ty.base, item)).collect();
            match ty.shape {
                Shape::Array(_) => format!("[{}]", items.join(", ")),
                _ => format!("::std::vec![{}]", items.join(", ")),
            }
        }
        value => single(context, &ty.base, value),
    }
}

fn single(context: &Context<'_>, ty: &BaseType, value: &Literal) -> String {
    match (ty, value) {
        (BaseType::WString { .. }, Literal::String(text)) => {
            format!("{}::WString::from({text:?})", context.message())
        }
        (_, Literal::String(text)) => format!("::std::string::String::from({text:?})"),
        (ty, value) => number(ty, value),
    }
}

/// Returns a default as a list of Rust numbers: a single number, or the numbers of an array.
pub(crate) fn numbers(ty: &BaseType, value: &Literal) -> Vec<String> {
    match value {
        Literal::Array(items) => items.iter().map(|item| number(ty, item)).collect(),
        value => vec![number(ty, value)],
    }
}

fn number(ty: &BaseType, value: &Literal) -> String {
    match (ty, value) {
        (_, Literal::Bool(value)) => value.to_string(),
        (BaseType::Float32, Literal::Float(value)) => {
            float("f32", f64::from(*value as f32), format!("{:?}", *value as f32))
        }
        (_, Literal::Float(value)) => float("f64", *value, format!("{value:?}")),
        (BaseType::Float32 | BaseType::Float64, Literal::Integer(value)) => format!("{value}.0"),
        (_, Literal::Integer(value)) => value.to_string(),
        // For a number type, the parser does not allow strings or arrays.
        (_, Literal::String(_) | Literal::Array(_)) => String::new(),
    }
}

fn float(ty: &str, value: f64, text: String) -> String {
    if value.is_nan() {
        format!("{ty}::NAN")
    } else if value == f64::INFINITY {
        format!("{ty}::INFINITY")
    } else if value == f64::NEG_INFINITY {
        format!("{ty}::NEG_INFINITY")
    } else {
        text
    }
}

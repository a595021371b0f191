//! The generated source for fields that owned structs, views and builders have in common.

use feros_interface::{Field, MessageDefinition, Shape};

use crate::emit::source::Source;
use crate::emit::types::{Context, bounds};
use crate::names::identifier;

/// Writes the documentation of a field: its comment, its type as the definition spells it, and its
/// default.
pub(crate) fn field_doc(source: &mut Source, field: &Field) {
    source.doc(&field.comment);
    source.doc((!field.comment.is_empty()).then_some(""));
    let default =
        field.default.as_ref().map_or_else(String::new, |value| format!(", by default `{value}`"));
    source.doc([format!("`{}`{default}.", field.ty)]);
}

/// Writes the body of a reading function: a struct literal, whose fields Rust evaluates in the
/// order in which they are written. `read` returns the type of a field and the expression that
/// reads it.
pub(crate) fn read_fields(
    source: &mut Source,
    message: &MessageDefinition,
    read: impl Fn(&Field) -> (String, String),
) {
    if message.fields.is_empty() {
        source.line("r.read::<u8>()?;");
    }
    source.line("::core::result::Result::Ok(Self {");
    for field in &message.fields {
        let (ty, expression) = read(field);
        let name = identifier(&field.name);
        if bounds(&field.ty) == (None, None) {
            source.line(format!("{name}: {expression},"));
        } else {
            source.line(format!("{name}: {{"));
            source.line(format!("let value: {ty} = {expression};"));
            check_bounds(source, field, "r.", "value", ".len()");
            source.line("value");
            source.line("},");
        }
    }
    source.line("})");
}

/// Writes statements that refuse `value` of `field` if it is too long. `checker` is the text before
/// `check_bound` in the call: a reader or writer with a dot, or a path. `len` is appended to the
/// value to get its length.
pub(crate) fn check_bounds(
    source: &mut Source,
    field: &Field,
    checker: &str,
    value: &str,
    len: &str,
) {
    let (sequence, string) = bounds(&field.ty);
    if let Some(bound) = sequence {
        source.line(format!("{checker}check_bound({:?}, {value}{len}, {bound})?;", field.name));
    }
    let Some(bound) = string else { return };
    if field.ty.shape == Shape::Single {
        source.line(format!("{checker}check_bound({:?}, {value}.len(), {bound})?;", field.name));
    } else {
        source.line(format!("for item in {value}.iter() {{"));
        source.line(format!("{checker}check_bound({:?}, item.len(), {bound})?;", field.name));
        source.line("}");
    }
}

/// Writes an attribute that lets the compiler inline the code of small messages of fixed size into
/// other crates, since messages often contain many such messages in a row.
pub(crate) fn inline_hint(source: &mut Source, context: &Context<'_>, message: &MessageDefinition) {
    if context.is_plain(&message.name) {
        source.line("#[inline]");
    }
}

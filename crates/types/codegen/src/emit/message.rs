//! The owned struct of a message, its encoding and its traits.

use feros_interface::{BaseType, Field, MessageDefinition, ResolveError, Shape};

use crate::emit::fields::{check_bounds, field_doc, inline_hint, read_fields};
use crate::emit::source::Source;
use crate::emit::types::{Context, bounds};
use crate::emit::{build, identity, literal, view};
use crate::names::{identifier, type_identifier};

/// Writes all code of one message.
pub(crate) fn emit(
    source: &mut Source,
    context: &Context<'_>,
    message: &MessageDefinition,
) -> Result<(), ResolveError> {
    let message: &MessageDefinition = &message.with_words();
    let name = type_identifier(&message.name.name);
    owned(source, context, message, &name);
    constants(source, message, &name);
    default(source, context, message, &name);
    encode(source, context, message, &name);
    decode(source, context, message, &name);
    view::emit(source, context, message, &name);
    build::emit(source, context, message, &name);
    header(source, context, message, &name);
    message_impl(source, context, message, &name)
}

fn owned(source: &mut Source, context: &Context<'_>, message: &MessageDefinition, name: &str) {
    source.doc(&message.comment);
    source.doc((!message.comment.is_empty()).then_some(""));
    source.doc([format!("The message `{}`.", message.name)]);
    let default = if is_default_derivable(message) { "Default, " } else { "" };
    source.line(format!("#[derive({default}Clone, Debug, PartialEq)]"));
    source.line(format!("pub struct {name} {{"));
    for field in &message.fields {
        field_doc(source, field);
        source.line(format!("pub {}: {},", identifier(&field.name), context.owned_type(&field.ty)));
    }
    source.line("}");
}

fn constants(source: &mut Source, message: &MessageDefinition, name: &str) {
    if message.constants.is_empty() {
        return;
    }
    source.line(format!("impl {name} {{"));
    for constant in &message.constants {
        source.doc(&constant.comment);
        source.doc((!constant.comment.is_empty()).then_some(""));
        source.doc([format!("`{}`", constant.ty)]);
        source.line(format!(
            "pub const {}: {} = {};",
            constant.name,
            literal::constant_type(&constant.ty),
            literal::constant(&constant.ty, &constant.value)
        ));
    }
    source.line("}");
}

fn is_default_derivable(message: &MessageDefinition) -> bool {
    message.fields.iter().all(literal::is_derivable)
}

fn default(source: &mut Source, context: &Context<'_>, message: &MessageDefinition, name: &str) {
    if !is_default_derivable(message) {
        let fields = message.fields.iter();
        let fields = fields.map(|field| (field, literal::default(context, field)));
        literal::default_impl(source, name, fields);
    }
}

fn encode(source: &mut Source, context: &Context<'_>, message: &MessageDefinition, name: &str) {
    let m = context.message();
    let result = format!("::core::result::Result<(), {m}::EncodeError>");
    source.line(format!("impl {m}::Encode for {name} {{"));
    let layouts: Vec<_> = message
        .wire_fields()
        .iter()
        .map(|field| format!("<{} as {m}::Encode>::LAYOUT", context.owned_type(&field.ty)))
        .collect();
    source.line(format!(
        "const LAYOUT: ::core::option::Option<{m}::cdr::Layout> = {m}::cdr::Layout::of_struct(&[{}]);",
        layouts.join(", ")
    ));
    bounded(source, context, message, &result);
    inline_hint(source, context, message);
    source.line(format!("fn size(&self, s: &mut {m}::cdr::Sizer) {{"));
    for field in &message.fields {
        source.line(format!("{m}::Encode::size(&self.{}, s);", identifier(&field.name)));
    }
    if message.fields.is_empty() {
        source.line("s.add::<u8>();");
    }
    source.line("}");
    inline_hint(source, context, message);
    source.line(format!("fn encode(&self, w: &mut {m}::cdr::Writer<'_>) -> {result} {{"));
    for field in &message.fields {
        let value = format!("self.{}", identifier(&field.name));
        check_bounds(source, field, "w.", &value, ".len()");
        source.line(format!("{m}::Encode::encode(&{value}, w)?;"));
    }
    if message.fields.is_empty() {
        source.line("w.write(0u8)?;");
    }
    source.line("::core::result::Result::Ok(())");
    source.close(2);
}

/// Writes the check of bounds, if the message or a nested message has bounds.
fn bounded(source: &mut Source, context: &Context<'_>, message: &MessageDefinition, result: &str) {
    let m = context.message();
    let nested: Vec<_> = message
        .fields
        .iter()
        .filter(|field| matches!(field.ty.base, BaseType::Nested(_)))
        .collect();
    let has_own = message.fields.iter().any(|field| bounds(&field.ty) != (None, None));
    if !has_own && nested.is_empty() {
        return;
    }
    let of_nested = nested
        .iter()
        .map(|field| format!("<{} as {m}::Encode>::IS_BOUNDED", context.owned_type(&field.ty)));
    let any: Vec<_> = std::iter::once(has_own.to_string()).chain(of_nested).collect();
    source.line(format!("const IS_BOUNDED: bool = {};", any.join(" || ")));
    source.line(format!("fn check_bounds(&self) -> {result} {{"));
    for field in &message.fields {
        let value = format!("self.{}", identifier(&field.name));
        check_bounds(source, field, &format!("{m}::cdr::"), &value, ".len()");
        if matches!(field.ty.base, BaseType::Nested(_)) {
            source.line(format!("{m}::Encode::check_bounds(&{value})?;"));
        }
    }
    source.line("::core::result::Result::Ok(())");
    source.line("}");
}

fn decode(source: &mut Source, context: &Context<'_>, message: &MessageDefinition, name: &str) {
    let m = context.message();
    let result = format!("::core::result::Result<Self, {m}::DecodeError>");
    source.line(format!("impl {m}::Decode for {name} {{"));
    let sizes: Vec<_> = message
        .wire_fields()
        .iter()
        .map(|field| format!("<{} as {m}::Decode>::MIN_SIZE", context.owned_type(&field.ty)))
        .collect();
    source.line(format!("const MIN_SIZE: usize = {};", sizes.join(" + ")));
    inline_hint(source, context, message);
    source.line(format!("fn decode(r: &mut {m}::cdr::Reader<'_>) -> {result} {{"));
    read_fields(source, message, |field| {
        (context.owned_type(&field.ty), format!("{m}::Decode::decode(r)?"))
    });
    source.close(2);
}

/// Writes the access to the stamp and the frame of a message with a field `header`, like
/// `message_traits::HasHeader` in C++.
fn header(source: &mut Source, context: &Context<'_>, message: &MessageDefinition, name: &str) {
    let is_header = |field: &Field| {
        let is_type = matches!(&field.ty.base, BaseType::Nested(name)
            if name.package == "std_msgs" && name.name == "Header");
        field.name == "header" && is_type && field.ty.shape == Shape::Single
    };
    if !message.fields.iter().any(is_header) {
        return;
    }
    let m = context.message();
    source.line(format!("impl {m}::HasHeader for {name} {{"));
    source.line("fn stamp_nanos(&self) -> i64 {");
    source.line(format!("{m}::stamp_nanos(self.header.stamp.sec, self.header.stamp.nanosec)"));
    source.line("}");
    source.line("fn frame_id(&self) -> &str {");
    source.line("&self.header.frame_id");
    source.close(2);
}

fn message_impl(
    source: &mut Source,
    context: &Context<'_>,
    message: &MessageDefinition,
    name: &str,
) -> Result<(), ResolveError> {
    let m = context.message();
    source.line(format!("impl {m}::Message for {name} {{"));
    identity::emit(source, context, &message.name)?;
    let view = if context.is_plain(&message.name) {
        "Self".to_owned()
    } else {
        format!("{}<'a>", context.view_name(&message.name))
    };
    source.line(format!("type View<'a> = {view};"));
    source.line("}");
    Ok(())
}

//! The view of a message: a struct with the same fields, which borrows from received bytes.

use feros_interface::MessageDefinition;

use crate::emit::fields::{inline_hint, read_fields};
use crate::emit::source::Source;
use crate::emit::types::Context;
use crate::names::identifier;

/// Writes the view of the message whose owned struct is `owned`. A message for which borrowing is
/// not useful is its own view. The view of any other message has a field that uses the lifetime.
pub(crate) fn emit(
    source: &mut Source,
    context: &Context<'_>,
    message: &MessageDefinition,
    owned: &str,
) {
    let m = context.message();
    let is_plain = context.is_plain(&message.name);
    let name = if is_plain {
        owned.to_owned()
    } else {
        let view = context.view_name(&message.name);
        declare(source, context, message, &view);
        format!("{view}<'a>")
    };
    source.line(format!("impl<'a> {m}::View<'a> for {name} {{"));
    source.line(format!(
        "const LAYOUT: ::core::option::Option<{m}::cdr::Layout> = <{owned} as {m}::Encode>::LAYOUT;"
    ));
    source.line(format!("const MIN_SIZE: usize = <{owned} as {m}::Decode>::MIN_SIZE;"));
    inline_hint(source, context, message);
    source.line(format!(
        "fn read(r: &mut {m}::cdr::Reader<'a>) -> ::core::result::Result<Self, {m}::DecodeError> {{"
    ));
    if is_plain {
        source.line(format!("{m}::Decode::decode(r)"));
    } else {
        read_fields(source, message, |field| {
            let view = context.view_field(field);
            (view.ty, view.read)
        });
    }
    source.close(2);
}

fn declare(source: &mut Source, context: &Context<'_>, message: &MessageDefinition, name: &str) {
    source.doc([format!("The message `{}` read in place.", message.name)]);
    source.line("#[derive(Clone, Debug, PartialEq)]");
    source.line(format!("pub struct {name}<'a> {{"));
    for field in &message.fields {
        source.doc([format!("`{}`.", field.ty)]);
        source.line(format!("pub {}: {},", identifier(&field.name), context.view_field(field).ty));
    }
    source.line("}");
}

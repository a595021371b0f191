//! The identity of a type at run time: its name, hash and description.

use feros_interface::{ResolveError, TypeName};

use crate::emit::source::Source;
use crate::emit::types::Context;

/// Writes the three constants that messages, services and actions have in common.
pub(crate) fn emit(
    source: &mut Source,
    context: &Context<'_>,
    name: &TypeName,
) -> Result<(), ResolveError> {
    let m = context.message();
    let description = context.set.type_description(name)?;
    source.line(format!("const TYPE_NAME: &'static str = \"{name}\";"));
    let bytes: Vec<_> =
        description.type_hash().0.iter().map(|byte| format!("{byte:#04x}")).collect();
    source.line(format!("const TYPE_HASH: {m}::TypeHash = {m}::TypeHash([{}]);", bytes.join(", ")));
    source.line(format!(
        "const TYPE_DESCRIPTION: &'static {m}::TypeDescription = &{m}::TypeDescription {{"
    ));
    source.line(format!("type_name: \"{name}\","));
    source.line("fields: &[");
    let mut references = Vec::new();
    for field in &description.type_description.fields {
        let ty = &field.ty;
        source.line(format!(
            "{m}::FieldDescription {{ name: {:?}, type_id: {}, capacity: {}, string_capacity: {}, \
             nested_type_name: {:?}, default_value: {:?} }},",
            field.name,
            ty.type_id,
            ty.capacity,
            ty.string_capacity,
            ty.nested_type_name,
            field.default_value
        ));
        if !ty.nested_type_name.is_empty() && !references.contains(&ty.nested_type_name) {
            references.push(ty.nested_type_name.clone());
        }
    }
    source.line("],");
    source.line("references: &[");
    for reference in &references {
        if let Ok(reference) = reference.parse::<TypeName>() {
            let kind =
                if context.set.message(&reference).is_some() { "Message" } else { "Service" };
            let path = context.paths.of_type(&reference);
            source.line(format!("<{path} as {m}::{kind}>::TYPE_DESCRIPTION,"));
        }
    }
    source.line("],");
    source.line("};");
    Ok(())
}

//! For build scripts: writes code that builds an equal message for a given message of any type.
//! This is deliberately separate from the code generator, because it tests generated code.

use feros_interface::{BaseType, Field, FieldType, InterfaceSet, Shape, TypeName};

/// Returns implementations of the trait `Rebuild` for these messages. The test defines the trait.
/// `path` returns the Rust path of a package.
pub(crate) fn implementations<'a>(
    set: &InterfaceSet,
    names: impl IntoIterator<Item = &'a TypeName>,
    path: impl Fn(&str) -> String,
) -> String {
    names.into_iter().map(|name| implementation(set, name, &path)).collect()
}

/// Returns the path of a message's owned struct.
#[allow(dead_code)] // some build scripts do not need this
pub(crate) fn path(name: &TypeName, path: impl Fn(&str) -> String) -> String {
    let owned = if name.name == "Self" { "Self_" } else { &name.name };
    format!("{}::{}::{owned}", path(&name.package), name.namespace)
}

fn implementation(set: &InterfaceSet, name: &TypeName, package: impl Fn(&str) -> String) -> String {
    let message = set.message(name).expect("the set holds all messages that it names");
    let owned = path(name, &package);
    let derived = |suffix: &str| {
        let derived = name.with_suffix(suffix);
        format!("{}{}", path(&derived, &package), if set.contains(&derived) { "_" } else { "" })
    };
    let fields: Vec<_> = message.fields.iter().filter(|field| !is_fixed(set, &field.ty)).collect();
    let (shape_type, shape, fill) = if fields.is_empty() {
        (String::new(), String::new(), "fields.set(self);".to_owned())
    } else {
        let parts: String = fields.iter().map(|field| shape_of(set, field)).collect();
        let fills: String = message.fields.iter().map(fill).collect();
        (
            format!("-> <{owned} as Build>::Shape<'static>"),
            format!("{} {{ {parts} }}", derived("Shape")),
            fills,
        )
    };
    format!(
        "impl Rebuild for {owned} {{
            fn shape(&'static self) {shape_type} {{ {shape} }}
            #[allow(unused_mut)]
            fn fill(&self, mut fields: {}<'_>) {{ {fill} }}
        }}\n",
        derived("Mut")
    )
}

fn is_fixed(set: &InterfaceSet, ty: &FieldType) -> bool {
    matches!(ty.shape, Shape::Single | Shape::Array(_)) && is_fixed_base(set, &ty.base)
}

fn is_fixed_base(set: &InterfaceSet, base: &BaseType) -> bool {
    match base {
        BaseType::String { .. } | BaseType::WString { .. } => false,
        BaseType::Nested(name) => set
            .message(name)
            .expect("references are whole")
            .fields
            .iter()
            .all(|field| is_fixed(set, &field.ty)),
        _ => true,
    }
}

fn shape_of(set: &InterfaceSet, field: &Field) -> String {
    let name = rust_name(&field.name);
    if is_fixed_base(set, &field.ty.base) {
        return format!("{name}: self.{name}.len(), ");
    }
    let one = match &field.ty.base {
        BaseType::String { .. } => "as_str()",
        BaseType::WString { .. } => "as_units()",
        _ => "shape()",
    };
    match field.ty.shape {
        Shape::Single => format!("{name}: self.{name}.{one}, "),
        Shape::Array(_) => format!("{name}: self.{name}.each_ref().map(|item| item.{one}), "),
        _ => format!(
            "{name}: self.{name}.iter().map(|item| item.{one}).collect::<Vec<_>>().leak(), "
        ),
    }
}

fn fill(field: &Field) -> String {
    let name = rust_name(&field.name);
    let (mine, theirs) = (format!("self.{name}"), format!("fields.{name}"));
    match (&field.ty.base, field.ty.shape) {
        (BaseType::String { .. }, Shape::Single) => format!("assert_eq!({theirs}, {mine}); "),
        (BaseType::WString { .. }, Shape::Single) => {
            format!("assert_eq!({theirs}.to_wstring(), {mine}); ")
        }
        (BaseType::String { .. }, _) => format!("assert!({theirs}.iter().eq({mine}.iter())); "),
        (BaseType::WString { .. }, _) => {
            format!(
                "assert!({theirs}.iter().map(|text| text.to_wstring()).eq({mine}.iter().cloned())); "
            )
        }
        (BaseType::Nested(_), Shape::Single) => format!("{mine}.fill({theirs}); "),
        (BaseType::Nested(_), _) => format!("fill_all(&{mine}, {theirs}); "),
        (_, Shape::Single) => format!("*{theirs} = {mine}; "),
        (_, _) => format!("{theirs}.copy_from_slice(&{mine}); "),
    }
}

/// Returns the Rust name of a field. A few fields in the tested packages have a different spelling
/// in Rust.
fn rust_name(name: &str) -> String {
    match name {
        "self" | "super" | "crate" => format!("{name}_"),
        "type" | "match" | "async" | "gen" | "final" | "override" | "abstract" | "virtual"
        | "priv" | "loop" | "ref" | "box" | "mod" | "move" | "use" | "in" | "where" => {
            format!("r#{name}")
        }
        name => name.to_owned(),
    }
}

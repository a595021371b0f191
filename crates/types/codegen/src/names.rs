//! Turns ROS names into Rust names.

use std::collections::{BTreeMap, BTreeSet};

use feros_interface::{Namespace, TypeName};

/// The paths under which generated code finds other code.
#[derive(Debug, Clone)]
pub(crate) struct Paths {
    /// The crate or module that holds the traits, for example `::feros::message`.
    pub(crate) message: String,
    /// The crate or module that holds the standard packages, for example `::feros::msgs`.
    pub(crate) msgs: String,
    /// The packages of other crates, each with the module that contains it.
    pub(crate) dependencies: BTreeMap<String, String>,
    /// The packages that are generated together.
    pub(crate) generated: BTreeSet<String>,
}

impl Paths {
    /// Returns the path of a type's module, as seen from inside a module `package::namespace` of
    /// the generated source.
    fn module(&self, name: &TypeName) -> String {
        let root = if self.generated.contains(&name.package) {
            "super::super"
        } else {
            self.dependencies.get(&name.package).unwrap_or(&self.msgs)
        };
        format!("{root}::{}::{}", identifier(&name.package), name.namespace)
    }

    /// Returns the path of a type.
    pub(crate) fn of_type(&self, name: &TypeName) -> String {
        format!("{}::{}", self.module(name), type_identifier(&name.name))
    }

    /// Returns the path of a type that is derived from a message and has another name: its view,
    /// shape or fields.
    pub(crate) fn of_derived(&self, name: &TypeName, derived: &str) -> String {
        format!("{}::{derived}", self.module(name))
    }
}

/// Returns the Rust spelling of a package or field: the name itself if that is allowed, otherwise a
/// raw identifier. The words that cannot be raw get an underscore.
pub(crate) fn identifier(name: &str) -> String {
    const NEVER_RAW: [&str; 3] = ["crate", "self", "super"];
    // The strict and reserved keywords of all editions up to 2024. Weak keywords may be used as
    // names.
    const KEYWORDS: [&str; 48] = [
        "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do",
        "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in",
        "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
        "return", "static", "struct", "trait", "true", "try", "type", "typeof", "unsafe",
        "unsized", "use", "virtual", "where", "while", "yield",
    ];
    if NEVER_RAW.contains(&name) {
        format!("{name}_")
    } else if KEYWORDS.contains(&name) {
        format!("r#{name}")
    } else {
        name.to_owned()
    }
}

/// Returns the Rust spelling of a type. `Self` is the only capitalised keyword.
pub(crate) fn type_identifier(name: &str) -> String {
    if name == "Self" { "Self_".to_owned() } else { name.to_owned() }
}

/// Returns the name of a type that is derived from a message, such as `<Name>View`, with an
/// underscore if a definition uses that name.
pub(crate) fn derived_identifier(
    name: &TypeName,
    suffix: &str,
    taken: impl Fn(&TypeName) -> bool,
) -> String {
    let derived = name.with_suffix(suffix);
    if taken(&derived) { format!("{}_", derived.name) } else { derived.name }
}

/// Returns the name of a package's module in documentation.
pub(crate) fn namespace_title(namespace: Namespace) -> &'static str {
    match namespace {
        Namespace::Msg => "Messages",
        Namespace::Srv => "Services",
        Namespace::Action => "Actions",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_become_raw_or_get_an_underscore() {
        assert_eq!(identifier("type"), "r#type");
        assert_eq!(identifier("self"), "self_");
        assert_eq!(identifier("data"), "data");
        assert_eq!(identifier("union"), "union");
        assert_eq!(type_identifier("Self"), "Self_");
        assert_eq!(type_identifier("String"), "String");
    }

    #[test]
    fn a_view_gives_way_to_a_definition_of_the_same_name() {
        let image = TypeName::message("p", "Image");
        assert_eq!(derived_identifier(&image, "View", |_| false), "ImageView");
        assert_eq!(
            derived_identifier(&image, "View", |name| name.name == "ImageView"),
            "ImageView_"
        );
    }
}

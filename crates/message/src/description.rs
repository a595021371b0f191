//! The description of a type that a program carries at run time, for `~/get_type_description` and for type hashes.

use std::collections::BTreeMap;
use std::fmt::Write;

/// One struct of an interface: its fields, and the structs that they refer to.
///
/// Generated for every interface as a constant. The shape is that of `type_description_interfaces/IndividualTypeDescription`.
#[derive(Debug, PartialEq, Eq)]
pub struct TypeDescription {
    /// The full name, for example `std_msgs/msg/String`.
    pub type_name: &'static str,
    /// The fields in the order of the wire.
    pub fields: &'static [FieldDescription],
    /// The descriptions of the types that the fields name, each once.
    pub references: &'static [&'static TypeDescription],
}

/// One field of a [`TypeDescription`].
#[derive(Debug, PartialEq, Eq)]
pub struct FieldDescription {
    /// The name.
    pub name: &'static str,
    /// A constant of `type_description_interfaces/FieldType`.
    pub type_id: u8,
    /// Length of an array or bound of a sequence, else 0.
    pub capacity: u64,
    /// Bound of a string, else 0.
    pub string_capacity: u64,
    /// Name of the nested type, else empty.
    pub nested_type_name: &'static str,
    /// The default as the definition declares it, else empty.
    pub default_value: &'static str,
}

impl TypeDescription {
    /// All types that this one refers to, directly or through others, in the order of their names.
    #[must_use]
    pub fn referenced_types(&'static self) -> Vec<&'static TypeDescription> {
        let mut found = BTreeMap::new();
        let mut open: Vec<_> = self.references.to_vec();
        while let Some(next) = open.pop() {
            if found.insert(next.type_name, next).is_none() {
                open.extend(next.references);
            }
        }
        found.into_values().collect()
    }

    /// The text whose SHA-256 is the type hash (REP 2011): JSON of this type and the referenced ones, without
    /// defaults.
    #[must_use]
    pub fn to_hash_text(&'static self) -> String {
        let mut text = String::from("{\"type_description\": ");
        self.write_individual(&mut text);
        text.push_str(", \"referenced_type_descriptions\": [");
        for (index, referenced) in self.referenced_types().into_iter().enumerate() {
            text.push_str(if index == 0 { "" } else { ", " });
            referenced.write_individual(&mut text);
        }
        text.push_str("]}");
        text
    }

    /// Names are plain ASCII identifiers, so nothing needs escaping.
    fn write_individual(&self, text: &mut String) {
        let _ = write!(text, "{{\"type_name\": \"{}\", \"fields\": [", self.type_name);
        for (index, field) in self.fields.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            let FieldDescription { name, type_id, capacity, string_capacity, nested_type_name, .. } = field;
            let _ = write!(
                text,
                "{separator}{{\"name\": \"{name}\", \"type\": {{\"type_id\": {type_id}, \"capacity\": {capacity}, \
                 \"string_capacity\": {string_capacity}, \"nested_type_name\": \"{nested_type_name}\"}}}}"
            );
        }
        text.push_str("]}");
    }
}

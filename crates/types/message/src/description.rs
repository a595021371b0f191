//! The description of a type that a program contains at run time, for `~/get_type_description`.

use std::collections::BTreeMap;

/// One struct of an interface: its fields, and the structs that the fields refer to.
///
/// The description of every interface is generated as a constant in static memory, so nothing is
/// built when the program starts.
#[derive(Debug, PartialEq, Eq)]
pub struct TypeDescription {
    /// The full name, for example `std_msgs/msg/String`.
    pub type_name: &'static str,
    /// The fields in the order of the wire.
    pub fields: &'static [FieldDescription],
    /// The descriptions of the types to which the fields refer, without duplicates.
    pub references: &'static [&'static TypeDescription],
}

/// One field of a [`TypeDescription`].
#[derive(Debug, PartialEq, Eq)]
pub struct FieldDescription {
    /// The name.
    pub name: &'static str,
    /// The number of the type, which is a constant of `type_description_interfaces/FieldType`.
    pub type_id: u8,
    /// The length of an array or the bound of a sequence, and otherwise 0.
    pub capacity: u64,
    /// The bound of a string, and otherwise 0.
    pub string_capacity: u64,
    /// The name of the nested type, and otherwise an empty string.
    pub nested_type_name: &'static str,
    /// The default as it is written in the definition. It is empty if the field has no default.
    pub default_value: &'static str,
}

impl TypeDescription {
    /// All types to which this type refers, directly or through other types, ordered by name.
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

    /// The same description in the form that is used for types known only at run time.
    #[must_use]
    pub fn to_interface(&'static self) -> feros_interface::TypeDescription {
        feros_interface::TypeDescription {
            type_description: self.to_individual(),
            referenced_type_descriptions: self
                .referenced_types()
                .into_iter()
                .map(TypeDescription::to_individual)
                .collect(),
        }
    }

    fn to_individual(&self) -> feros_interface::IndividualTypeDescription {
        let field = |field: &FieldDescription| feros_interface::FieldDescription {
            name: field.name.to_owned(),
            ty: feros_interface::FieldTypeDescription {
                type_id: field.type_id,
                capacity: field.capacity,
                string_capacity: field.string_capacity,
                nested_type_name: field.nested_type_name.to_owned(),
            },
            default_value: field.default_value.to_owned(),
        };
        feros_interface::IndividualTypeDescription {
            type_name: self.type_name.to_owned(),
            fields: self.fields.iter().map(field).collect(),
        }
    }
}

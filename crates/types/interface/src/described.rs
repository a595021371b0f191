//! Makes definitions from a type description that another node sent, for types whose definition
//! files are not available.
//!
//! A description is untrusted. Before callers use its definitions, they must compare
//! [`TypeDescription::type_hash`] with the announced hash of the type. Defaults are not part of the
//! hash, so they are left out: the default of every field is zero, empty or false.

use std::collections::HashSet;

use crate::description::{
    FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription,
};
use crate::name::{TypeName, TypeNameError, is_field_name};
use crate::set::{InsertError, InterfaceSet};
use crate::tree::{
    BaseType, EMPTY_MESSAGE_FIELD, Field, FieldType, Interface, MessageDefinition, Shape,
};

/// The difference between the type numbers of a single element, an array, a bounded sequence and an
/// unbounded sequence of the same type.
const SHAPE_STEP: u8 = 48;

/// The reason why a description cannot be used to read messages.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DescriptionError {
    /// A type's name is not allowed.
    #[error(transparent)]
    Name(#[from] TypeNameError),
    /// A type is described twice.
    #[error(transparent)]
    Twice(#[from] InsertError),
    /// A field's name is not allowed, or two fields have the same name.
    #[error("the description of `{type_name}` has a field `{field}`, which is {problem}")]
    Field {
        /// The type.
        type_name: String,
        /// The field's name.
        field: String,
        /// The problem with the name.
        problem: &'static str,
    },
    /// A field has a type that ROS 2 messages cannot have.
    #[error(
        "the description of `{type_name}` has a field `{field}` of type {type_id} (capacity {capacity}, strings of at \
         most {string_capacity}), which no message definition can have"
    )]
    FieldType {
        /// The type.
        type_name: String,
        /// The field's name.
        field: String,
        /// The number of the field's type.
        type_id: u8,
        /// The size of the array, or the bound of the sequence.
        capacity: u64,
        /// The bound of the string.
        string_capacity: u64,
    },
}

impl TypeDescription {
    /// Returns the described messages in a new set. References are not resolved.
    ///
    /// # Errors
    /// Fails if a name or the type of a field is not allowed in a message definition.
    pub fn to_messages(&self) -> Result<InterfaceSet, DescriptionError> {
        let mut set = InterfaceSet::new();
        let referenced = &self.referenced_type_descriptions;
        for individual in std::iter::once(&self.type_description).chain(referenced) {
            set.insert(Interface::Message(individual.to_message()?))?;
        }
        Ok(set)
    }
}

impl IndividualTypeDescription {
    fn to_message(&self) -> Result<MessageDefinition, DescriptionError> {
        let name: TypeName = self.type_name.parse()?;
        let is_empty = matches!(&self.fields[..], [only] if only.name == EMPTY_MESSAGE_FIELD);
        if is_empty {
            return Ok(MessageDefinition::new(name, Vec::new()));
        }
        let mut names = HashSet::with_capacity(self.fields.len());
        let mut fields = Vec::with_capacity(self.fields.len());
        for field in &self.fields {
            let wrong = |problem| DescriptionError::Field {
                type_name: self.type_name.clone(),
                field: field.name.clone(),
                problem,
            };
            if !is_field_name(&field.name) {
                return Err(wrong("not a valid field name"));
            }
            if !names.insert(&field.name) {
                return Err(wrong("declared twice"));
            }
            fields.push(field.to_field(&self.type_name)?);
        }
        Ok(MessageDefinition::new(name, fields))
    }
}

impl FieldDescription {
    fn to_field(&self, type_name: &str) -> Result<Field, DescriptionError> {
        let FieldTypeDescription { type_id, capacity, string_capacity, nested_type_name } =
            &self.ty;
        let wrong = || DescriptionError::FieldType {
            type_name: type_name.to_owned(),
            field: self.name.clone(),
            type_id: *type_id,
            capacity: *capacity,
            string_capacity: *string_capacity,
        };
        let count = |number: u64| u32::try_from(number).ok().filter(|count| *count > 0);
        let shape = match (type_id / SHAPE_STEP, capacity) {
            (0, 0) => Shape::Single,
            (1, size) => Shape::Array(count(*size).ok_or_else(wrong)?),
            (2, bound) => Shape::BoundedSequence(count(*bound).ok_or_else(wrong)?),
            (3, 0) => Shape::Sequence,
            _ => return Err(wrong()),
        };
        let base = match (type_id % SHAPE_STEP, string_capacity) {
            (1, 0) => BaseType::Nested(nested_type_name.parse()?),
            (2, 0) => BaseType::Int8,
            (3, 0) => BaseType::Uint8,
            (4, 0) => BaseType::Int16,
            (5, 0) => BaseType::Uint16,
            (6, 0) => BaseType::Int32,
            (7, 0) => BaseType::Uint32,
            (8, 0) => BaseType::Int64,
            (9, 0) => BaseType::Uint64,
            (10, 0) => BaseType::Float32,
            (11, 0) => BaseType::Float64,
            (15, 0) => BaseType::Bool,
            (16, 0) => BaseType::Byte,
            (17, 0) => BaseType::String { bound: None },
            (18, 0) => BaseType::WString { bound: None },
            (21, bound) => BaseType::String { bound: Some(count(*bound).ok_or_else(wrong)?) },
            (22, bound) => BaseType::WString { bound: Some(count(*bound).ok_or_else(wrong)?) },
            _ => return Err(wrong()),
        };
        Ok(Field::new(self.name.clone(), FieldType { base, shape }))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Definitions made from a description have the same hash as the description.
    #[test]
    fn every_shipped_message_survives_its_description() {
        let shipped = crate::shipped();
        let mut count = 0;
        for message in shipped.messages() {
            let description = shipped.type_description(&message.name).unwrap();
            let set = description.to_messages().unwrap();
            assert_eq!(set.type_hash(&message.name).unwrap(), description.type_hash());
            count += 1;
        }
        assert!(count > 200, "{count} messages");
    }

    fn described(change: impl FnOnce(&mut TypeDescription)) -> Result<InterfaceSet, String> {
        let name = "test_msgs/msg/BoundedSequences".parse().unwrap();
        let mut description = crate::shipped().type_description(&name).unwrap();
        change(&mut description);
        description.to_messages().map_err(|error| error.to_string())
    }

    #[test]
    fn descriptions_without_a_possible_definition_are_refused() {
        assert!(described(|_| ()).is_ok());
        let field = |change: fn(&mut FieldDescription)| {
            described(|description| change(&mut description.type_description.fields[0]))
                .unwrap_err()
        };
        type Change = fn(&mut FieldDescription);
        let changes: [(Change, &str); 10] = [
            (|f| f.name = "1".into(), "not a valid field name"),
            (|f| f.name = "byte_values".into(), "declared twice"),
            (|f| f.ty.type_id = 0, "of type 0"),
            (|f| f.ty.type_id = 12, "of type 12"),
            (|f| f.ty.type_id = 255, "of type 255"),
            (|f| (f.ty.type_id, f.ty.capacity) = (50, 0), "capacity 0"),
            (|f| (f.ty.type_id, f.ty.capacity) = (50, 1 << 40), "capacity 1099511627776"),
            (|f| (f.ty.type_id, f.ty.capacity) = (2, 3), "capacity 3"),
            (|f| f.ty.string_capacity = 7, "strings of at most 7"),
            (|f| (f.ty.type_id, f.ty.capacity) = (1, 0), "not an interface type"),
        ];
        for (change, expected) in changes {
            let text = field(change);
            assert!(text.contains(expected), "{text}");
        }
        let twice = described(|description| {
            let again = description.type_description.clone();
            description.referenced_type_descriptions.push(again);
        });
        assert!(twice.unwrap_err().contains("already defined"));
        let unnamed = described(|description| description.type_description.type_name.clear());
        assert!(unnamed.unwrap_err().contains("not an interface type"));
    }
}

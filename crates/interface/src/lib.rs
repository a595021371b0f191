//! Parses .msg, .srv and .action definitions into one tree; type descriptions and RIHS01 hashes.
#![forbid(unsafe_code)]

mod name;
mod tree;

pub use name::{
    Namespace, TypeName, TypeNameError, is_constant_name, is_field_name, is_package_name, is_type_name,
};
pub use tree::{
    ActionDefinition, BaseType, Constant, EMPTY_MESSAGE_FIELD, Field, FieldType, Interface, Literal,
    MessageDefinition, ServiceDefinition, Shape,
};

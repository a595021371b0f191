//! Parses `.msg`, `.srv` and `.action` definitions into one tree, by the rules of rosidl, and makes
//! type descriptions and RIHS01 hashes. An [`InterfaceSet`] contains the types that Feros ships,
//! types from folders, or types from the folders that the environment names. The command, bags, the
//! view, engines and Python all find types by means of this crate.
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | `parse`, `tree` | the parser, and the tree that it makes |
//! | `name`, `set` | names of types, and sets of types that refer to each other |
//! | `description`, `described` | type descriptions and hashes, and definitions that are made from the descriptions of other nodes |
//! | `load`, `search`, `shipped` | definitions from folders, from the environment, and from the library itself |
//! | `display`, `words` | prints definitions, and Feros's own words about them |
//!
//! # Invariants
//!
//! Only `load` and `search` do input or output. An invalid or hostile definition causes an error
//! that names its position.
#![forbid(unsafe_code)]

mod described;
mod description;
mod display;
mod load;
mod name;
mod parse;
mod search;
mod set;
mod shipped;
mod tree;
mod words;

pub use described::DescriptionError;
pub use description::{
    FieldDescription, FieldTypeDescription, IndividualTypeDescription, TypeDescription, TypeHash,
    TypeHashError, python_float,
};
pub use load::{LoadError, LoadReport};
pub use name::{
    Namespace, TypeName, TypeNameError, is_constant_name, is_field_name, is_package_name,
    is_type_name,
};
pub use parse::{
    MAX_DEFINITION_BYTES, ParseError, ParseErrorKind, parse_action, parse_interface, parse_message,
    parse_service,
};
pub use search::PLACES;
pub use set::{InsertError, InterfaceSet, MAX_NESTING_DEPTH, ResolveError};
pub use shipped::{robot_packages, shipped, shipped_package, shipped_packages, standard};
pub use tree::{
    ActionDefinition, BaseType, Constant, EMPTY_MESSAGE_FIELD, Field, FieldType, Interface,
    Literal, MessageDefinition, ServiceDefinition, Shape,
};

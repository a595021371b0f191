//! ROS 1 without an installation of ROS 1: definitions and their checksums, the plan between a message of
//! ROS 1 and its like of ROS 2, and a node under a master (XML-RPC and TCPROS).
//!
//! Names of types are those of `feros_interface`: `std_msgs/String` of ROS 1 is `std_msgs/msg/String` here.
#![forbid(unsafe_code)]

mod catalog;
mod definition;
mod mapping;
mod plan;
mod rules;

pub use catalog::{Catalog, CatalogError, Ros1Service, Ros1Type};
pub use definition::{
    DefinitionError, Ros1Message, parse_message, parse_service, parse_type, type_text,
};
pub use mapping::{MappingError, Plans};
pub use plan::{ConvertError, Direction, Plan};
pub use rules::{FieldPairs, Rules, RulesError};

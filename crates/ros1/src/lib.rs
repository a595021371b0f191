//! ROS 1 without an installation of ROS 1: definitions and their checksums, the plan between a
//! message of ROS 1 and its like of ROS 2, and a node under a master (XML-RPC and TCPROS).
//!
//! Names of types are those of `feros_interface`: `std_msgs/String` of ROS 1 is
//! `std_msgs/msg/String` here.
#![forbid(unsafe_code)]

mod catalog;
mod definition;
mod header;
mod http;
mod mapping;
mod master;
mod node;
mod plan;
mod publication;
mod rules;
mod service;
mod subscription;
mod xmlrpc;

pub use catalog::{Catalog, CatalogError, Ros1Service, Ros1Type};
pub use definition::{
    DefinitionError, Ros1Message, parse_message, parse_service, parse_type, type_text,
};
pub use header::{ConnectionHeader, HeaderError, MAX_HEADER_BYTES};
pub use http::Address;
pub use mapping::{MappingError, Plans};
pub use master::{Master, MasterError, SystemState};
pub use node::{DEFAULT_MASTER, Node, NodeError, is_allowed_name};
pub use plan::{ConvertError, Direction, Plan};
pub use publication::{Publication, PublicationCounts, PublicationOptions};
pub use rules::{FieldPairs, Rules, RulesError};
pub use service::{CallError, Handler, ServiceInfo, ServiceOptions, call, probe};
pub use subscription::{Accept, Sink, Subscription, SubscriptionOptions};
pub use xmlrpc::{Value, XmlRpcError, read_answer, read_call};

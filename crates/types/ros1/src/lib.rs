//! ROS 1 without an installation of ROS 1: type definitions and their checksums, plans that convert
//! between messages of ROS 1 and the matching messages of ROS 2, and nodes under a ROS 1 master
//! (XML-RPC and TCPROS).
//!
//! Types have the names of `feros_interface`: `std_msgs/String` of ROS 1 is `std_msgs/msg/String`
//! here.
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | `definition`, `catalog`, `types`, `ros1_type`, `names` | definitions, known definitions with checksums, types and names of ROS 1 |
//! | `mapping`, `rules`, `plan` | pairs of types of ROS 1 and ROS 2, and the plans that convert messages |
//! | `action` | the topics of actionlib |
//! | `master`, `slave_api`, `xmlrpc`, `http` | XML-RPC: the master, and the calls of a node |
//! | `node`, `node_error`, `own_host`, `address`, `siblings` | a node under a master, its address, and nodes of the same process |
//! | `publication`, `subscription`, `service`, `header` | TCPROS: topics and services |
//! | `runtime`, `connections`, `within` | tasks on a few threads, and limits on the number of connections and on time |
//! | `lines`, `peer_text`, `strangers` | a limit on warnings, and text from other nodes in a form that is safe to log |
//!
//! # Invariants
//!
//! The crate does not depend on ROS 2 nodes. Input from other programs is limited before it is
//! stored, and a definition is used only if its checksum matches. The number of threads is limited,
//! whatever other programs do.
#![forbid(unsafe_code)]

mod action;
mod address;
mod catalog;
mod connections;
mod definition;
mod header;
mod http;
mod lines;
mod mapping;
mod master;
mod names;
mod node;
mod node_error;
mod own_host;
mod peer_text;
mod plan;
mod publication;
mod ros1_type;
mod rules;
mod runtime;
mod service;
mod siblings;
mod slave_api;
mod strangers;
mod subscription;
mod types;
mod within;
mod xmlrpc;

pub use action::{
    ACTION_TOPICS, ActionMessageError, Ros1Action, Ros1GoalId, Ros1GoalStatus, read_about,
    read_cancel, read_goal, read_statuses, write_about, write_cancel, write_goal, write_statuses,
};
pub use address::Address;
pub use catalog::Catalog;
pub use definition::{
    DefinitionError, Ros1Message, parse_message, parse_service, parse_type, type_text,
};
pub use header::{ConnectionHeader, HeaderError, MAX_HEADER_BYTES};
pub use http::{read_request, read_response};
pub use lines::Lines;
pub use mapping::{MappingError, Plans};
pub use master::{Master, MasterError, SystemState};
pub use names::is_allowed_name;
pub use node::{HearsParameter, Node};
pub use node_error::{DEFAULT_MASTER, NodeError};
pub use peer_text::{MAX_NAME_BYTES, shown, shown_name};
pub use plan::{ConvertError, Direction, Plan};
pub use publication::{
    Hears, OnConnection, Publication, PublicationCounts, PublicationOptions, Publishing,
};
pub use ros1_type::{CatalogError, MAX_FIELDS, Ros1Service, Ros1Type};
pub use rules::{FieldPairs, Rules, RulesError};
pub use runtime::{spawn, waiting};
pub use service::{
    Answer, CallConnection, CallError, Handler, ServiceInfo, ServiceOptions, call, probe,
};
pub use siblings::Siblings;
pub use subscription::{Accept, Sink, Subscription, SubscriptionOptions};
pub use types::{ONE_DEFINITION, ServicePlans, TypeError, Types, not_received};
pub use xmlrpc::{Value, XmlRpcError, read_answer, read_call};

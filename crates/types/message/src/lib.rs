//! Messages, services and actions: the traits that generated types implement, the descriptions and
//! hashes of their types, and dynamic messages whose type is known only at run time.
//!
//! The layers above the transports are generic over [`Message`], [`Service`] and [`Action`]. The
//! transports and engines handle bytes.
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | `traits`, `action` | the traits of generated messages, services and actions |
//! | `dynamic` | messages whose type is known only at run time |
//! | `description`, `schema` | the description of a type, and its definition as text for bags |
//! | `service_event` | the contents of service events |
//!
//! # Invariants
//!
//! A dynamic message and a generated message with the same type and values serialize to the same
//! bytes.

mod action;
mod description;
pub mod dynamic;
mod schema;
mod service_event;
mod traits;

pub use feros_cdr as cdr;
pub use feros_cdr::{
    Build, BuildError, Decode, DecodeError, Encode, EncodeError, PrimitiveSlice, SequenceMut,
    SequenceView, View, WString, WStringView, build, encode_into, encoded_size, fields, from_bytes,
    shaped_size, to_vec,
};
pub use feros_interface::{self as interface, TypeHash, TypeHashError};

pub use action::{Action, GoalId, goal_id_of, set_goal_id};
pub use description::{FieldDescription, TypeDescription};
pub use schema::Schema;
pub use service_event::{ServiceEventInfo, ServiceEventKind};
pub use traits::{HasHeader, Message, Service, stamp_nanos, view};

/// Includes the types that `feros_codegen::Generator` generated in the build script of the calling
/// crate.
///
/// The types are in modules by package and kind, such as `my_msgs::msg::Pose` and
/// `my_msgs::srv::Reset`.
#[macro_export]
macro_rules! include_interfaces {
    () => {
        include!(concat!(env!("OUT_DIR"), "/feros_interfaces.rs"));
    };
}

//! The protocol between server and page, and between server and Foxglove: reading and writing of
//! messages, without sockets and without ROS.
//!
//! `PROTOCOL.md` of this crate describes the operations. All input is hostile: reading allocates no
//! more than the frame's own bytes justify, and never panics.

mod client_frame;
mod client_op;
mod parameter;
mod server_frame;
mod server_op;

pub use client_frame::{ClientFrame, FrameError};
pub use client_op::{
    ClientChannel, ClientOp, MAX_OP_BYTES, OpError, ParameterToSet, TopicSubscription,
};
pub use parameter::{ParameterJson, ParameterNameError, full_name, split_name, to_json};
pub use server_frame::{
    MESSAGE_HEADER_BYTES, asset_found, asset_missing, begin_message, service_response, time,
};
pub use server_op::{
    Channel, ConnectionGraphUpdate, Finding, NamedIds, NamedParameter, ServerOp, Service,
    ServiceSchema, Severity,
};

/// The subprotocols, in the order of preference.
pub const SUBPROTOCOLS: [&str; 3] = [OWN_SUBPROTOCOL, "foxglove.sdk.v1", "foxglove.websocket.v1"];
/// The subprotocol of the page: Foxglove's with additions.
pub const OWN_SUBPROTOCOL: &str = "feros.view.v1";

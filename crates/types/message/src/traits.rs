//! The traits that generated messages and services implement.

use std::fmt::Debug;
use std::sync::Arc;

use feros_cdr::{Build, Decode, DecodeError, Encode, View};
use feros_interface::TypeHash;

use crate::description::TypeDescription;
use crate::service_event::ServiceEventInfo;

/// A message type, generated from a `.msg` file or from a part of a service or action.
///
/// In the owned struct, all fields are public, and its `Default` has the defaults that the
/// definition declares. [`View`](Self::View) reads a message in the memory where it was received,
/// and [`Build`] writes a message into the memory from which it will be sent.
pub trait Message:
    Encode + Decode + Build + Default + Clone + Debug + PartialEq + Send + Sync + 'static
{
    /// The full name, for example `std_msgs/msg/String`.
    const TYPE_NAME: &'static str;

    /// The hash with which two programs check that they use the same type.
    const TYPE_HASH: TypeHash;

    /// The description of the fields, with the types to which they refer.
    const TYPE_DESCRIPTION: &'static TypeDescription;

    /// A view of a received message: a struct with the same fields, which borrows from the received
    /// bytes.
    type View<'a>: View<'a>;
}

/// A message with a field `header` of the type `std_msgs/Header`, and therefore with a time and a
/// coordinate frame. The trait is generated for every such message.
pub trait HasHeader {
    /// `header.stamp`, in nanoseconds.
    fn stamp_nanos(&self) -> i64;

    /// `header.frame_id`.
    fn frame_id(&self) -> &str;
}

impl<M: HasHeader + ?Sized> HasHeader for Arc<M> {
    fn stamp_nanos(&self) -> i64 {
        (**self).stamp_nanos()
    }

    fn frame_id(&self) -> &str {
        (**self).frame_id()
    }
}

/// Converts the fields of a `builtin_interfaces/Time` to nanoseconds. All values are valid:
/// `nanosec` is added unchanged even if it is a second or more.
#[must_use]
pub fn stamp_nanos(sec: i32, nanosec: u32) -> i64 {
    i64::from(sec) * 1_000_000_000 + i64::from(nanosec)
}

/// A service type, generated from a `.srv` file or derived from an action. No values of this type
/// exist.
pub trait Service: Send + Sync + 'static {
    /// The message that a client sends.
    type Request: Message;

    /// The message with which a server answers.
    type Response: Message;

    /// The message that service introspection publishes.
    type Event: Message;

    /// The full name, for example `std_srvs/srv/SetBool`.
    const TYPE_NAME: &'static str;

    /// The hash with which two programs check that they use the same type.
    const TYPE_HASH: TypeHash;

    /// The description of the request, the response and the event, with the types to which they
    /// refer.
    const TYPE_DESCRIPTION: &'static TypeDescription;

    /// Makes the message of an event, with the request and the response if they are given.
    fn event(
        info: ServiceEventInfo,
        request: Option<Self::Request>,
        response: Option<Self::Response>,
    ) -> Self::Event;
}

/// Reads a serialized message where it is, without copying it. Trailing bytes are ignored.
///
/// # Errors
///
/// Fails if the bytes are not an `M`. The [`DecodeError`] names the offset and the cause.
pub fn view<M: Message>(bytes: &[u8]) -> Result<M::View<'_>, DecodeError> {
    feros_cdr::view_bytes(bytes)
}

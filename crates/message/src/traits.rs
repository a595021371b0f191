//! The traits that generated messages and services implement.

use std::fmt::Debug;
use std::sync::Arc;

use feros_cdr::{Build, Decode, DecodeError, Encode, View};
use feros_interface::TypeHash;

use crate::description::TypeDescription;
use crate::service_event::ServiceEventInfo;

/// A message type, generated from a `.msg` file or from a part of a service or action.
///
/// The owned struct has all fields public; its `Default` holds the defaults that the definition
/// declares. [`View`](Self::View) reads a received message in place, [`Build`] writes one in place.
pub trait Message:
    Encode + Decode + Build + Default + Clone + Debug + PartialEq + Send + Sync + 'static
{
    /// The full name, for example `std_msgs/msg/String`.
    const TYPE_NAME: &'static str;

    /// The hash by which two programs check that they use the same type.
    const TYPE_HASH: TypeHash;

    /// The fields and the types they refer to.
    const TYPE_DESCRIPTION: &'static TypeDescription;

    /// The message read in place: a struct with the same fields, borrowing from the received bytes.
    type View<'a>: View<'a>;
}

/// A message with a field `header` of the type `std_msgs/Header`: it has a time and a coordinate
/// frame. Generated for every such message.
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

/// A stamp in nanoseconds, from the fields of a `builtin_interfaces/Time`. Any content is valid: a
/// `nanosec` of a second or more is added as it is.
#[must_use]
pub fn stamp_nanos(sec: i32, nanosec: u32) -> i64 {
    i64::from(sec) * 1_000_000_000 + i64::from(nanosec)
}

/// A service type, generated from a `.srv` file or derived from an action. Never instantiated.
pub trait Service: Send + Sync + 'static {
    /// The message that a client sends.
    type Request: Message;

    /// The message that a server answers with.
    type Response: Message;

    /// The message that service introspection publishes.
    type Event: Message;

    /// The full name, for example `std_srvs/srv/SetBool`.
    const TYPE_NAME: &'static str;

    /// The hash by which two programs check that they use the same type.
    const TYPE_HASH: TypeHash;

    /// Request, response and event, and the types they refer to.
    const TYPE_DESCRIPTION: &'static TypeDescription;

    /// Makes the message of an event, with the parts of the call that are given.
    fn event(
        info: ServiceEventInfo,
        request: Option<Self::Request>,
        response: Option<Self::Response>,
    ) -> Self::Event;
}

/// Reads a serialized message in place. Trailing bytes are ignored.
///
/// # Errors
///
/// A [`DecodeError`] naming offset and cause when the bytes are not an `M`.
pub fn view<M: Message>(bytes: &[u8]) -> Result<M::View<'_>, DecodeError> {
    feros_cdr::view_bytes(bytes)
}

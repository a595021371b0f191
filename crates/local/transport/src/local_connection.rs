//! The interface of a subscription's connection to one publisher that does not use the engine.
//! Messages have numbers and stamps, and arrive in the publisher's order.

use feros_engine::{Gid, Payload, Stamp};

use crate::intra_process::queue::Envelope;

/// The messages of one publisher that arrive through shared memory.
pub(crate) trait LocalConnection {
    fn publisher(&self) -> Gid;
    /// The stamp of the next message, if there is one.
    fn front(&mut self) -> Option<Stamp>;
    /// Takes the message whose stamp [`LocalConnection::front`] returned.
    fn take(&mut self) -> Option<ConnectionMessage>;
}

/// A message that arrived through a connection.
pub(crate) struct ConnectionMessage {
    pub(crate) envelope: Envelope,
    /// The time at which the receiver found the message.
    pub(crate) received: Stamp,
    pub(crate) payload: Payload,
}

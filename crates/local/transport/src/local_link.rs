//! The interface of a subscription's connection to one publisher, which does not involve the
//! engine. Messages have numbers and stamps and come in the publisher's order.

use feros_engine::{Gid, Payload, Stamp};

use crate::intra_process::queue::Envelope;

/// The messages of one publisher that come through shared memory.
pub(crate) trait LocalLink {
    fn publisher(&self) -> Gid;
    /// The stamp of the next message, if there is one.
    fn front(&mut self) -> Option<Stamp>;
    /// Takes the message whose stamp [`LocalLink::front`] returned.
    fn take(&mut self) -> Option<LinkMessage>;
}

/// A message of a connection.
pub(crate) struct LinkMessage {
    pub(crate) envelope: Envelope,
    /// The time at which the message was found.
    pub(crate) received: Stamp,
    pub(crate) payload: Payload,
}

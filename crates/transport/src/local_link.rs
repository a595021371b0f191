//! One publisher as a subscription hears it beside the engine: messages with numbers and stamps, in
//! the publisher's order.

use feros_rmw::{Gid, Payload, Stamp};

use crate::intra_process::queue::Envelope;

/// The messages of one publisher that come through shared memory.
pub(crate) trait LocalLink {
    fn publisher(&self) -> Gid;
    /// The stamp of the next message, if there is one.
    fn front(&mut self) -> Option<Stamp>;
    /// The message that [`LocalLink::front`] told of.
    fn take(&mut self) -> Option<LinkMessage>;
}

/// A message of a link.
pub(crate) struct LinkMessage {
    pub(crate) envelope: Envelope,
    /// When it was found.
    pub(crate) received: Stamp,
    pub(crate) payload: Payload,
}

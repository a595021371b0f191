//! One publisher as a subscription hears it beside the engine: messages with numbers and stamps, in
//! the publisher's order.

use feros_rmw::{Gid, Sample, Stamp};

/// The messages of one publisher that come through shared memory.
pub(crate) trait LocalLink {
    fn publisher(&self) -> Gid;
    /// The stamp of the next message, if there is one.
    fn front(&mut self) -> Option<Stamp>;
    /// The message that [`LocalLink::front`] told of.
    fn take(&mut self) -> Option<Numbered>;
}

/// A message of a link.
pub(crate) struct Numbered {
    pub(crate) sample: Sample,
    /// Number of the first message that the link could bring.
    pub(crate) since: u64,
}

//! How a publisher and a subscription in two processes of the same host start to use shared memory.
//!
//! ```text
//!      publisher                                subscription
//!
//!  match found by the engine                match found by the engine
//!          |                                        |
//!          v                                        v
//!      Offered  -- memory made, `report_ready` ---> Offered
//!          |                                        |   opens the memory       cannot open it
//!          |                                        +--------------------------> Declined
//!          |                                        |                             |   ^ tries
//!          |      <---- publisher's id entered ---- |   <-------------------------+---+ again
//!          v                                        v
//!      Attached                                 Attached
//!          |  what the engine sent is               |
//!          |  acknowledged                          |
//!          +---- number of the first message -----> |
//!          v                                        v
//!      Established ==== messages by shared memory ==> Established
//! ```
//!
//! Until a match is established, its messages go through the engine. Each side has a state of its
//! own.
//!
//! When its memory exists, the publisher calls `report_ready`: this increments the count `ready` in
//! the subscription's entry (`segment/entry.rs` in `feros_shm`), and rings the subscription. A
//! subscription that has opened the memory enters the publisher's id in its entry; the words that
//! the entry then has for this publisher are an attachment.
//!
//! Each side may leave at any time; the other side learns this from the engine. A subscription that
//! gives a publisher up releases the attachment. If the subscription still exists, the publisher
//! goes back to `Offered`.

use feros_shm::{ConnectionObstacle, Reason};

/// The state of one side of a match. `A` is the data that this side has in the state `Attached`,
/// and `E` is the data that it has in the state `Established`.
#[derive(Debug, Clone)]
pub(crate) enum Handshake<A, E> {
    /// The memory of the publisher exists or is being made. The subscription has not opened it yet.
    Offered,
    /// The subscription could not open the memory. It will try again.
    Declined(ConnectionObstacle),
    /// The subscription has opened the memory. Messages that the engine sent may not have arrived
    /// yet.
    Attached(A),
    /// Messages are sent only through shared memory.
    Established(E),
}

impl<A, E> Handshake<A, E> {
    pub(crate) fn established(&self) -> Option<&E> {
        match self {
            Self::Established(established) => Some(established),
            _ => None,
        }
    }

    /// Whether the subscription has not opened the memory yet.
    pub(crate) fn awaits_opening(&self) -> bool {
        matches!(self, Self::Offered | Self::Declined(_))
    }

    /// The reason why messages are not sent through shared memory yet.
    pub(crate) fn reason(&self) -> Option<Reason> {
        match self {
            Self::Offered | Self::Attached(_) => Some(Reason::Pending),
            Self::Declined(obstacle) => Some(obstacle.reason()),
            Self::Established(_) => None,
        }
    }
}

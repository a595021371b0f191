//! Publishes one message over every transport that needs it.
//!
//! ```text
//!            routes have changed, or the room is taken
//!          +---------------------------------------------+
//!          v                                             |
//!       prepare ------------------------------------> begin ------> send ------> finish
//!       serialize, lend memory                        take turn     stamp,       wake direct
//!       (no lock)                                                   number,      dispatch,
//!                                                                   transports   give buffers back
//! ```

mod endpoint;
mod error;
mod message;
mod outgoing;
mod sender;
mod turn;

pub use error::PublishError;
pub use message::Loan;
pub use outgoing::Outgoing;

pub(crate) use outgoing::Bytes;
pub(crate) use sender::{Sender, SenderOptions};

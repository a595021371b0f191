//! The reception of one subscription: in each publisher's order, whichever transport a message
//! comes by.

mod received;
mod receiver;
pub(crate) mod reorder;

pub use received::Received;
pub use receiver::Receiver;

pub(crate) use receiver::{ReceiverOptions, Tally};

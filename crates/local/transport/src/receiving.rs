//! Receives the messages of one subscription in each publisher's order, whatever transport they
//! take.

mod received;
mod receiver;
pub(crate) mod reorder;

pub use received::Received;
pub use receiver::Receiver;

pub(crate) use receiver::{ReceiverOptions, Tally};

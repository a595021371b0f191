//! Receiving for one subscription: messages in each publisher's order, whatever transport they come
//! by.

mod received;
mod receiver;
pub(crate) mod reorder;

pub use received::Received;
pub use receiver::Receiver;

pub(crate) use receiver::{ReceiverOptions, Tally};

//! Receives the messages of one subscription in the order of each publisher, no matter which
//! transports the messages take.

mod received;
mod receiver;
pub(crate) mod reorder;

pub use received::Received;
pub use receiver::Receiver;

pub(crate) use receiver::{ReceiverOptions, Tally};

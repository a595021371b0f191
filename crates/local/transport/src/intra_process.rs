//! The intra-process transport: objects in the queues of subscriptions of the same process.

pub(crate) mod delivery;
pub(crate) mod queue;

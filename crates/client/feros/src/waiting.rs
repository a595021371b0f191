//! Functions in which a thread waits: for callbacks, for a time, for the next period, or for a
//! message.

pub(crate) mod message;
pub(crate) mod rate;
mod sleep;
pub(crate) mod spin;

//! The connection between a publisher and one subscription: two rings in shared memory, which
//! carry messages in one direction and return their memory in the other (decision 0013).

#[cfg(not(loom))]
pub(crate) mod chunks;
#[cfg(not(loom))]
#[allow(unsafe_code)] // keeps references into memory that is mapped
pub(crate) mod connection;
#[cfg(not(loom))]
pub(crate) mod receiving_end;
mod ring;
#[cfg(not(loom))]
pub(crate) mod sending_end;

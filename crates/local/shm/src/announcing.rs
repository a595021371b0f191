//! What endpoints and processes announce about shared memory, and the transport that both ends of a
//! match derive from their announcements.

mod announcement;
mod classify;
mod host_id;
mod transport_set;

pub use announcement::{Announced, Announcement};
pub use classify::{Choice, classify};
pub use host_id::HostId;
pub use transport_set::{ParseTransportsError, TransportSet};

//! The transports that a message can take, and how endpoints use them.
//!
//! Every endpoint is an endpoint of the engine, which finds matches, checks their QoS and reports
//! their events. A publisher sorts its matches by transport ([`outlet`]); a subscription brings
//! what comes by several transports into one order ([`merge`]).

mod buffer;
mod counters;
mod graph;
mod host;
mod host_reception;
mod host_sending;
mod inbox;
mod merge;
mod outgoing;
mod outlet;
mod received;
mod registry;
mod routes;
mod shared_memory;

pub(crate) use buffer::{Buffer, SharedPool};
pub(crate) use counters::SubscriptionCounters;
pub use counters::{PublisherCounts, SubscriptionCounts, TransportCount};
pub use graph::{TransportBetween, check_shared_memory, transports_of_topic};
pub(crate) use host_reception::{HostReception, HostReceptionState};
pub(crate) use host_sending::HostSending;
#[allow(unreachable_pub, reason = "named by a public trait, hidden from documentation")]
pub use inbox::Want;
pub(crate) use inbox::{AnyInbox, Content, DirectGuard, Envelope, Inbox};
pub(crate) use merge::{EngineSource, Incoming, Merge, MergeCounters, Via};
pub(crate) use outgoing::{Built, Bytes, Outgoing, lend};
pub(crate) use outlet::Outlet;
pub use received::Received;
pub(crate) use registry::{Registration, begin_birth, register};
pub use routes::MatchTransport;
pub(crate) use routes::{ProcessRoute, network_is_allowed};
pub use shared_memory::{SharedMemoryOptions, WhenExhausted};

/// What an endpoint announces of itself, as text.
pub(crate) fn announcement(announced: &feros_shm::Announced) -> String {
    announced.feros().map_or_else(String::new, feros_shm::Announcement::encode)
}

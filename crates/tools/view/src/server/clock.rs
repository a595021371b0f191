//! Simulated time: the time of `/clock`, for clients that use it.

use std::sync::Arc;

use feros::msgs::rosgraph_msgs::msg::Clock;
use feros::{CreateError, Node, QosProfile, Subscription};
use feros_engine::{EndpointKind, Gid, GraphSnapshot};
use feros_sync::{AtomicU64, Ordering};

use crate::protocol;
use crate::server::clients::Clients;

/// The topic of simulated time.
const TOPIC: &str = "/clock";

/// The latest time that `/clock` published.
#[derive(Clone, Default)]
pub(crate) struct SimulatedTime(Arc<AtomicU64>);

impl SimulatedTime {
    /// Returns the time in nanoseconds; `None` without a clock.
    pub(crate) fn nanos(&self) -> Option<u64> {
        Some(self.0.load(Ordering::Relaxed)).filter(|nanos| *nanos > 0)
    }

    pub(crate) fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// Whether a participant other than `own` publishes the time.
pub(crate) fn is_published(graph: &GraphSnapshot, own: Gid) -> bool {
    let mut publishers = graph.endpoints_of(EndpointKind::Publisher, TOPIC);
    publishers.any(|publisher| {
        publisher.type_name == "rosgraph_msgs/msg/Clock" && !publisher.gid.is_of_session_of(&own)
    })
}

/// Listens to `/clock`, and passes each time on to all clients.
pub(crate) fn listen(
    node: &Node,
    time: &SimulatedTime,
    clients: &Arc<Clients>,
) -> Result<Subscription<Clock>, CreateError> {
    let (time, clients) = (time.clone(), clients.clone());
    let qos = QosProfile::clock().best_effort();
    node.create_subscription(TOPIC, qos, move |message: Clock| {
        let seconds = u64::try_from(message.clock.sec).unwrap_or(0);
        let nanos = seconds * 1_000_000_000 + u64::from(message.clock.nanosec);
        time.0.store(nanos, Ordering::Relaxed);
        for client in clients.all() {
            client.outbox.tell_time(protocol::time(nanos));
        }
    })
}

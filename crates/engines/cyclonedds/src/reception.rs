//! Trace points on the receiving thread of the engine.

use std::time::{SystemTime, UNIX_EPOCH};

use feros_cyclonedds_sys as sys;
use feros_trace::{Endpoint, Event, MessageId, Point, Transport};

/// Records two trace points for the last sample that this thread has received: the arrival of the
/// sample, and its announcement to a subscription, which happens now.
#[cold]
pub(crate) fn trace_latest(subscription: &Endpoint) {
    let mut latest = sys::feros_reception::default();
    // SAFETY: the out parameter is valid for writing.
    if !unsafe { sys::feros_latest_reception(&raw mut latest) } {
        return;
    }
    let message = MessageId {
        publisher: latest.writer_guid,
        stamp: latest.source_timestamp,
        number: latest.sequence_number.unsigned_abs(),
    };
    let now = feros_trace::now_nanos();
    // The engine recorded the arrival on the system clock. The time since then is the same on the
    // system clock and on the trace clock.
    let unix = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let ago =
        u64::try_from(unix.saturating_sub(u128::from(latest.received_timestamp.unsigned_abs())));
    let received = now.saturating_sub(ago.unwrap_or(0));
    for (point, at_nanos) in [(Point::Received, received), (Point::Announced, now)] {
        let (transport, endpoint) = (Some(Transport::Network), subscription.number());
        feros_trace::record(Event { at_nanos, point, transport, message, endpoint });
    }
}

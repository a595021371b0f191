//! A server on both engines. The number of a request encodes the engine over which the request
//! arrived, and the response is sent over the same engine.

use std::sync::Arc;

use feros_engine::engine::Fill;
use feros_engine::{
    Created, Gid, Match, PublishError, QosProfile, RequestId, Sample, Service, ServiceOptions,
    TakeError, twin,
};
use feros_sync::{AtomicUsize, Ordering};

use crate::joining::{Joined, join};
use crate::shared::Shared;

/// The offset that is added to the request numbers of the second engine. The numbers of clients
/// never become that large. The numbers of requests that arrive over other transports start at
/// twice this value (`feros_transport`).
const OF_SECOND: i64 = 1 << 61;

/// Converts an engine's number to the number for the user.
pub(crate) fn to_pair(side: usize, number: i64) -> i64 {
    if side == 1 && (0..OF_SECOND).contains(&number) { number + OF_SECOND } else { number }
}

/// Converts the user's number to the engine and the engine's number.
pub(crate) fn of_pair(number: i64) -> (usize, i64) {
    let is_of_second = (OF_SECOND..2 * OF_SECOND).contains(&number);
    if is_of_second { (1, number - OF_SECOND) } else { (0, number) }
}

pub(crate) struct PairService {
    sides: [Arc<dyn Service>; 2],
    /// The engine from which the next request is taken first. This alternates between the two
    /// engines.
    next: AtomicUsize,
}

impl PairService {
    pub(crate) fn new(shared: &Shared, options: &ServiceOptions<'_>) -> Created<Self> {
        let nodes = shared.node(options.node, options.service)?;
        let first = shared.sides[0].create_service(ServiceOptions {
            node: nodes[0],
            announcement: &twin::first_announcement(options.announcement),
            ..options.clone()
        })?;
        let second = shared.sides[1].create_service(ServiceOptions {
            node: nodes[1],
            announcement: &twin::announcement(first.gid(), options.announcement),
            ..options.clone()
        })?;
        Ok(Self { sides: [first, second], next: AtomicUsize::new(0) })
    }
}

impl Service for PairService {
    fn gid(&self) -> Gid {
        self.sides[0].gid()
    }

    fn qos(&self) -> QosProfile {
        self.sides[0].qos()
    }

    fn take_request(&self) -> Result<Option<(RequestId, Sample)>, TakeError> {
        let begin = self.next.fetch_add(1, Ordering::Relaxed);
        for side in [begin % 2, (begin + 1) % 2] {
            if let Some((id, request)) = self.sides[side].take_request()? {
                let sequence_number = to_pair(side, id.sequence_number);
                return Ok(Some((RequestId { sequence_number, ..id }, request)));
            }
        }
        Ok(None)
    }

    fn send_response(
        &self,
        request: &RequestId,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<(), PublishError> {
        let (side, sequence_number) = of_pair(request.sequence_number);
        let id = RequestId { sequence_number, ..*request };
        self.sides[side].send_response(&id, size_bytes, fill)
    }

    fn lost_requests(&self) -> u64 {
        self.sides.iter().map(|side| side.lost_requests()).sum()
    }

    fn clients(&self) -> Vec<Match> {
        let clients = join(self.sides.each_ref().map(|side| side.clients()), |_| true);
        clients.iter().map(Joined::to_match).collect()
    }

    fn refused_samples(&self) -> u64 {
        self.sides.iter().map(|side| side.refused_samples()).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_say_where_a_request_came_from() {
        for number in [1, 7, OF_SECOND - 1] {
            assert_eq!(of_pair(to_pair(0, number)), (0, number));
            assert_eq!(of_pair(to_pair(1, number)), (1, number));
            assert_ne!(to_pair(0, number), to_pair(1, number));
        }
        // These are numbers of requests that arrived over other transports, and numbers that only
        // hostile clients send.
        for number in [1 << 62, i64::MAX, -1, i64::MIN] {
            assert_eq!([to_pair(0, number), to_pair(1, number)], [number; 2]);
            assert_eq!(of_pair(number), (0, number));
        }
    }
}

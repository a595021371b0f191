//! The requests that a server has taken and not answered, by client and number. To respond, a
//! server must know how the request arrived, and `rmw_request_id_t` has no room for that
//! information.

use std::collections::{HashMap, VecDeque};

use feros_engine::{RequestId, ServiceMapping};
use feros_transport::Request;

use crate::ffi::rmw_request_id_t;

/// The limit on stored requests. Beyond the limit the oldest request is forgotten, and its response
/// is sent in the form of rmw_fastrtps.
const MOST_UNANSWERED: usize = 1 << 16;

/// The number of stored requests at which the requests of departed clients are removed for the
/// first time.
const FIRST_LOOK: usize = 64;

type Key = ([u8; 16], i64);

/// The requests that were taken and not answered.
pub(crate) struct Unanswered {
    requests: HashMap<Key, Request>,
    /// The keys by age, including recently answered requests.
    order: VecDeque<Key>,
    /// The number of stored requests at which the requests of departed clients will be removed
    /// next.
    next_look: usize,
}

impl Default for Unanswered {
    fn default() -> Self {
        let (requests, order) = Default::default();
        Self { requests, order, next_look: FIRST_LOOK }
    }
}

impl Unanswered {
    /// Stores a request until it is answered. `is_awaited` returns whether the client of a stored
    /// request is still there.
    pub(crate) fn add(&mut self, request: Request, is_awaited: impl Fn(&Request) -> bool) {
        let id = request.id();
        let key = (id.client, id.sequence_number);
        if self.requests.insert(key, request).is_none() {
            self.order.push_back(key);
        }
        if self.requests.len() >= self.next_look {
            self.requests.retain(|_, request| is_awaited(request));
            self.next_look = FIRST_LOOK.max(2 * self.requests.len());
        }
        while self.requests.len() > MOST_UNANSWERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.requests.remove(&oldest);
        }
        // Keys of answered requests are removed when many have accumulated.
        if self.order.len() > 2 * (self.requests.len() + 1) {
            let Self { requests, order, .. } = self;
            order.retain(|key| requests.contains_key(key));
        }
    }

    /// Removes and returns the request with this identity, for its response.
    pub(crate) fn take(&mut self, id: &rmw_request_id_t) -> Request {
        let (client, sequence_number) = (id.writer_guid, id.sequence_number);
        let mapping = ServiceMapping::default();
        let unknown = || RequestId { client, sequence_number, mapping }.into();
        self.requests.remove(&(client, sequence_number)).unwrap_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(number: i64, mapping: ServiceMapping) -> Request {
        RequestId { client: [7; 16], sequence_number: number, mapping }.into()
    }

    fn id(number: i64) -> rmw_request_id_t {
        rmw_request_id_t { writer_guid: [7; 16], sequence_number: number }
    }

    #[test]
    fn a_response_goes_the_way_of_its_request() {
        let mut unanswered = Unanswered::default();
        let of_cyclone = request(1, ServiceMapping::PayloadHeader);
        unanswered.add(of_cyclone.clone(), |_| true);
        assert_eq!(unanswered.take(&id(1)), of_cyclone);
        let unknown = unanswered.take(&id(1));
        assert_eq!(unknown, request(1, ServiceMapping::RelatedSampleIdentity));
    }

    #[test]
    fn unanswered_requests_are_bounded() {
        let mut unanswered = Unanswered::default();
        let add = |unanswered: &mut Unanswered, number| {
            unanswered.add(request(number, ServiceMapping::PayloadHeader), |_| true);
        };
        let many = MOST_UNANSWERED as i64 * 3;
        for number in 0..many {
            add(&mut unanswered, number);
        }
        assert_eq!(unanswered.requests.len(), MOST_UNANSWERED);
        assert_eq!(unanswered.order.len(), MOST_UNANSWERED);
        for number in 0..many {
            unanswered.take(&id(number));
            add(&mut unanswered, number);
            unanswered.take(&id(number));
        }
        assert!(unanswered.requests.is_empty() && unanswered.order.len() <= 3);
    }

    #[test]
    fn requests_of_clients_that_left_are_forgotten() {
        let mut unanswered = Unanswered::default();
        let last = 10 * FIRST_LOOK as i64;
        for number in 1..=last {
            let is_last = |request: &Request| request.id().sequence_number == last;
            unanswered.add(request(number, ServiceMapping::PayloadHeader), is_last);
        }
        assert!(unanswered.requests.len() <= FIRST_LOOK, "{}", unanswered.requests.len());
        assert!(unanswered.order.len() <= 3 * FIRST_LOOK, "{}", unanswered.order.len());
        assert_eq!(unanswered.take(&id(last)), request(last, ServiceMapping::PayloadHeader));
    }
}

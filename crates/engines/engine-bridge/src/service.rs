//! Bridges one service: a server on one side serves the clients there, and a client on the other
//! side calls the original server.

use std::collections::BTreeMap;
use std::sync::Arc;

use feros_engine::{
    Client, ClientOptions, CreateEndpointError, Created, QosProfile, RequestId, Service,
    ServiceOptions, TypeHash, copied,
};
use feros_sync::{AtomicBool, Ordering};

use crate::bell::Bell;
use crate::counts::Counters;
use crate::side::Side;
use crate::topic::{Shared, Way};

/// A bridged service. The original server is on the side `from`, and its clients are on the side
/// `to`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ServiceKey {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) service: String,
    pub(crate) type_name: String,
}

/// The limit on the number of calls that wait for a response. When the limit is reached, a new call
/// replaces the oldest call.
const MOST_PENDING: usize = 4096;

/// The depth of the queues. It is as large as for parameter services, because a single thread
/// handles bursts of calls.
const DEPTH: usize = 1000;

/// Starts to bridge a service. The hashes are those that the servers and the clients announce, each
/// in the form that its engine uses.
pub(crate) fn carry(
    key: &ServiceKey,
    [served, called]: [Option<TypeHash>; 2],
    (from, to): (&Side, &Side),
    shared: Shared,
) -> Created<Way> {
    let bell = Arc::<Bell>::default();
    let announcement = shared.mark.announcement();
    let client = from.session.create_client(ClientOptions {
        type_hash: served,
        request_hash: served,
        qos: QosProfile::keep_last(DEPTH),
        announcement: &announcement,
        on_response: bell.notify(),
        on_match: bell.notify(),
        ..ClientOptions::new(from.node, &from.name_here(&key.service), &key.type_name)
    })?;
    let server = to.session.create_service(ServiceOptions {
        type_hash: called,
        request_hash: called,
        qos: QosProfile::keep_last(DEPTH),
        announcement: &announcement,
        on_request: bell.notify(),
        on_match: bell.notify(),
        ..ServiceOptions::new(to.node, &to.name_here(&key.service), &key.type_name)
    })?;
    let operator =
        Operator { client, server, shared, pending: BTreeMap::new(), bell: bell.clone(), lost: 0 };
    Way::start("feros-brg-call", bell, move |is_ending| operator.run(is_ending)).map_err(|error| {
        CreateEndpointError::Engine {
            name: key.service.clone(),
            operation: "starting a thread",
            code: error.to_string(),
        }
    })
}

struct Operator {
    client: Arc<dyn Client>,
    server: Arc<dyn Service>,
    shared: Shared,
    /// The original requests, by their numbers on the other side.
    pending: BTreeMap<i64, RequestId>,
    bell: Arc<Bell>,
    lost: u64,
}

impl Operator {
    fn run(mut self, is_ending: &AtomicBool) {
        loop {
            let is_last = is_ending.load(Ordering::Acquire);
            self.pass_on_requests();
            self.pass_on_responses();
            self.count_losses();
            if is_last {
                return self.fail(self.pending.len());
            }
            self.bell.wait(None);
        }
    }

    /// Forwards requests. Requests remain in the queue until the server on the other side is
    /// available.
    fn pass_on_requests(&mut self) {
        while self.client.service_is_available() {
            let (asked, sample) = match self.server.take_request() {
                Ok(Some(request)) => request,
                Ok(None) => return,
                Err(error) => return self.shared.warnings.warn_once(error.to_string()),
            };
            match self.client.send_request(sample.payload.len(), &mut copied(&sample.payload)) {
                Ok(number) => drop(self.pending.insert(number, asked)),
                Err(error) => {
                    self.fail(1);
                    self.shared.warnings.warn_once(error.to_string());
                }
            }
            if self.pending.len() > MOST_PENDING {
                self.pending.pop_first();
                self.fail(1);
            }
        }
    }

    fn pass_on_responses(&mut self) {
        loop {
            let (number, sample) = match self.client.take_response() {
                Ok(Some(response)) => response,
                Ok(None) => return,
                Err(error) => return self.shared.warnings.warn_once(error.to_string()),
            };
            // Like any client, the bridge ignores a second response, which is from another server.
            let Some(asked) = self.pending.remove(&number) else { continue };
            let size_bytes = sample.payload.len();
            match self.server.send_response(&asked, size_bytes, &mut copied(&sample.payload)) {
                Ok(()) => Counters::add(&self.shared.counters.calls, 1),
                Err(error) => {
                    self.fail(1);
                    self.shared.warnings.warn_once(error.to_string());
                }
            }
        }
    }

    fn count_losses(&mut self) {
        let lost = self.server.lost_requests() + self.client.lost_responses();
        Counters::add(&self.shared.counters.lost, lost.saturating_sub(self.lost));
        self.lost = lost;
    }

    fn fail(&self, calls: usize) {
        Counters::add(&self.shared.counters.failed, calls as u64);
    }
}

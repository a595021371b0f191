//! Servers of services: queryables. A request waits for its response as Zenoh's query.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use feros_rmw::engine::{Fill, LOG_TARGET};
use feros_rmw::gaps::Gaps;
use feros_rmw::{
    CreateEndpointError, FailureCounter, Gid, History, KEEP_ALL_LIMIT, Match, MessageInfo,
    PublishError, QosProfile, RequestId, Sample, Service, ServiceMapping, ServiceOptions, Stamp,
    TakeError,
};
use feros_sync::Mutex;
use zenoh::Wait as _;
use zenoh::bytes::ZBytes;
use zenoh::qos::CongestionControl;
use zenoh::query::{Query, Queryable};

use crate::matches::Matches;
use crate::member::Member;
use crate::publisher::filled;
use crate::sample::{Received, payload};
use crate::session_state::{SessionState, failed};
use crate::wire::announcement;
use crate::wire::attachment::Attachment;
use crate::wire::token::EndpointToken;
use feros_rmw_inbox::Gate;

/// Requests that wait for their responses at most; goals of actions wait long.
const MOST_WAITING: usize = 4096;

struct Request {
    received: Received,
    query: Query,
}

/// Requests that were not taken yet.
struct Requests {
    queue: Mutex<VecDeque<Request>>,
    depth: usize,
    on_request: Gate,
    service: String,
    refused: FailureCounter,
}

impl Requests {
    fn put(&self, query: Query) {
        let nothing = ZBytes::new();
        let bytes = query.payload().unwrap_or(&nothing);
        let Some(received) = Received::new(bytes, query.attachment()) else {
            return self.refuse(bytes.len());
        };
        let oldest = {
            let mut queue = self.queue.lock();
            let oldest = if queue.len() >= self.depth { queue.pop_front() } else { None };
            queue.push_back(Request { received, query });
            oldest
        };
        drop(oldest); // its query ends without a response
        self.on_request.notify();
    }

    fn refuse(&self, size_bytes: usize) {
        if let Some(count) = self.refused.count() {
            tracing::warn!(
                target: LOG_TARGET,
                "a request of {size_bytes} bytes to {} was refused ({count} so far): it has not the attachment of \
                 rmw_zenoh (number, time, gid), or no header",
                self.service
            );
        }
    }
}

/// Which request of which client.
type RequestKey = ([u8; 16], i64);

struct Waiting {
    query: Query,
    client_was_known: bool,
}

/// Requests that were taken and wait for their responses.
#[derive(Default)]
struct Pending {
    queries: HashMap<RequestKey, Waiting>,
    order: VecDeque<RequestKey>,
}

impl Pending {
    fn insert(&mut self, key: RequestKey, waiting: Waiting) -> Option<Waiting> {
        if self.queries.insert(key, waiting).is_none() {
            self.order.push_back(key);
        }
        if self.order.len() > 2 * MOST_WAITING {
            self.order.retain(|key| self.queries.contains_key(key));
        }
        if self.queries.len() <= MOST_WAITING {
            return None;
        }
        std::iter::from_fn(|| self.order.pop_front()).find_map(|key| self.queries.remove(&key))
    }
}

pub(crate) struct ZenohService {
    // Dropped in this order: the announcement goes before what receives.
    member: Member,
    _queryable: Queryable<()>,
    requests: Arc<Requests>,
    pending: Mutex<Pending>,
    matches: Arc<Matches>,
    gaps: Mutex<Gaps>,
    lost: AtomicU64,
    key: String,
    qos: QosProfile,
}

impl ZenohService {
    pub(crate) fn new(
        shared: &Arc<SessionState>,
        token: EndpointToken,
        options: ServiceOptions<'_>,
    ) -> Result<Self, CreateEndpointError> {
        let (qos, key, name) = (token.qos, token.data_key(), token.name.clone());
        let depth = if qos.history == History::KeepAll { KEEP_ALL_LIMIT } else { qos.depth.max(1) };
        let requests = Arc::new(Requests {
            queue: Mutex::default(),
            depth,
            on_request: Gate::new(Some(options.on_request)),
            service: name.clone(),
            refused: FailureCounter::new(),
        });
        let receiving = requests.clone();
        let queryable = shared
            .session
            .declare_queryable(&key)
            .complete(true)
            .callback(move |query| receiving.put(query))
            .wait()
            .map_err(|error| failed(&name, "declaring the service", &error))?;
        let matches = Matches::new(Some(options.on_match));
        let member = Member::announce(shared, token, options.announcement, matches.clone())?;
        Ok(Self {
            member,
            _queryable: queryable,
            requests,
            pending: Mutex::default(),
            matches,
            gaps: Mutex::default(),
            lost: AtomicU64::new(0),
            key,
            qos,
        })
    }

    /// Sends a response to a client whose request did not come by the engine.
    fn send_apart(
        &self,
        request: &RequestId,
        bytes: Vec<u8>,
        attachment: Attachment,
    ) -> Result<(), zenoh::Error> {
        let shared = &self.member.shared;
        shared
            .session
            .put(announcement::responses(shared.domain_id, Gid(request.client)), bytes)
            .attachment(&attachment.encode()[..])
            .congestion_control(CongestionControl::Block)
            .wait()
    }
}

impl Drop for ZenohService {
    fn drop(&mut self) {
        self.requests.on_request.close();
        self.matches.close();
    }
}

impl Service for ZenohService {
    fn gid(&self) -> Gid {
        self.member.gid
    }

    fn qos(&self) -> QosProfile {
        self.qos
    }

    fn take_request(&self) -> Result<Option<(RequestId, Sample)>, TakeError> {
        let Some(Request { received, query }) = self.requests.queue.lock().pop_front() else {
            return Ok(None);
        };
        let Attachment { number, stamp_nanos, gid: client } = received.attachment;
        let lost = self.gaps.lock().next(client, number, || self.matches.gids());
        self.lost.fetch_add(lost, Ordering::Relaxed);
        let waiting = Waiting { query, client_was_known: self.matches.contains(client) };
        let forgotten = self.pending.lock().insert((client.0, number), waiting);
        if forgotten.is_some() {
            tracing::warn!(
                target: LOG_TARGET,
                "{}: more than {MOST_WAITING} requests wait for a response; the oldest gets none",
                self.member.name
            );
        }
        let id = RequestId {
            client: client.0,
            sequence_number: number,
            mapping: ServiceMapping::RelatedSampleIdentity,
        };
        let info = MessageInfo {
            source_timestamp: Stamp(stamp_nanos).to_system_time(),
            received_timestamp: Some(received.at),
            publication_sequence_number: u64::try_from(number).ok().filter(|n| *n > 0),
            publisher_gid: client,
            from_same_session: client.is_of_session_of(&self.member.gid),
        };
        Ok(Some((id, Sample { payload: payload(received.bytes), info })))
    }

    fn send_response(
        &self,
        request: &RequestId,
        size_bytes: usize,
        fill: Fill<'_>,
    ) -> Result<(), PublishError> {
        let bytes = filled(&self.member.name, size_bytes, fill)?;
        let client = Gid(request.client);
        let waiting = {
            let mut pending = self.pending.lock();
            pending.queries.remove(&(request.client, request.sequence_number))
        };
        let is_there = self.matches.contains(client);
        let attachment =
            |gid| Attachment { number: request.sequence_number, stamp_nanos: Stamp::now().0, gid };
        let sent = match waiting {
            Some(Waiting { query, client_was_known }) if is_there || !client_was_known => {
                query.reply(&self.key, bytes).attachment(&attachment(client).encode()[..]).wait()
            }
            None if is_there => self.send_apart(request, bytes, attachment(self.member.gid)),
            _ => {
                let (service, waited) = (self.member.name.clone(), Duration::ZERO);
                return Err(PublishError::ClientGone { service, waited });
            }
        };
        sent.map_err(|error| PublishError::Engine {
            topic: self.member.name.clone(),
            code: error.to_string(),
        })
    }

    fn lost_requests(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }

    fn clients(&self) -> Vec<Match> {
        self.matches.list()
    }

    fn refused_samples(&self) -> u64 {
        self.requests.refused.total()
    }
}

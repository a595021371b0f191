//! Service servers, which are Zenoh queryables. A request is a query, which remains open until the
//! response has been sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use feros_engine::engine::{Fill, LOG_TARGET};
use feros_engine::gaps::Gaps;
use feros_engine::{
    Created, FailureCounter, Gid, Match, MessageInfo, PublishError, QosProfile, RequestId, Sample,
    Service, ServiceMapping, ServiceOptions, Stamp, TakeError,
};
use feros_inbox::{MOST_PENDING, Pending, Requests};
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

struct Request {
    received: Received,
    query: Query,
}

/// Receives requests from the queryable.
struct Receiving {
    requests: Requests<Request>,
    service: String,
    refused: FailureCounter,
}

impl Receiving {
    fn put(&self, query: Query) {
        let nothing = ZBytes::new();
        let bytes = query.payload().unwrap_or(&nothing);
        let Some(received) = Received::new(bytes, query.attachment()) else {
            return self.refuse(bytes.len());
        };
        drop(self.requests.push(Request { received, query })); // a query that is removed from the queue gets no reply
    }

    fn refuse(&self, size_bytes: usize) {
        if let Some(count) = self.refused.count() {
            tracing::warn!(
                target: LOG_TARGET,
                "a request of {size_bytes} bytes to {} was refused ({count} so far): it lacks the attachment of \
                 rmw_zenoh (number, time, gid), or no header",
                self.service
            );
        }
    }
}

/// A request that has been taken and has no response yet.
struct Waiting {
    query: Query,
    client_was_known: bool,
}

pub(crate) struct ZenohService {
    // The announcement must be dropped before the values that receive requests.
    member: Member,
    _queryable: Queryable<()>,
    receiving: Arc<Receiving>,
    pending: Mutex<Pending<Waiting>>,
    matches: Arc<Matches>,
    gaps: Mutex<Gaps>,
    lost: AtomicU64,
    /// Counts requests that waited for a response for so long that newer requests replaced them.
    forgotten: FailureCounter,
    key: String,
    qos: QosProfile,
}

impl ZenohService {
    pub(crate) fn new(
        shared: &Arc<SessionState>,
        token: EndpointToken,
        options: ServiceOptions<'_>,
    ) -> Created<Self> {
        let (qos, key, name) = (token.qos, token.data_key(), token.name.clone());
        let receiving = Arc::new(Receiving {
            requests: Requests::new(&qos, options.on_request),
            service: name.clone(),
            refused: FailureCounter::new(),
        });
        let received_by = receiving.clone();
        let queryable = shared
            .session
            .declare_queryable(&key)
            .complete(true)
            .callback(move |query| received_by.put(query))
            .wait()
            .map_err(|error| failed(&name, "declaring the service", &error))?;
        let matches = Matches::new(Some(options.on_match));
        let member = Member::announce(shared, token, options.announcement, matches.clone())?;
        Ok(Self {
            member,
            _queryable: queryable,
            receiving,
            pending: Mutex::default(),
            matches,
            gaps: Mutex::default(),
            lost: AtomicU64::new(0),
            forgotten: FailureCounter::new(),
            key,
            qos,
        })
    }

    /// Sends a response to a client whose request arrived over another transport.
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
        self.receiving.requests.close();
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
        let Some(Request { received, query }) = self.receiving.requests.take() else {
            return Ok(None);
        };
        let Attachment { number, stamp_nanos, gid: client } = received.attachment;
        let lost = self.gaps.lock().next(client, number, || self.matches.gids());
        self.lost.fetch_add(lost, Ordering::Relaxed);
        let waiting = Waiting { query, client_was_known: self.matches.contains(client) };
        let (is_again, forgotten) = {
            let mut pending = self.pending.lock();
            (pending.has(client, number), pending.insert(client, number, waiting))
        };
        if forgotten.is_some()
            && !is_again
            && let Some(so_far) = self.forgotten.so_far()
        {
            tracing::warn!(
                target: LOG_TARGET,
                "{}: more than {MOST_PENDING} requests wait for a response, so the oldest gets no \
                 response{so_far}",
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
        let waiting = self.pending.lock().remove(client, request.sequence_number);
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
        self.receiving.refused.total()
    }
}

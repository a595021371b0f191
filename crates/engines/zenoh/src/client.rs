//! Service clients, which are Zenoh queriers. Each request is a query, and each response is a reply
//! to that query.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use feros_engine::engine::{Fill, LOG_TARGET};
use feros_engine::{
    Client, ClientOptions, Created, FailureCounters, Gid, MessageInfo, PublishError, QosProfile,
    Sample, ServerMatch, Stamp, TakeError,
};
use feros_sync::Mutex;
use zenoh::Wait as _;
use zenoh::bytes::ZBytes;
use zenoh::pubsub::Subscriber;
use zenoh::query::{ConsolidationMode, Querier, QueryTarget, Reply};

use crate::matches::Matches;
use crate::member::Member;
use crate::publisher::filled;
use crate::sample::{Received, payload};
use crate::session_state::{SessionState, failed};
use crate::wire::announcement;
use crate::wire::attachment::Attachment;
use crate::wire::token::{self, EndpointToken};
use feros_inbox::Responses;

struct Response {
    received: Received,
    server: Gid,
}

impl feros_inbox::Received for Response {
    fn size_bytes(&self) -> usize {
        self.received.size_bytes()
    }
}

/// Receives the responses for a client.
struct Receiving {
    responses: Responses<Response>,
    own: Gid,
    service: String,
    matches: Arc<Matches>,
    refused: AtomicU64,
}

impl Receiving {
    fn put_reply(&self, reply: &Reply) {
        // The server has left, or the query has timed out. The client has its own timeout, so this
        // is ignored.
        let Ok(sample) = reply.result() else { return };
        let Some(received) = Received::new(sample.payload(), sample.attachment()) else {
            return self.refuse(sample.payload());
        };
        if received.attachment.gid != self.own {
            return self.refuse(sample.payload());
        }
        let server =
            reply.replier_id().and_then(|id| self.matches.of_session(&id.zid().to_string()));
        let only = || self.matches.gids().first().copied();
        self.responses
            .push(Response { received, server: server.or_else(only).unwrap_or_default() });
    }

    /// Adds a response that is not a reply to a query, because its request was sent over another
    /// transport.
    fn put_apart(&self, bytes: &ZBytes, attachment: Option<&ZBytes>) {
        match Received::new(bytes, attachment) {
            Some(received) if self.matches.contains(received.attachment.gid) => {
                let server = received.attachment.gid;
                self.responses.push(Response { received, server });
            }
            _ => self.refuse(bytes),
        }
    }

    /// Counts and logs a response that is not valid. All clients of the process that call the
    /// service count together in the log.
    fn refuse(&self, bytes: &ZBytes) {
        static REFUSED: FailureCounters = FailureCounters::new();
        self.refused.fetch_add(1, Ordering::Relaxed);
        if let Some(count) = REFUSED.count(&self.service) {
            tracing::warn!(
                target: LOG_TARGET,
                "a response of {} bytes from {} was refused ({count} so far): it lacks the attachment of rmw_zenoh \
                 (number, time, gid) for this client, or no header",
                bytes.len(),
                self.service
            );
        }
    }
}

pub(crate) struct ZenohClient {
    // The announcement must be dropped before the values that receive responses.
    member: Member,
    _apart: Subscriber<()>,
    querier: Querier<'static>,
    receiving: Arc<Receiving>,
    matches: Arc<Matches>,
    /// The number of the last request. The lock is held while a request is sent, so that requests
    /// are sent in order.
    last_number: Mutex<i64>,
    qos: QosProfile,
}

impl ZenohClient {
    pub(crate) fn new(
        shared: &Arc<SessionState>,
        token: EndpointToken,
        options: ClientOptions<'_>,
    ) -> Created<Self> {
        let (qos, key, name) = (token.qos, token.data_key(), token.name.clone());
        let refused = |error| failed(&name, "declaring the client", &error);
        // No server is complete for a key that matches any hash.
        let target =
            if token.takes_any_hash() { QueryTarget::All } else { QueryTarget::AllComplete };
        let querier = shared
            .session
            .declare_querier(key)
            .target(target)
            .consolidation(ConsolidationMode::None);
        // As in rmw_zenoh (`rmw_zenoh_cpp/src/detail/rmw_client_data.cpp`), requests for the
        // results of goals have no timeout, because goals may take hours.
        let querier = if name.ends_with("/_action/get_result") {
            querier.timeout(Duration::from_millis(u64::MAX))
        } else {
            querier
        };
        let querier = querier.wait().map_err(refused)?;
        let matches = Matches::new(Some(options.on_match));
        let told = matches.clone();
        let listener = querier.matching_listener().callback(move |_| told.notify());
        listener.background().wait().map_err(refused)?;
        let own = token::gid(&token.encode());
        let receiving = Arc::new(Receiving {
            responses: Responses::new(options.on_response),
            own,
            service: name.clone(),
            matches: matches.clone(),
            refused: AtomicU64::new(0),
        });
        let putting = receiving.clone();
        let apart = shared
            .session
            .declare_subscriber(announcement::responses(shared.domain_id, own))
            .callback(move |sample| putting.put_apart(sample.payload(), sample.attachment()))
            .wait()
            .map_err(refused)?;
        let member = Member::announce(shared, token, options.announcement, matches.clone())?;
        let last_number = Mutex::new(0);
        Ok(Self { member, _apart: apart, querier, receiving, matches, last_number, qos })
    }
}

impl Drop for ZenohClient {
    fn drop(&mut self) {
        self.receiving.responses.close();
        self.matches.close();
    }
}

impl Client for ZenohClient {
    fn gid(&self) -> Gid {
        self.member.gid
    }

    fn qos(&self) -> QosProfile {
        self.qos
    }

    /// Some servers declare their token before the queryable that receives requests, and both can
    /// come on different ways. A request in between would reach no server, and get no response.
    /// For a key with a wildcard, that of a client that takes any hash, Zenoh cannot tell whether a
    /// queryable matches: it compares as if each had to receive all requests that the key can mean.
    fn service_is_available(&self) -> bool {
        let matching = || self.querier.matching_status().wait().is_ok_and(|now| now.matching());
        self.matches.count() > 0 && (self.querier.key_expr().is_wild() || matching())
    }

    fn servers(&self) -> Vec<ServerMatch> {
        self.matches.servers()
    }

    fn responders(&self) -> Vec<Gid> {
        self.matches.gids()
    }

    fn send_request(&self, size_bytes: usize, fill: Fill<'_>) -> Result<i64, PublishError> {
        let bytes = filled(&self.member.name, size_bytes, fill)?;
        let receiving = self.receiving.clone();
        let mut last_number = self.last_number.lock();
        let number = *last_number + 1;
        let attachment = Attachment { number, stamp_nanos: Stamp::now().0, gid: self.member.gid };
        self.querier
            .get()
            .payload(bytes)
            .attachment(&attachment.encode()[..])
            .callback(move |reply| receiving.put_reply(&reply))
            .wait()
            .map_err(|error| PublishError::Engine {
                topic: self.member.name.clone(),
                code: error.to_string(),
            })?;
        *last_number = number;
        Ok(number)
    }

    fn take_response(&self) -> Result<Option<(i64, Sample)>, TakeError> {
        let Some(Response { received, server }) = self.receiving.responses.pop() else {
            return Ok(None);
        };
        let info = MessageInfo {
            source_timestamp: Stamp(received.attachment.stamp_nanos).to_system_time(),
            received_timestamp: Some(received.at),
            publication_sequence_number: None,
            publisher_gid: server,
            from_same_session: server.is_of_session_of(&self.member.gid),
        };
        let sample = Sample { payload: payload(received.bytes), info };
        Ok(Some((received.attachment.number, sample)))
    }

    fn lost_responses(&self) -> u64 {
        self.receiving.responses.lost()
    }

    fn refused_samples(&self) -> u64 {
        self.receiving.refused.load(Ordering::Relaxed)
    }
}

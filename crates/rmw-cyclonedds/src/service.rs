//! Servers of services. One server understands clients of both RMW families at once; which one a
//! request comes from is seen from the USER_DATA of its writer (`clientid=`), and the response goes
//! back in the same way.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use feros_cyclonedds_sys as sys;
use feros_rmw::engine::Fill;
use feros_rmw::gaps::Gaps;
use feros_rmw::{
    CreateEndpointError, FailureCounter, Gid, Match, NodeId, Notify, PublishError, QosProfile,
    RequestId, Sample, Service, ServiceMapping, ServiceOptions, Stamp, TakeError,
};

use crate::announcement::announced;
use crate::dds::MatchedEndpoint;
use crate::endpoint::{Notifications, Reader, Writer};
use crate::matches::{MatchCache, as_match, is_reader, with_data};
use crate::origin::{is_of_this_host, source};
use crate::qos::Qos;
use crate::sample::{
    ENCAPSULATION_BYTES, SERVICE_HEADER_BYTES, message_info, without_service_header,
};
use crate::sample::{SampleRef, lend};
use crate::service_wire::{ServiceNames, pair_id, write_service_header};
use crate::session_state::{NodeMember, SessionState};
use feros_rmw::dds::user_data::{EndpointData, PairId};
use feros_sync::{Condvar, Mutex};

/// As long as stock ROS 2 waits for a client that asked to become able to receive.
const CLIENT_WAIT: Duration = Duration::from_millis(100);

pub(crate) struct CycloneService {
    // Dropped first: the announcement goes before the endpoints.
    _member: NodeMember,
    requests: Reader,
    replies: Arc<Replies>,
    qos: QosProfile,
    reply_readers: MatchCache,
    request_writers: MatchCache,
    /// The client id that each request writer announces, by its handle.
    clients: Mutex<HashMap<sys::dds_instance_handle_t, Option<PairId>>>,
    refused: AtomicU64,
    gaps: Mutex<Gaps>,
    lost: FailureCounter,
    /// Requests of other hosts that were ignored; `None` where they are served.
    foreign: Option<AtomicU64>,
}

/// Notified when the readers of replies change.
#[derive(Default)]
struct MatchChange {
    lock: Mutex<()>,
    changed: Condvar,
}

/// What sends the responses: there from the beginning, or from the first client on.
struct Replies {
    shared: Arc<SessionState>,
    node: NodeId,
    service: String,
    type_name: String,
    qos: QosProfile,
    user_data: String,
    match_change: Arc<MatchChange>,
    making: Mutex<()>,
    made: OnceLock<MadeReplies>,
}

struct MadeReplies {
    // Dropped first: the announcement goes before the endpoint.
    _member: NodeMember,
    writer: Writer,
}

impl Replies {
    /// Makes it if it is not there yet.
    fn made(&self) -> Result<&MadeReplies, CreateEndpointError> {
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let _making = self.making.lock();
        if let Some(made) = self.made.get() {
            return Ok(made);
        }
        let match_change = self.match_change.clone();
        let ring = move || {
            drop(match_change.lock.lock());
            match_change.changed.notify_all();
        };
        let writer = Writer::new(
            &self.shared.participant,
            ServiceNames::new(&self.service, &self.type_name)?.reply,
            &Qos::writer(&self.qos, &self.user_data),
            Notifications { on_match: Some(Arc::new(ring)), ..Notifications::default() },
        )?;
        let member =
            self.shared.join_node(self.node, &self.service, Vec::new(), vec![writer.gid])?;
        Ok(self.made.get_or_init(|| MadeReplies { _member: member, writer }))
    }

    /// What the engine calls when the clients change. It has locks of its own then, under which
    /// nothing can be made: so a thread makes it, once, for whoever waits until the service is
    /// available. Whoever does not is served in any case.
    fn on_first_client(self: &Arc<Self>) -> Notify {
        let (replies, asked) = (Arc::downgrade(self), AtomicBool::new(false));
        Arc::new(move || {
            if asked.swap(true, Ordering::Relaxed) {
                return;
            }
            let replies = replies.clone();
            let make = move || {
                let Some(replies) = replies.upgrade() else { return };
                if let Err(error) = replies.made() {
                    tracing::error!("a client of {} waits in vain: {error}", replies.service);
                }
            };
            if let Err(error) = std::thread::Builder::new().name("feros-replies".into()).spawn(make)
            {
                asked.store(false, Ordering::Relaxed);
                tracing::error!(
                    "a client of a service waits, because there is no thread to be had: {error}; raise `ulimit -u`"
                );
            }
        })
    }
}

impl CycloneService {
    pub(crate) fn new(
        shared: &Arc<SessionState>,
        qos: QosProfile,
        options: ServiceOptions<'_>,
    ) -> Result<Self, CreateEndpointError> {
        let names = ServiceNames::new(options.service, options.type_name)?;
        let service_id =
            (options.mapping == ServiceMapping::PayloadHeader).then(|| pair_id(shared));
        let data = |type_hash, announcement| {
            EndpointData { type_hash, service_id, announcement, ..EndpointData::default() }.encode()
        };
        let replies = Arc::new(Replies {
            shared: shared.clone(),
            node: options.node,
            service: options.service.to_owned(),
            type_name: options.type_name.to_owned(),
            qos,
            user_data: data(options.response_hash, None),
            match_change: Arc::default(),
            making: Mutex::default(),
            made: OnceLock::new(),
        });
        let mut on_match = options.on_match;
        if options.replies_on_demand {
            let (make_replies, tell) = (replies.on_first_client(), on_match);
            on_match = Arc::new(move || {
                make_replies();
                tell();
            });
        } else {
            replies.made()?;
        }
        let request_data = data(options.request_hash, announced(options.announcement));
        // After the writer, so that a server that receives requests can answer them.
        let requests = Reader::new(
            &shared.participant,
            names.request,
            &Qos::reader(&qos, &request_data, false),
            Notifications {
                on_data: Some(options.on_request),
                on_match: Some(on_match),
                ..Notifications::default()
            },
        )?;
        let member =
            shared.join_node(options.node, options.service, vec![requests.gid], Vec::new())?;
        Ok(Self {
            _member: member,
            requests,
            replies,
            qos,
            reply_readers: MatchCache::default(),
            request_writers: MatchCache::default(),
            clients: Mutex::default(),
            refused: AtomicU64::new(0),
            gaps: Mutex::default(),
            lost: FailureCounter::new(),
            foreign: options.local_requests_only.then(AtomicU64::default),
        })
    }

    /// The client id of a request's writer; `None` for clients of the other mapping.
    fn client_id(&self, publication: sys::dds_instance_handle_t) -> Option<PairId> {
        if let Some(known) = self.clients.lock().get(&publication) {
            return *known;
        }
        let endpoint = MatchedEndpoint::publication(&self.requests.entity, publication)?;
        let id = EndpointData::parse(&endpoint.user_data()).client_id;
        let mut clients = self.clients.lock();
        // Clients come and go; those that left are forgotten when there are many.
        if clients.len() >= 256 {
            clients.clear();
        }
        clients.insert(publication, id);
        id
    }

    /// Waits until `is_client` finds the client among those that receive replies.
    fn wait_for_client(
        &self,
        replies: &Writer,
        is_client: impl Fn(&(Gid, EndpointData)) -> bool,
        is_gone: impl Fn() -> bool,
    ) -> Result<(), PublishError> {
        let deadline = Instant::now() + CLIENT_WAIT;
        let generation = &replies.listener_state.match_generation;
        loop {
            let seen = generation.load(Ordering::Acquire);
            let matches = self.reply_readers.get(generation, || replies.matched(with_data));
            if matches.iter().any(&is_client) {
                return Ok(());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || is_gone() {
                return Err(PublishError::ClientGone {
                    service: self.replies.service.clone(),
                    waited: CLIENT_WAIT,
                });
            }
            // The engine's thread takes this lock after it changed the generation, so no change is
            // missed.
            let match_change = &self.replies.match_change;
            let lock = match_change.lock.lock();
            if generation.load(Ordering::Acquire) == seen {
                drop(match_change.changed.wait_timeout(lock, left));
            }
        }
    }

    fn has_left(&self, client: &[u8; 16]) -> bool {
        let generation = &self.requests.listener_state.match_generation;
        let writers = self.request_writers.get(generation, || self.requests.matched(with_data));
        !writers
            .iter()
            .any(|(gid, _)| gid.participant_prefix() == Gid(*client).participant_prefix())
    }

    /// Counts what the number of a request says of those that were lost before it.
    fn count_lost(&self, sample: &SampleRef) {
        let info = sample.info();
        let client = Gid(info.writer_guid);
        let matched = || self.requests.matched(|writer| writer.gid());
        let lost = self.gaps.lock().next(client, info.sequence_number, matched);
        if let Some(count) = self.lost.count_many(lost) {
            tracing::error!(
                "{}: {count} requests so far are lost, the last of client {client}: more came than                  {} before they were taken; give the service a larger depth, or have it called less                  at once",
                self.replies.service,
                self.qos.depth
            );
        }
    }

    fn request(&self, sample: SampleRef, publication: u64) -> Option<(RequestId, Sample)> {
        let info = sample.info();
        if let Some(ignored) = &self.foreign
            && !is_of_this_host(&info)
        {
            let count = ignored.fetch_add(1, Ordering::Relaxed) + 1;
            // The first and ever fewer: other hosts may send as many as they like.
            if count.is_power_of_two() {
                tracing::warn!(
                    "{}: a request from {} was ignored ({count} so far): this service serves its \
                     own host only",
                    self.replies.service,
                    source(&info)
                );
            }
            return None;
        }
        if self.client_id(publication).is_some() {
            let header =
                sample.bytes().get(ENCAPSULATION_BYTES..ENCAPSULATION_BYTES + SERVICE_HEADER_BYTES);
            let Some((guid, number)) = header.and_then(|header| header.split_first_chunk::<8>())
            else {
                self.refused.fetch_add(1, Ordering::Relaxed);
                return None;
            };
            let mut client = [0; 16];
            client[..8].copy_from_slice(guid);
            client[8..].copy_from_slice(&publication.to_le_bytes());
            let id = RequestId {
                client,
                sequence_number: i64::from_le_bytes(number.try_into().ok()?),
                mapping: ServiceMapping::PayloadHeader,
            };
            let info = message_info(&info, self.requests.participant.gid);
            return Some((id, Sample { payload: without_service_header(sample), info }));
        }
        // A client may ask to be answered at its own reader only.
        let own_reader = info.has_related
            && is_reader(&info.related.guid)
            && info.related.guid[..12] == info.writer_guid[..12];
        let id = RequestId {
            client: if own_reader { info.related.guid } else { info.writer_guid },
            sequence_number: info.sequence_number,
            mapping: ServiceMapping::RelatedSampleIdentity,
        };
        Some((id, lend(sample, self.requests.participant.gid)))
    }

    fn send_related(
        &self,
        replies: &Writer,
        request: &RequestId,
        mut sample: SampleRef,
        now: Stamp,
    ) -> Result<(), PublishError> {
        let related =
            sys::feros_identity { guid: request.client, sequence_number: request.sequence_number };
        sample.set_related(&related);
        if is_reader(&request.client) {
            let is_client = |(gid, _): &(Gid, EndpointData)| gid.0 == request.client;
            self.wait_for_client(replies, is_client, || self.has_left(&request.client))?;
        }
        replies.write(sample, now).map(|_| ())
    }

    fn send_with_header(
        &self,
        replies: &Writer,
        request: &RequestId,
        mut sample: SampleRef,
        now: Stamp,
    ) -> Result<(), PublishError> {
        write_service_header(&mut sample, &request.client[..8], request.sequence_number);
        let publication =
            request.client.last_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let client_id = self.clients.lock().get(&publication).copied().flatten();
        if let Some(id) = client_id {
            let left =
                || MatchedEndpoint::publication(&self.requests.entity, publication).is_none();
            self.wait_for_client(replies, |(_, data)| data.client_id == Some(id), left)?;
        }
        replies.write(sample, now).map(|_| ())
    }
}

impl Service for CycloneService {
    fn gid(&self) -> Gid {
        self.requests.gid
    }

    fn qos(&self) -> QosProfile {
        self.qos
    }

    fn take_request(&self) -> Result<Option<(RequestId, Sample)>, TakeError> {
        while let Some((sample, publication)) = self.requests.take()? {
            self.count_lost(&sample);
            if let Some(request) = self.request(sample, publication) {
                return Ok(Some(request));
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
        let now = Stamp::now();
        let replies = &self.replies.made().map_err(|error| PublishError::Engine {
            topic: self.replies.service.clone(),
            code: error.to_string(),
        })?;
        let replies = &replies.writer;
        match request.mapping {
            ServiceMapping::RelatedSampleIdentity => {
                self.send_related(replies, request, replies.fill(size_bytes, 0, fill)?, now)
            }
            ServiceMapping::PayloadHeader => {
                let sample = replies.fill(size_bytes, SERVICE_HEADER_BYTES, fill)?;
                self.send_with_header(replies, request, sample, now)
            }
        }
    }

    fn lost_requests(&self) -> u64 {
        self.lost.total()
    }

    fn clients(&self) -> Vec<Match> {
        self.requests.matched(as_match)
    }

    fn refused_samples(&self) -> u64 {
        let foreign = self.foreign.as_ref().map_or(0, |count| count.load(Ordering::Relaxed));
        self.requests.refused_samples() + self.refused.load(Ordering::Relaxed) + foreign
    }
}

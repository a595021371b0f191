//! Servers of services. One server understands clients of both RMW families at once; which one a
//! request comes from is seen from the USER_DATA of its writer (`clientid=`), and the response goes
//! back in the same way.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use feros_rmw::dds::user_data::{EndpointData, PairId};
use feros_rmw::engine::Fill;
use feros_rmw::gaps::Gaps;
use feros_rmw::{
    CreateEndpointError, FailureCounter, Gid, Match, NodeId, Notify, PublishError, QosProfile,
    RequestId, Sample, Service, ServiceMapping, ServiceOptions, Stamp, TakeError,
};
use feros_sync::{Condvar, Mutex};

use crate::announcement::announced;
use crate::endpoint::{Creation, Reader, Writer};
use crate::listener::Notifications;
use crate::names::{ServiceNames, is_reader, pair_id};
use crate::qos;
use crate::sample::{Buffer, SERVICE_HEADER_BYTES, Taken, write_service_header};
use crate::session_state::{NodeMember, SessionState};

/// As long as stock ROS 2 waits for a client that asked to become able to receive.
const CLIENT_WAIT: Duration = Duration::from_millis(100);

pub(crate) struct FastDdsService {
    // Dropped first: the announcement goes before the endpoints.
    _member: NodeMember,
    requests: Reader,
    replies: Arc<Replies>,
    qos: QosProfile,
    /// Clients of the payload header, by the handles that their requests get.
    clients: Mutex<Clients>,
    refused: AtomicU64,
    gaps: Mutex<Gaps>,
    lost: FailureCounter,
}

/// What a request of the payload-header mapping has to be answered with. The id of such a request
/// has room for a number of its writer only.
#[derive(Default)]
struct Clients {
    next: u64,
    by_handle: HashMap<u64, (Gid, PairId)>,
}

/// Clients that are remembered before those that left are forgotten.
const REMEMBERED_CLIENTS: usize = 256;

impl Clients {
    fn handle(&mut self, writer: Gid, id: PairId, is_matched: impl Fn(Gid) -> bool) -> u64 {
        let known = self.by_handle.iter().find(|(_, (gid, _))| *gid == writer);
        if let Some((handle, _)) = known {
            return *handle;
        }
        if self.by_handle.len() >= REMEMBERED_CLIENTS {
            self.by_handle.retain(|_, (gid, _)| is_matched(*gid));
        }
        self.next += 1;
        self.by_handle.insert(self.next, (writer, id));
        self.next
    }
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
        let creation = Creation {
            names: &ServiceNames::new(&self.service, &self.type_name)?.reply,
            qos: &self.qos,
            user_data: &self.user_data,
            notifications: Notifications {
                on_match: Some(Arc::new(ring)),
                ..Notifications::default()
            },
        };
        let writer = Writer::new(&self.shared.participant, &creation)?;
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

impl FastDdsService {
    pub(crate) fn new(
        shared: &Arc<SessionState>,
        qos: QosProfile,
        options: ServiceOptions<'_>,
    ) -> Result<Self, CreateEndpointError> {
        let names = ServiceNames::new(options.service, options.type_name)?;
        let service_id = (options.mapping == ServiceMapping::PayloadHeader)
            .then(|| pair_id(shared.participant.gid));
        let data = |type_hash, announcement| {
            EndpointData { type_hash, service_id, announcement, ..EndpointData::default() }.encode()
                + &qos::extras(&qos, false)
        };
        if options.local_requests_only {
            // Fast DDS does not tell the address that a sample came from.
            return Err(CreateEndpointError::Engine {
                name: options.service.to_owned(),
                operation: "keeping requests of other hosts out",
                code: "\"not possible with Fast DDS\": leave local_requests_only out, use \
                       ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST, or another engine"
                    .into(),
            });
        }
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
        let creation = Creation {
            names: &names.request,
            qos: &qos,
            user_data: &request_data,
            notifications: Notifications {
                on_data: Some(options.on_request),
                on_match: Some(on_match),
                ..Notifications::default()
            },
        };
        let requests = Reader::new(&shared.participant, &creation)?;
        let member =
            shared.join_node(options.node, options.service, vec![requests.gid], Vec::new())?;
        Ok(Self {
            _member: member,
            requests,
            replies,
            qos,
            clients: Mutex::default(),
            refused: AtomicU64::new(0),
            gaps: Mutex::default(),
            lost: FailureCounter::new(),
        })
    }

    /// The client id of a request's writer; `None` for clients of the other mapping.
    fn client_id(&self, writer: Gid) -> Option<PairId> {
        self.requests.participant.discovered.graph.endpoint(writer)?.data.client_id
    }

    /// Waits until `is_client` finds the client among those that receive replies. The two ends of a
    /// client leave one after the other, in any order: a client without requests has left.
    fn wait_for_client(
        &self,
        replies: &Writer,
        is_client: impl Fn() -> bool,
        is_gone: impl Fn() -> bool,
    ) -> Result<(), PublishError> {
        let deadline = Instant::now() + CLIENT_WAIT;
        let match_change = &self.replies.match_change;
        loop {
            let seen = replies.listener_state.match_generation();
            let has_left = is_gone();
            if !has_left && is_client() {
                return Ok(());
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || has_left {
                return Err(PublishError::ClientGone {
                    service: self.replies.service.clone(),
                    waited: CLIENT_WAIT,
                });
            }
            // The engine's thread takes this lock after it changed the generation, so no change is
            // missed.
            let lock = match_change.lock.lock();
            if replies.listener_state.match_generation() == seen {
                drop(match_change.changed.wait_timeout(lock, left));
            }
        }
    }

    fn has_left(&self, client: &[u8; 16]) -> bool {
        let prefix = Gid(*client).participant_prefix();
        let writers = self.requests.listener_state.matched_gids();
        !writers.iter().any(|gid| gid.participant_prefix() == prefix)
    }

    /// Counts what the number of a request says of those that were lost before it.
    fn count_lost(&self, sample: &Taken) {
        let matched = || self.requests.listener_state.matched_gids();
        let lost = self.gaps.lock().next(sample.writer, sample.number, matched);
        if let Some(count) = self.lost.count_many(lost) {
            tracing::error!(
                "{}: {count} requests so far are lost, the last of client {}: more came than {} before they were \
                 taken; give the service a larger depth, or have it called less at once",
                self.replies.service,
                sample.writer,
                self.qos.depth
            );
        }
    }

    fn request(&self, sample: Taken) -> Option<(RequestId, Sample)> {
        let session = self.requests.participant.gid;
        let writer = sample.writer;
        if let Some(id) = self.client_id(writer) {
            let Some((guid, number)) = sample.service_header() else {
                self.refused.fetch_add(1, Ordering::Relaxed);
                return None;
            };
            let is_matched = |gid| self.requests.listener_state.is_matched(gid);
            let handle = self.clients.lock().handle(writer, id, is_matched);
            let mut client = [0; 16];
            client[..8].copy_from_slice(&guid);
            client[8..].copy_from_slice(&handle.to_le_bytes());
            let mapping = ServiceMapping::PayloadHeader;
            let id = RequestId { client, sequence_number: number, mapping };
            return Some((id, sample.without_service_header(session)?));
        }
        // A client may ask to be answered at its own reader only.
        let own_reader = sample.related.filter(|(guid, _)| {
            is_reader(guid) && Gid(*guid).participant_prefix() == writer.participant_prefix()
        });
        let id = RequestId {
            client: own_reader.map_or(writer.0, |(guid, _)| guid),
            sequence_number: sample.number,
            mapping: ServiceMapping::RelatedSampleIdentity,
        };
        Some((id, sample.lend(session)))
    }

    fn send_related(
        &self,
        replies: &Writer,
        request: &RequestId,
        sample: &Buffer,
        now: Stamp,
    ) -> Result<(), PublishError> {
        if is_reader(&request.client) {
            let is_client = || replies.listener_state.is_matched(Gid(request.client));
            self.wait_for_client(replies, is_client, || self.has_left(&request.client))?;
        }
        let related = Some((request.client, request.sequence_number));
        replies.write(sample, now, related).map(|_| ())
    }

    fn send_with_header(
        &self,
        replies: &Writer,
        request: &RequestId,
        mut sample: Buffer,
        now: Stamp,
    ) -> Result<(), PublishError> {
        write_service_header(&mut sample, &request.client[..8], request.sequence_number);
        let handle = request.client.last_chunk::<8>().map_or(0, |bytes| u64::from_le_bytes(*bytes));
        let client = self.clients.lock().by_handle.get(&handle).copied();
        if let Some((writer, id)) = client {
            let is_client = || {
                let readers = replies.listener_state.matched_data();
                readers.iter().any(|(_, data)| data.client_id == Some(id))
            };
            let has_left = || !self.requests.listener_state.is_matched(writer);
            self.wait_for_client(replies, is_client, has_left)?;
        }
        replies.write(&sample, now, None).map(|_| ())
    }
}

impl Service for FastDdsService {
    fn gid(&self) -> Gid {
        self.requests.gid
    }

    fn qos(&self) -> QosProfile {
        self.qos
    }

    fn take_request(&self) -> Result<Option<(RequestId, Sample)>, TakeError> {
        while let Some(sample) = self.requests.take()? {
            self.count_lost(&sample);
            if let Some(request) = self.request(sample) {
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
                self.send_related(replies, request, &replies.fill(size_bytes, 0, fill)?, now)
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
        self.requests.listener_state.matches()
    }

    fn refused_samples(&self) -> u64 {
        self.requests.refused_samples() + self.refused.load(Ordering::Relaxed)
    }
}

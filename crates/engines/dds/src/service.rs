//! Service servers. A server handles clients of rmw_fastrtps and of rmw_cyclonedds at the same
//! time. The USER_DATA of a client's writer of requests (`clientid=`) shows the mapping that the
//! client uses, and the response uses the same mapping.

mod clients;
mod replies;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use feros_engine::dds::user_data::EndpointData;
use feros_engine::engine::Fill;
use feros_engine::gaps::Gaps;
use feros_engine::{
    Created, FailureCounter, Gid, Match, PublishError, QosProfile, RequestId, Sample, Service,
    ServiceMapping, ServiceOptions, Stamp, TakeError,
};
use feros_sync::Mutex;

use crate::announced::announcement;
use crate::library::{
    Buffer, BufferOf, Creation, Endpoint, Origin, Participant, Reader, ReaderOf, Taken, TakenOf,
    Writer, WriterOf,
};
use crate::listener::Notifications;
use crate::names::{ServiceNames, is_reader, pair_id};
use crate::nodes::{NodeMember, SessionState};
use crate::service_header::{self, SERVICE_HEADER_BYTES};

use clients::{Clients, HeaderClient};
use replies::Replies;

pub(crate) struct DdsService<P: Participant> {
    // This is dropped first, so that the announcement is withdrawn before the endpoints are
    // deleted.
    _member: NodeMember<P>,
    requests: ReaderOf<P>,
    replies: Arc<Replies<P>>,
    qos: QosProfile,
    clients: Mutex<Clients>,
    refused: AtomicU64,
    gaps: Mutex<Gaps>,
    lost: FailureCounter,
    /// The number of ignored requests from other hosts, or `None` if such requests are served.
    foreign: Option<AtomicU64>,
}

impl<P: Participant> DdsService<P> {
    pub(crate) fn new(shared: &Arc<SessionState<P>>, options: ServiceOptions<'_>) -> Created<Self> {
        let qos = options.qos;
        let names = ServiceNames::new(options.service, options.type_name)?;
        let service_id = (options.mapping == ServiceMapping::PayloadHeader)
            .then(|| pair_id(shared.participant.gid()));
        let data = |type_hash, announcement| EndpointData {
            type_hash,
            service_id,
            announcement,
            ..EndpointData::default()
        };
        let replies = Replies::new(
            shared,
            options.node,
            (options.service, options.type_name),
            qos,
            data(options.response_hash, None),
        );
        let mut on_match = options.on_match;
        if options.replies_on_demand {
            let (make_replies, tell) = (replies.on_first_client(), on_match);
            on_match = Arc::new(move || {
                make_replies();
                tell();
            });
        } else {
            replies.writer()?;
        }
        // The reader is created after the writer, so that the server can respond to every request
        // that it receives.
        let requests = shared.participant.create_reader(Creation {
            names: names.request,
            qos: &qos,
            data: Some(&data(options.request_hash, announcement(options.announcement))),
            ignores_local: false,
            notifications: Notifications {
                on_data: Some(options.on_request),
                on_match: Some(on_match),
                ..Notifications::default()
            },
        })?;
        let readers = vec![requests.gid()];
        let member = shared.join_node(options.node, options.service, readers, Vec::new())?;
        Ok(Self {
            _member: member,
            requests,
            replies,
            qos,
            clients: Mutex::default(),
            refused: AtomicU64::new(0),
            gaps: Mutex::default(),
            lost: FailureCounter::new(),
            foreign: options.local_requests_only.then(AtomicU64::default),
        })
    }

    /// Returns the client to which a writer of requests belongs, if the client uses the
    /// payload-header mapping.
    fn header_client(&self, writer: Gid) -> Option<HeaderClient> {
        if let Some(known) = self.clients.lock().known(writer) {
            return known;
        }
        // The lock is not held here, because this statement calls the library.
        let id = self.requests.data_of(writer)?.client_id;
        self.clients.lock().remember(writer, id, || self.requests.matched_gids())
    }

    /// Counts the requests of the same client that were lost before this request. The losses are
    /// visible as gaps in the numbers of the requests.
    fn count_lost(&self, taken: &TakenOf<P>) {
        let client = taken.writer();
        let lost = self.gaps.lock().next(client, taken.number(), || self.requests.matched_gids());
        if let Some(count) = self.lost.count_many(lost) {
            tracing::error!(
                "{}: {count} requests have been lost so far, the last from client {client}: more \
                 than {} requests came before the server took them; give the service a larger \
                 depth, or make fewer calls at once",
                self.replies.service,
                self.qos.depth
            );
        }
    }

    /// Whether the service must ignore a request because it was sent from another host.
    fn is_foreign(&self, taken: &TakenOf<P>) -> bool {
        let Some(ignored) = &self.foreign else { return false };
        let Origin::Elsewhere(source) = taken.origin() else { return false };
        let count = ignored.fetch_add(1, Ordering::Relaxed) + 1;
        // Warnings become less frequent, because other hosts may send any number of requests.
        if count.is_power_of_two() {
            tracing::warn!(
                "{}: a request from {source} was ignored ({count} so far): this service serves its \
                 own host only",
                self.replies.service
            );
        }
        true
    }

    /// Returns the request in a sample, or `None` if the sample is not a valid request or must be
    /// ignored.
    fn request(&self, taken: TakenOf<P>) -> Option<(RequestId, Sample)> {
        if self.is_foreign(&taken) {
            return None;
        }
        let (reader, writer) = (self.requests.gid(), taken.writer());
        if let Some(header_client) = self.header_client(writer) {
            let Some((number_of_client, sequence_number)) = service_header::read(taken.bytes())
            else {
                self.refused.fetch_add(1, Ordering::Relaxed);
                return None;
            };
            let mut client = [0; 16];
            client[..8].copy_from_slice(&number_of_client);
            client[8..].copy_from_slice(&header_client.handle.to_le_bytes());
            let mapping = ServiceMapping::PayloadHeader;
            let id = RequestId { client, sequence_number, mapping };
            return Some((id, taken.without_service_header(reader)?));
        }
        // In a request, a client may only name a reader of its own participant as the reader of the
        // response.
        let own_reader = taken.related().filter(|(guid, _)| {
            is_reader(guid) && Gid(*guid).participant_prefix() == writer.participant_prefix()
        });
        let id = RequestId {
            client: own_reader.map_or(writer.0, |(guid, _)| guid),
            sequence_number: taken.number(),
            mapping: ServiceMapping::RelatedSampleIdentity,
        };
        Some((id, taken.lend(reader)))
    }

    fn send_related(
        &self,
        writer: &WriterOf<P>,
        request: &RequestId,
        buffer: BufferOf<P>,
        now: Stamp,
    ) -> Result<(), PublishError> {
        let client = Gid(request.client);
        if is_reader(&request.client) {
            let is_client = || writer.matches_any(|gid| gid == client);
            let prefix = client.participant_prefix();
            let is_of_client = |gid: Gid| gid.participant_prefix() == prefix;
            let has_left = || !self.requests.matches_any(is_of_client);
            self.replies.wait_for_client(writer, is_client, has_left)?;
        }
        let related = Some((request.client, request.sequence_number));
        writer.write(buffer, now, related).map(|_| ())
    }

    fn send_with_header(
        &self,
        writer: &WriterOf<P>,
        request: &RequestId,
        mut buffer: BufferOf<P>,
        now: Stamp,
    ) -> Result<(), PublishError> {
        let (number_of_client, handle) = request.client.split_first_chunk::<8>().expect("16 bytes");
        service_header::write(buffer.bytes_mut(), number_of_client, request.sequence_number);
        let handle = u64::from_le_bytes(handle.try_into().expect("the other 8 bytes"));
        let client = self.clients.lock().of_handle(handle);
        if let Some(HeaderClient { requests, id, .. }) = client {
            let is_client =
                || writer.matched_data().iter().any(|(_, data)| data.client_id == Some(id));
            let has_left = || !self.requests.matches_any(|gid| gid == requests);
            self.replies.wait_for_client(writer, is_client, has_left)?;
        }
        writer.write(buffer, now, None).map(|_| ())
    }
}

impl<P: Participant> Service for DdsService<P> {
    fn gid(&self) -> Gid {
        self.requests.gid()
    }

    fn qos(&self) -> QosProfile {
        self.qos
    }

    fn take_request(&self) -> Result<Option<(RequestId, Sample)>, TakeError> {
        while let Some(taken) = self.requests.take()? {
            self.count_lost(&taken);
            if let Some(request) = self.request(taken) {
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
        let writer = self.replies.writer().map_err(|error| PublishError::Engine {
            topic: self.replies.service.clone(),
            code: error.to_string(),
        })?;
        match request.mapping {
            ServiceMapping::RelatedSampleIdentity => {
                self.send_related(writer, request, writer.fill(size_bytes, 0, fill)?, now)
            }
            ServiceMapping::PayloadHeader => {
                let buffer = writer.fill(size_bytes, SERVICE_HEADER_BYTES, fill)?;
                self.send_with_header(writer, request, buffer, now)
            }
        }
    }

    fn lost_requests(&self) -> u64 {
        self.lost.total()
    }

    fn clients(&self) -> Vec<Match> {
        self.requests.matches()
    }

    fn refused_samples(&self) -> u64 {
        let foreign = self.foreign.as_ref().map_or(0, |count| count.load(Ordering::Relaxed));
        self.requests.refused_samples() + self.refused.load(Ordering::Relaxed) + foreign
    }
}

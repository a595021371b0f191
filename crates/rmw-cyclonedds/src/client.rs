//! Clients of services. A client speaks the mapping of the servers that it sees: `serviceid=` in
//! the USER_DATA of the request's reader means the payload header, else the identity travels in
//! inline QoS.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use feros_cyclonedds_sys as sys;
use feros_rmw::engine::Fill;
use feros_rmw::{
    Client, ClientOptions, CreateEndpointError, Gid, PublishError, QosProfile, Sample,
    ServiceMapping, Stamp, TakeError,
};

use crate::endpoint::{Notifications, Reader, Writer};
use crate::introduction::Introduction;
use crate::matches::{MatchCache, Matches, with_data};
use crate::qos::Qos;
use crate::sample::{
    ENCAPSULATION_BYTES, SERVICE_HEADER_BYTES, SampleRef, lend, message_info,
    without_service_header,
};
use crate::service_wire::{ServiceNames, pair_id, write_service_header};
use crate::session_state::{NodeMember, SessionState};
use feros_rmw::dds::user_data::EndpointData;
use feros_sync::Mutex;

/// The sequence number in the identity that a request carries: its own number is the server's to
/// see (SEQUENCENUMBER_UNKNOWN).
const UNKNOWN_SEQUENCE_NUMBER: i64 = -1 << 32;

pub(crate) struct CycloneClient {
    // Dropped first: the announcement goes before the endpoints.
    _member: NodeMember,
    // Before the reader, which its thread borrows.
    introduction: Introduction,
    requests: Writer,
    replies: Arc<Reader>,
    name: String,
    qos: QosProfile,
    force_mapping: Option<ServiceMapping>,
    request_readers: MatchCache,
    reply_writers: MatchCache,
    /// The number in the payload header by which the client knows its own responses.
    header_guid: [u8; 8],
    /// A header holds the number of its request, so numbering and writing must not interleave.
    next_number: Mutex<i64>,
    refused: AtomicU64,
}

impl CycloneClient {
    pub(crate) fn new(
        shared: &Arc<SessionState>,
        qos: QosProfile,
        options: ClientOptions<'_>,
    ) -> Result<Self, CreateEndpointError> {
        let names = ServiceNames::new(options.service, options.type_name)?;
        let id = pair_id(shared);
        let client_id =
            (options.force_mapping == Some(ServiceMapping::PayloadHeader)).then_some(id);
        let data =
            |type_hash| EndpointData { type_hash, client_id, ..EndpointData::default() }.encode();
        let on_match = Some(options.on_response.clone());
        let introduction = Introduction::new(options.service, options.on_response.clone());
        // Before the writer, so that servers can answer the first request.
        let replies = Reader::new(
            &shared.participant,
            names.reply,
            &Qos::reader(&qos, &data(options.response_hash), false),
            Notifications {
                on_data: Some(options.on_response),
                on_match: Some(introduction.on_match()),
                ..Notifications::default()
            },
        )?;
        let replies = Arc::new(replies);
        introduction.begin(&replies);
        let requests = Writer::new(
            &shared.participant,
            names.request,
            &Qos::writer(&qos, &data(options.request_hash)),
            Notifications { on_match, ..Notifications::default() },
        )?;
        let member = shared.join_node(
            options.node,
            options.service,
            vec![replies.gid],
            vec![requests.gid],
        )?;
        Ok(Self {
            _member: member,
            introduction,
            requests,
            replies,
            name: options.service.to_owned(),
            qos,
            force_mapping: options.force_mapping,
            request_readers: MatchCache::default(),
            reply_writers: MatchCache::default(),
            header_guid: header_guid(&id),
            next_number: Mutex::new(1),
            refused: AtomicU64::new(0),
        })
    }

    fn matched_servers(&self) -> Matches {
        self.request_readers.get(&self.requests.listener_state.match_generation, || {
            self.requests.matched(with_data)
        })
    }

    fn matched_responders(&self) -> Matches {
        self.reply_writers
            .get(&self.replies.listener_state.match_generation, || self.replies.matched(with_data))
    }

    fn mapping(&self) -> Result<ServiceMapping, PublishError> {
        if let Some(forced) = self.force_mapping {
            return Ok(forced);
        }
        let servers = self.matched_servers();
        let with_header = servers.iter().filter(|(_, data)| data.service_id.is_some()).count();
        if with_header == 0 {
            Ok(ServiceMapping::RelatedSampleIdentity)
        } else if with_header == servers.len() {
            Ok(ServiceMapping::PayloadHeader)
        } else {
            Err(PublishError::MixedServers { service: self.name.clone() })
        }
    }

    fn response(&self, sample: SampleRef) -> Option<(i64, Sample)> {
        let info = sample.info();
        if info.has_related {
            let ours =
                info.related.guid == self.replies.gid.0 || info.related.guid == self.requests.gid.0;
            return ours.then(|| {
                (info.related.sequence_number, lend(sample, self.replies.participant.gid))
            });
        }
        let header =
            sample.bytes().get(ENCAPSULATION_BYTES..ENCAPSULATION_BYTES + SERVICE_HEADER_BYTES);
        let Some((guid, number)) = header.and_then(|header| header.split_first_chunk::<8>()) else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            return None;
        };
        if *guid != self.header_guid {
            return None; // another client's
        }
        let number = i64::from_le_bytes(number.try_into().ok()?);
        let info = message_info(&info, self.replies.participant.gid);
        Some((number, Sample { payload: without_service_header(sample), info }))
    }
}

/// Random enough to differ between the clients of a service: what stock ROS 2 puts there is a local
/// handle.
fn header_guid(id: &[u8; 16]) -> [u8; 8] {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(id).to_le_bytes()
}

impl Client for CycloneClient {
    fn gid(&self) -> Gid {
        self.requests.gid
    }

    fn qos(&self) -> QosProfile {
        self.qos
    }

    fn service_is_available(&self) -> bool {
        let servers = self.matched_servers();
        if servers.is_empty() {
            return false;
        }
        let answerers = self.matched_responders();
        servers.iter().any(|(server, data)| {
            answerers.iter().any(|(gid, other)| {
                (match data.service_id {
                    Some(id) => other.service_id == Some(id),
                    None => gid.participant_prefix() == server.participant_prefix(),
                }) && self.introduction.is_known_to(*gid)
            })
        })
    }

    fn servers(&self) -> Vec<Gid> {
        self.matched_servers().iter().map(|(gid, _)| *gid).collect()
    }

    fn responders(&self) -> Vec<Gid> {
        self.matched_responders().iter().map(|(gid, _)| *gid).collect()
    }

    fn send_request(&self, size_bytes: usize, fill: Fill<'_>) -> Result<i64, PublishError> {
        let now = Stamp::now();
        let mapping = self.mapping()?;
        let offset =
            if mapping == ServiceMapping::PayloadHeader { SERVICE_HEADER_BYTES } else { 0 };
        let mut sample = self.requests.fill(size_bytes, offset, fill)?;
        let mut next_number = self.next_number.lock();
        match mapping {
            ServiceMapping::PayloadHeader => {
                write_service_header(&mut sample, &self.header_guid, *next_number);
            }
            ServiceMapping::RelatedSampleIdentity => sample.set_related(&sys::feros_identity {
                guid: self.replies.gid.0,
                sequence_number: UNKNOWN_SEQUENCE_NUMBER,
            }),
        }
        let number = self.requests.write(sample, now)?;
        *next_number = number + 1;
        Ok(number)
    }

    fn take_response(&self) -> Result<Option<(i64, Sample)>, TakeError> {
        while let Some((sample, _)) = self.replies.take()? {
            if let Some(response) = self.response(sample) {
                return Ok(Some(response));
            }
        }
        Ok(None)
    }

    fn refused_samples(&self) -> u64 {
        self.replies.refused_samples() + self.refused.load(Ordering::Relaxed)
    }
}

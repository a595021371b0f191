//! Service clients. Services have two mappings to DDS, and a client uses the mapping of the servers
//! that it discovers. If a server's reader of requests has `serviceid=` in its USER_DATA, the
//! server uses the payload header. For other servers, the identity of a request is in the inline
//! QoS.

use std::sync::Arc;

use feros_engine::dds::user_data::EndpointData;
use feros_engine::engine::Fill;
use feros_engine::{
    Client, ClientOptions, Created, Gid, PublishError, QosProfile, Sample, ServerMatch,
    ServiceMapping, Stamp, TakeError,
};
use feros_sync::Mutex;

use crate::announced::announcement;
use crate::introduction::Introduction;
use crate::library::{
    Buffer, Creation, Endpoint, Participant, Reader, ReaderOf, TakenOf, Writer, WriterOf,
};
use crate::listener::Notifications;
use crate::names::{ServiceNames, pair_id};
use crate::nodes::{NodeMember, SessionState};
use crate::responses::{Own, Responses};
use crate::service_header::{self, SERVICE_HEADER_BYTES};

/// The sequence number in the related identity of a request. It is SEQUENCENUMBER_UNKNOWN, because
/// the server takes the number from the request itself.
const UNKNOWN_SEQUENCE_NUMBER: i64 = -1 << 32;

pub(crate) struct DdsClient<P: Participant> {
    // This is dropped first, so that the announcement is withdrawn before the endpoints are
    // deleted.
    _member: NodeMember<P>,
    // This is dropped before the reader, because the thread of the introduction uses the reader.
    introduction: Introduction<ReaderOf<P>>,
    requests: WriterOf<P>,
    replies: Arc<ReaderOf<P>>,
    qos: QosProfile,
    force_mapping: Option<ServiceMapping>,
    /// The client's number in payload headers, by which the client recognizes its responses.
    header_number: [u8; 8],
    /// This is locked while a request is numbered and written, because the payload header contains
    /// the number of the request.
    next_number: Mutex<i64>,
    responses: Arc<Responses<TakenOf<P>>>,
}

impl<P: Participant> DdsClient<P> {
    pub(crate) fn new(shared: &Arc<SessionState<P>>, options: ClientOptions<'_>) -> Created<Self> {
        let qos = options.qos;
        let names = ServiceNames::new(options.service, options.type_name)?;
        let id = pair_id(shared.participant.gid());
        let client_id =
            (options.force_mapping == Some(ServiceMapping::PayloadHeader)).then_some(id);
        let data = |type_hash, announcement| EndpointData {
            type_hash,
            client_id,
            announcement,
            ..EndpointData::default()
        };
        let responses = Arc::new(Responses::new(options.service, options.on_response));
        let accept = responses.clone();
        let introduction = Introduction::new(options.service, options.on_match.clone());
        // The reader is created before the writer, so that servers can respond to the first
        // request.
        let replies = shared.participant.create_reader(Creation {
            names: names.reply,
            qos: &qos,
            data: Some(&data(options.response_hash, None)),
            ignores_local: false,
            notifications: Notifications {
                on_sample: Some(Arc::new(move |sample| accept.accept(sample))),
                on_match: Some(introduction.on_match()),
                ..Notifications::default()
            },
        })?;
        let replies = Arc::new(replies);
        introduction.begin(&replies);
        let requests = shared.participant.create_writer(Creation {
            names: names.request,
            qos: &qos,
            data: Some(&data(options.request_hash, announcement(options.announcement))),
            ignores_local: false,
            notifications: Notifications {
                on_match: Some(options.on_match),
                ..Notifications::default()
            },
        })?;
        let header_number = header_number(&id);
        let (readers, writers) = (vec![replies.gid()], vec![requests.gid()]);
        responses.begin(Own { replies: readers[0], requests: writers[0], header: header_number });
        let member = shared.join_node(options.node, options.service, readers, writers)?;
        Ok(Self {
            _member: member,
            introduction,
            requests,
            replies,
            qos,
            force_mapping: options.force_mapping,
            header_number,
            next_number: Mutex::new(1),
            responses,
        })
    }

    /// Whether the responses of a matching server reach the client.
    fn is_available(&self, server: Gid, data: &EndpointData) -> bool {
        self.replies.matched_data().iter().any(|(gid, other)| {
            (match data.service_id {
                Some(id) => other.service_id == Some(id),
                None => gid.participant_prefix() == server.participant_prefix(),
            }) && self.introduction.is_known_to(*gid)
        })
    }

    fn mapping(&self) -> Result<ServiceMapping, PublishError> {
        if let Some(forced) = self.force_mapping {
            return Ok(forced);
        }
        let servers = self.requests.matched_data();
        let with_header = servers.iter().filter(|(_, data)| data.service_id.is_some()).count();
        if with_header == 0 {
            Ok(ServiceMapping::RelatedSampleIdentity)
        } else if with_header == servers.len() {
            Ok(ServiceMapping::PayloadHeader)
        } else {
            Err(PublishError::MixedServers { service: self.requests.names().ros.clone() })
        }
    }
}

/// Returns a number that is random enough to differ between the clients of a service. Stock ROS 2
/// uses a local handle instead.
fn header_number(id: &[u8; 16]) -> [u8; 8] {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(id).to_le_bytes()
}

impl<P: Participant> Client for DdsClient<P> {
    fn gid(&self) -> Gid {
        self.requests.gid()
    }

    fn qos(&self) -> QosProfile {
        self.qos
    }

    fn service_is_available(&self) -> bool {
        self.requests.matched_data().iter().any(|(server, data)| self.is_available(*server, data))
    }

    fn servers(&self) -> Vec<ServerMatch> {
        let data = self.requests.matched_data();
        let is_available =
            |gid| data.iter().any(|(server, data)| *server == gid && self.is_available(gid, data));
        let servers = self.requests.matches().into_iter();
        servers.map(|found| ServerMatch { is_available: is_available(found.gid), found }).collect()
    }

    fn response_gid(&self) -> Gid {
        self.replies.gid()
    }

    fn forget_ended(&self, server: Gid) {
        self.requests.forget_participant_of(server);
    }

    fn responders(&self) -> Vec<Gid> {
        self.replies.matched_gids()
    }

    fn send_request(&self, size_bytes: usize, fill: Fill<'_>) -> Result<i64, PublishError> {
        let now = Stamp::now();
        let mapping = self.mapping()?;
        let offset =
            if mapping == ServiceMapping::PayloadHeader { SERVICE_HEADER_BYTES } else { 0 };
        let mut buffer = self.requests.fill(size_bytes, offset, fill)?;
        let mut next_number = self.next_number.lock();
        let related = match mapping {
            ServiceMapping::PayloadHeader => {
                service_header::write(buffer.bytes_mut(), &self.header_number, *next_number);
                None
            }
            ServiceMapping::RelatedSampleIdentity => {
                Some((self.replies.gid().0, UNKNOWN_SEQUENCE_NUMBER))
            }
        };
        let number = self.requests.write(buffer, now, related)?;
        *next_number = number + 1;
        Ok(number)
    }

    fn take_response(&self) -> Result<Option<(i64, Sample)>, TakeError> {
        Ok(self.responses.next())
    }

    fn lost_responses(&self) -> u64 {
        self.responses.lost()
    }

    fn refused_samples(&self) -> u64 {
        self.replies.refused_samples() + self.responses.refused()
    }
}

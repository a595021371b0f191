//! Clients of services. A client speaks the mapping of the servers that it sees: `serviceid=` in
//! the USER_DATA of the request's reader means the payload header, else the identity travels in
//! inline QoS.

use std::sync::Arc;

use feros_rmw::engine::Fill;
use feros_rmw::{
    Client, ClientOptions, CreateEndpointError, Gid, PublishError, QosProfile, Sample, ServerMatch,
    ServiceMapping, Stamp, TakeError,
};

use crate::announcement::announced;
use crate::endpoint::{Creation, Reader, Writer};
use crate::listener::Notifications;
use crate::names::{ServiceNames, pair_id};
use crate::qos;
use crate::responses::{Own, Responses};
use crate::sample::{SERVICE_HEADER_BYTES, write_service_header};
use crate::session_state::{NodeMember, SessionState};
use feros_rmw::dds::user_data::EndpointData;
use feros_sync::Mutex;

/// The sequence number in the identity that a request carries: its own number is the server's to
/// see (SEQUENCENUMBER_UNKNOWN).
const UNKNOWN_SEQUENCE_NUMBER: i64 = -1 << 32;

pub(crate) struct FastDdsClient {
    // Dropped first: the announcement goes before the endpoints.
    _member: NodeMember,
    requests: Writer,
    replies: Reader,
    name: String,
    qos: QosProfile,
    force_mapping: Option<ServiceMapping>,
    /// The number in the payload header by which the client knows its own responses.
    header_guid: [u8; 8],
    /// A header holds the number of its request, so numbering and writing must not interleave.
    next_number: Mutex<i64>,
    responses: Arc<Responses>,
}

impl FastDdsClient {
    pub(crate) fn new(
        shared: &Arc<SessionState>,
        qos: QosProfile,
        options: ClientOptions<'_>,
    ) -> Result<Self, CreateEndpointError> {
        let names = ServiceNames::new(options.service, options.type_name)?;
        let id = pair_id(shared.participant.gid);
        let client_id =
            (options.force_mapping == Some(ServiceMapping::PayloadHeader)).then_some(id);
        let data = |type_hash, announcement| {
            EndpointData { type_hash, client_id, announcement, ..EndpointData::default() }.encode()
                + &qos::extras(&qos, false)
        };
        let responses = Arc::new(Responses::new(options.service, options.on_response));
        let accept = responses.clone();
        let request_data = data(options.request_hash, announced(options.announcement));
        // Before the writer, so that servers can answer the first request.
        let creation = Creation {
            names: &names.reply,
            qos: &qos,
            user_data: &data(options.response_hash, None),
            notifications: Notifications {
                on_sample: Some(Arc::new(move |sample| accept.accept(sample))),
                on_match: Some(options.on_match.clone()),
                ..Notifications::default()
            },
        };
        let replies = Reader::new(&shared.participant, &creation)?;
        let creation = Creation {
            names: &names.request,
            qos: &qos,
            user_data: &request_data,
            notifications: Notifications {
                on_match: Some(options.on_match),
                ..Notifications::default()
            },
        };
        let requests = Writer::new(&shared.participant, &creation)?;
        let header_guid = header_guid(&id);
        let (replies_gid, requests_gid) = (replies.gid, requests.gid);
        responses.begin(Own { replies: replies_gid, requests: requests_gid, header: header_guid });
        let member = shared.join_node(
            options.node,
            options.service,
            vec![replies.gid],
            vec![requests.gid],
        )?;
        Ok(Self {
            _member: member,
            requests,
            replies,
            name: options.service.to_owned(),
            qos,
            force_mapping: options.force_mapping,
            header_guid,
            next_number: Mutex::new(1),
            responses,
        })
    }

    fn matched_servers(&self) -> Vec<(Gid, EndpointData)> {
        self.requests.listener_state.matched_data()
    }

    /// Whether the responses of a server that matches reach the client.
    fn is_available(&self, server: Gid, data: &EndpointData) -> bool {
        self.replies.listener_state.matched_data().iter().any(|(gid, other)| {
            match data.service_id {
                Some(id) => other.service_id == Some(id),
                None => gid.participant_prefix() == server.participant_prefix(),
            }
        })
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
}

/// Random enough to differ between the clients of a service: what stock ROS 2 puts there is a local
/// handle.
fn header_guid(id: &[u8; 16]) -> [u8; 8] {
    use std::hash::{BuildHasher, RandomState};
    RandomState::new().hash_one(id).to_le_bytes()
}

impl Client for FastDdsClient {
    fn gid(&self) -> Gid {
        self.requests.gid
    }

    fn qos(&self) -> QosProfile {
        self.qos
    }

    fn service_is_available(&self) -> bool {
        self.matched_servers().iter().any(|(server, data)| self.is_available(*server, data))
    }

    fn servers(&self) -> Vec<ServerMatch> {
        let servers = self.requests.listener_state.matches().into_iter();
        let data = self.matched_servers();
        let is_available =
            |gid| data.iter().any(|(server, data)| *server == gid && self.is_available(gid, data));
        servers.map(|found| ServerMatch { is_available: is_available(found.gid), found }).collect()
    }

    fn response_gid(&self) -> Gid {
        self.replies.gid
    }

    fn forget_ended(&self, server: Gid) {
        self.requests.forget_participant_of(server);
    }

    fn responders(&self) -> Vec<Gid> {
        self.replies.listener_state.matched_gids()
    }

    fn send_request(&self, size_bytes: usize, fill: Fill<'_>) -> Result<i64, PublishError> {
        let now = Stamp::now();
        let mapping = self.mapping()?;
        let offset =
            if mapping == ServiceMapping::PayloadHeader { SERVICE_HEADER_BYTES } else { 0 };
        let mut sample = self.requests.fill(size_bytes, offset, fill)?;
        let mut next_number = self.next_number.lock();
        let related = match mapping {
            ServiceMapping::PayloadHeader => {
                write_service_header(&mut sample, &self.header_guid, *next_number);
                None
            }
            ServiceMapping::RelatedSampleIdentity => {
                Some((self.replies.gid.0, UNKNOWN_SEQUENCE_NUMBER))
            }
        };
        let number = self.requests.write(&sample, now, related)?;
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

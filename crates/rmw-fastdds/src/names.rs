//! The names of endpoints, and the pair ids of services and clients.

use std::sync::atomic::{AtomicU64, Ordering};

use feros_rmw::dds::names::{self, DISCOVERY_TOPIC, DISCOVERY_TYPE};
use feros_rmw::dds::user_data::PairId;
use feros_rmw::{CreateEndpointError, Gid};

/// The names of an endpoint.
#[derive(Debug, Clone)]
pub(crate) struct EndpointNames {
    /// For people.
    pub(crate) ros: String,
    /// On the wire.
    pub(crate) topic: String,
    /// On the wire.
    pub(crate) type_name: String,
}

/// Names of the topic on which participants announce their nodes.
pub(crate) fn discovery_names() -> EndpointNames {
    EndpointNames {
        ros: DISCOVERY_TOPIC.into(),
        topic: DISCOVERY_TOPIC.into(),
        type_name: DISCOVERY_TYPE.into(),
    }
}

/// The wire names of both directions of a service.
pub(crate) struct ServiceNames {
    pub(crate) request: EndpointNames,
    pub(crate) reply: EndpointNames,
}

impl ServiceNames {
    pub(crate) fn new(service: &str, type_name: &str) -> Result<Self, CreateEndpointError> {
        let (request, reply) = names::service_topics(service);
        let side = |topic, suffix| {
            let type_name = names::type_name(type_name, suffix)?;
            Ok(EndpointNames { ros: service.to_owned(), topic, type_name })
        };
        Ok(Self { request: side(request, "_Request")?, reply: side(reply, "_Response")? })
    }
}

/// A number that no other pair of endpoints of this participant has.
pub(crate) fn pair_id(participant: Gid) -> PairId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = u32::try_from(NEXT.fetch_add(1, Ordering::Relaxed)).unwrap_or(u32::MAX);
    let mut id = participant.0;
    id[12..].copy_from_slice(&number.to_be_bytes());
    id
}

/// The RTPS entity kind of a gid says whether it is a reader.
pub(crate) fn is_reader(gid: &[u8; 16]) -> bool {
    matches!(gid[15] & 0x3f, 0x04 | 0x07)
}

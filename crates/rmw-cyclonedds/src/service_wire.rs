//! What servers and clients of services share on the wire: topics, payload header and client ids.

use std::sync::atomic::{AtomicU64, Ordering};

use feros_rmw::CreateEndpointError;
use feros_rmw::dds::names;
use feros_rmw::dds::user_data::PairId;

use crate::sample::{ENCAPSULATION_BYTES, SERVICE_HEADER_BYTES, SampleRef};
use crate::session_state::SessionState;
use crate::topic::EndpointNames;

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

/// Puts the header between encapsulation and message of a sample whose content was filled in behind
/// the header's place.
pub(crate) fn write_service_header(sample: &mut SampleRef, guid: &[u8], number: i64) {
    let bytes = sample.bytes_mut().expect("a sample that was not written has one reference");
    bytes.copy_within(SERVICE_HEADER_BYTES..SERVICE_HEADER_BYTES + ENCAPSULATION_BYTES, 0);
    bytes[4..12].copy_from_slice(guid);
    bytes[12..20].copy_from_slice(&number.to_le_bytes());
}

/// A number that no other pair of endpoints of this participant has.
pub(crate) fn pair_id(shared: &SessionState) -> PairId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = u32::try_from(NEXT.fetch_add(1, Ordering::Relaxed)).unwrap_or(u32::MAX);
    let mut id = shared.participant.gid.0;
    id[12..].copy_from_slice(&number.to_be_bytes());
    id
}

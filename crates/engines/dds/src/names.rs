//! The wire names of endpoints, and the ids that show which two endpoints belong to the same
//! service server or client.

use std::sync::atomic::{AtomicU64, Ordering};

use feros_engine::dds::names::{self, DISCOVERY_TOPIC, DISCOVERY_TYPE};
use feros_engine::dds::user_data::PairId;
use feros_engine::{CreateEndpointError, Created, Gid};

/// The names of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndpointNames {
    /// The name for messages to users.
    pub ros: String,
    /// The topic on the wire.
    pub topic: String,
    /// The type on the wire.
    pub type_name: String,
}

impl EndpointNames {
    /// The error of an operation on this endpoint that failed with this code of the library.
    pub fn failed(
        &self,
        operation: &'static str,
        code: impl std::fmt::Display,
        policies_contradict: bool,
    ) -> CreateEndpointError {
        let name = self.ros.clone();
        if policies_contradict {
            let reason = "the engine says that its policies contradict each other".into();
            return CreateEndpointError::Qos { name, reason };
        }
        CreateEndpointError::Engine { name, operation, code: code.to_string() }
    }

    /// The names of a topic's endpoint; if `as_it_is` is true, the topic has no ROS prefix.
    pub(crate) fn of_topic(topic: &str, type_name: &str, as_it_is: bool) -> Created<Self> {
        let type_name = names::type_name(type_name, "")?;
        Ok(Self { ros: topic.to_owned(), topic: names::topic(topic, as_it_is), type_name })
    }

    /// The names of the topic on which participants announce their nodes.
    pub fn of_discovery() -> Self {
        Self {
            ros: DISCOVERY_TOPIC.into(),
            topic: DISCOVERY_TOPIC.into(),
            type_name: DISCOVERY_TYPE.into(),
        }
    }
}

/// The wire names of a service's requests and replies.
pub(crate) struct ServiceNames {
    pub(crate) request: EndpointNames,
    pub(crate) reply: EndpointNames,
}

impl ServiceNames {
    pub(crate) fn new(service: &str, type_name: &str) -> Created<Self> {
        let (request, reply) = names::service_topics(service);
        let side = |topic, suffix| {
            let type_name = names::type_name(type_name, suffix)?;
            Ok(EndpointNames { ros: service.to_owned(), topic, type_name })
        };
        Ok(Self { request: side(request, "_Request")?, reply: side(reply, "_Response")? })
    }
}

/// Returns an id that no other pair of endpoints of this participant has.
pub(crate) fn pair_id(participant: Gid) -> PairId {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    let number = u32::try_from(NEXT.fetch_add(1, Ordering::Relaxed)).unwrap_or(u32::MAX);
    let mut id = participant.0;
    id[12..].copy_from_slice(&number.to_be_bytes());
    id
}

/// Whether a gid belongs to a reader. This is decided by its RTPS entity kind (DDSI-RTPS 2.5,
/// 9.3.1.2).
pub(crate) fn is_reader(gid: &[u8; 16]) -> bool {
    matches!(gid[15] & 0x3f, 0x04 | 0x07)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entity_kinds() {
        let gid = |kind: u8| {
            let mut gid = [0; 16];
            gid[15] = kind;
            gid
        };
        assert!(is_reader(&gid(0x04)) && is_reader(&gid(0x07)) && is_reader(&gid(0xc4)));
        assert!(!is_reader(&gid(0x03)) && !is_reader(&gid(0x02)) && !is_reader(&gid(0xc1)));
    }
}

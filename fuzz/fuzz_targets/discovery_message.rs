//! Any bytes as the announcements of a DDS participant: those of its nodes, and the USER_DATA of
//! its endpoints. They are refused, or encode to bytes that mean the same.

use feros_rmw::dds::discovery_info::ParticipantEntities;
use feros_rmw::dds::names::{demangle_service_type, demangle_topic, demangle_type};
use feros_rmw::dds::user_data::{EndpointData, parse_enclave};

/// One input: each kind of message in turn.
pub(crate) fn run(bytes: &[u8]) {
    if let Ok(entities) = ParticipantEntities::parse(bytes) {
        // Gids and names take at least as many bytes on the wire as counted here: decoding never
        // invents values.
        let gids: usize =
            entities.nodes.iter().map(|node| node.readers.len() + node.writers.len()).sum();
        assert!(16 * (1 + gids + entities.nodes.len()) <= bytes.len());
        // A NUL inside a name is read but not written.
        if let Ok(again) = entities.encode() {
            assert_eq!(ParticipantEntities::parse(&again).as_ref(), Ok(&entities));
        }
    }
    let data = EndpointData::parse(bytes);
    assert_eq!(EndpointData::parse(data.encode().as_bytes()), data);
    parse_enclave(bytes);
    if let Ok(text) = std::str::from_utf8(bytes) {
        demangle_topic(text);
        demangle_type(text);
        demangle_service_type(text);
    }
}

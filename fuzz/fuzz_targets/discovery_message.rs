//! Reads any bytes as the announcements of a DDS participant: the announcements of its nodes, and
//! the USER_DATA of its endpoints. The bytes are refused, or the result encodes to bytes with the
//! same meaning.

use feros_engine::DiscoveryForm;
use feros_engine::dds::discovery_info::ParticipantEntities;
use feros_engine::dds::library::Library;
use feros_engine::dds::names::{demangle_service_type, demangle_topic, demangle_type};
use feros_engine::dds::user_data::{EndpointData, ParticipantData};

/// Runs one input, as each kind of announcement in turn.
pub(crate) fn run(bytes: &[u8]) {
    if let Ok(entities) = ParticipantEntities::parse(bytes) {
        // The encoded gids and names take at least as many bytes as computed here, since decoding
        // never invents values.
        let gids: usize =
            entities.nodes.iter().map(|node| node.readers.len() + node.writers.len()).sum();
        let gid_bytes = match entities.form {
            DiscoveryForm::Humble => 24,
            DiscoveryForm::SinceIron => 16,
        };
        assert!(gid_bytes * (1 + gids) + 16 * entities.nodes.len() <= bytes.len());
        // A NUL inside a name is read but not written.
        if let Ok(again) = entities.encode() {
            assert_eq!(ParticipantEntities::parse(&again).as_ref(), Ok(&entities));
            // The same nodes in the other form are read in that form.
            let form = match entities.form {
                DiscoveryForm::Humble => DiscoveryForm::SinceIron,
                DiscoveryForm::SinceIron => DiscoveryForm::Humble,
            };
            let other = ParticipantEntities { form, ..entities };
            if let Ok(bytes) = other.encode() {
                assert_eq!(ParticipantEntities::parse(&bytes), Ok(other));
            }
        }
    }
    let data = EndpointData::parse(bytes);
    assert_eq!(EndpointData::parse(data.encode().as_bytes()), data);
    let participant = ParticipantData::parse(bytes);
    assert_eq!(ParticipantData::parse(participant.encode().as_bytes()), participant);
    if let Ok(text) = std::str::from_utf8(bytes) {
        Library::parse(text);
        demangle_topic(text);
        demangle_type(text);
        demangle_service_type(text);
    }
}

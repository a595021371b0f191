//! A received sample: its bytes, where they lie, and what is known of it.

use std::fmt;
use std::time::SystemTime;

use crate::gid::Gid;

/// Bytes that an engine lends as long as this value lives: the sample's memory goes back when it is dropped.
pub trait PayloadBytes: Send + Sync {
    /// The serialized message with its 4-byte encapsulation header; what follows the header is aligned to 8 bytes
    /// where the engine controls it. Never blocks, never allocates.
    fn bytes(&self) -> &[u8];
}

impl PayloadBytes for Vec<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }
}

/// The serialized message of a [`Sample`], lent by the engine.
pub struct Payload(Box<dyn PayloadBytes>);

impl Payload {
    /// Takes over bytes that an engine lends.
    pub fn new(bytes: impl PayloadBytes + 'static) -> Self {
        Self(Box::new(bytes))
    }
}

impl std::ops::Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({} bytes)", self.len())
    }
}

/// What is known of a received message besides its content, as in `rmw_message_info_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageInfo {
    /// When the publisher published, by the publisher's clock.
    pub source_timestamp: Option<SystemTime>,
    /// When the engine received it, by this machine's clock.
    pub received_timestamp: Option<SystemTime>,
    /// Number of the message at its publisher, from 1.
    pub publication_sequence_number: Option<u64>,
    /// Who published.
    pub publisher_gid: Gid,
    /// Whether the publisher belongs to the same session.
    pub from_same_session: bool,
}

/// A received message: serialized bytes and information.
#[derive(Debug)]
pub struct Sample {
    /// The serialized message.
    pub payload: Payload,
    /// What is known of it.
    pub info: MessageInfo,
}

/// Identity of a service request: the 24 bytes of `rmw_request_id_t`, and how the reply has to travel.
///
/// Opaque to all but the engine that made it; a response carries it back unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestId {
    /// Who asked.
    pub client: [u8; 16],
    /// Number of the request at its client.
    pub sequence_number: i64,
    /// How the client expects its reply.
    pub mapping: crate::ServiceMapping,
}

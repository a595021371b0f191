//! A message that has been taken, and its metadata.

use std::time::SystemTime;

use feros_engine::{Gid, MessageInfo, Sample, Stamp};
use feros_trace::{MessageId, Transport};

use crate::intra_process::queue::{Envelope, Object};
use crate::local_connection::ConnectionMessage;

/// A message that has been taken but not inspected yet.
#[derive(Debug)]
pub struct Received<O> {
    object: O,
    origin: Origin,
}

/// The source of the information about a message. The information is put together only for
/// callbacks that ask for it.
#[derive(Debug)]
enum Origin {
    Engine(MessageInfo),
    SharedMemory {
        envelope: Envelope,
        received: Stamp,
    },
    /// A message that arrived over the intra-process transport. `session` is the participant of the
    /// subscription.
    IntraProcess {
        envelope: Envelope,
        session: Gid,
    },
}

impl<O: Object> Received<O> {
    /// Makes a value from a message of a publisher of this process. `session` is the participant of
    /// the subscription.
    pub(super) fn from_this_process(envelope: Envelope, object: O, session: Gid) -> Self {
        Self { object, origin: Origin::IntraProcess { envelope, session } }
    }

    pub(super) fn from_this_host(message: ConnectionMessage) -> Self {
        let ConnectionMessage { envelope, received, payload } = message;
        Self { object: O::from(payload), origin: Origin::SharedMemory { envelope, received } }
    }

    pub(super) fn from_engine(sample: Sample) -> Self {
        let Sample { payload, info } = sample;
        Self { object: O::from(payload), origin: Origin::Engine(info) }
    }

    /// The message itself.
    pub fn into_object(self) -> O {
        self.object
    }

    /// A reference to the message itself.
    pub fn object(&self) -> &O {
        &self.object
    }

    /// The size of the message if it is serialized, and otherwise 0.
    pub fn size_bytes(&self) -> usize {
        self.object.size_bytes()
    }

    /// The transport that the message took.
    pub fn transport(&self) -> Transport {
        match &self.origin {
            Origin::Engine(_) => Transport::Network,
            Origin::SharedMemory { .. } => Transport::SharedMemory,
            Origin::IntraProcess { .. } => Transport::IntraProcess,
        }
    }

    /// The publisher of the message.
    pub fn publisher(&self) -> Gid {
        match &self.origin {
            Origin::Engine(info) => info.publisher_gid,
            Origin::SharedMemory { envelope, .. } | Origin::IntraProcess { envelope, .. } => {
                envelope.publisher
            }
        }
    }

    /// The information about the message other than its content.
    pub fn info(&self) -> MessageInfo {
        let known = |envelope: &Envelope| MessageInfo {
            source_timestamp: envelope.stamp.to_system_time(),
            received_timestamp: None,
            publication_sequence_number: Some(envelope.number),
            publisher_gid: envelope.publisher,
            from_same_session: false,
        };
        match &self.origin {
            Origin::Engine(info) => *info,
            Origin::SharedMemory { envelope, received } => {
                MessageInfo { received_timestamp: received.to_system_time(), ..known(envelope) }
            }
            Origin::IntraProcess { envelope, session } => MessageInfo {
                received_timestamp: Some(SystemTime::now()),
                from_same_session: envelope.publisher.is_of_session_of(session),
                ..known(envelope)
            },
        }
    }

    /// The message's identity for trace points.
    pub fn traced(&self) -> MessageId {
        match &self.origin {
            Origin::Engine(info) => MessageId {
                publisher: info.publisher_gid.0,
                stamp: info.stamp().unwrap_or(Stamp(i64::MIN)).0,
                number: info.publication_sequence_number.unwrap_or(0),
            },
            Origin::SharedMemory { envelope, .. } | Origin::IntraProcess { envelope, .. } => {
                envelope.id()
            }
        }
    }
}

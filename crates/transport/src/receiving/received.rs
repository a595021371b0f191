//! A message as it was taken, and what is known of it.

use std::time::SystemTime;

use feros_rmw::{Gid, MessageInfo, Sample, Stamp};
use feros_trace::{MessageId, Transport};

use crate::intra_process::queue::{Envelope, Object};
use crate::receiving::reorder::Next;

/// A message that was taken and not looked at yet.
#[derive(Debug)]
pub struct Received<O> {
    object: O,
    transport: Transport,
    origin: Origin,
}

/// Where the information about a message comes from; it is put together only for callbacks that ask
/// for it.
#[derive(Debug)]
enum Origin {
    Info(MessageInfo),
    /// With the participant of the subscription.
    Process(Envelope, [u8; 12]),
}

impl<O: Object> Received<O> {
    /// `session` is the participant of the subscription.
    pub(super) fn new(next: Next<O>, session: [u8; 12]) -> Self {
        match next {
            Next::Object(envelope, object) => Self {
                object,
                transport: Transport::IntraProcess,
                origin: Origin::Process(envelope, session),
            },
            Next::Sample(Sample { payload, info }, transport) => {
                Self { object: O::from(payload), transport, origin: Origin::Info(info) }
            }
        }
    }

    /// The message itself.
    pub fn into_object(self) -> O {
        self.object
    }

    /// The message itself, to be looked at.
    pub fn object(&self) -> &O {
        &self.object
    }

    /// Its size where it is serialized, else 0.
    pub fn size_bytes(&self) -> usize {
        self.object.size_bytes()
    }

    /// How the message came.
    pub fn transport(&self) -> Transport {
        self.transport
    }

    /// Who published it.
    pub fn publisher(&self) -> Gid {
        match &self.origin {
            Origin::Info(info) => info.publisher_gid,
            Origin::Process(envelope, _) => envelope.publisher,
        }
    }

    /// What is known of the message besides its content.
    pub fn info(&self) -> MessageInfo {
        match &self.origin {
            Origin::Info(info) => *info,
            Origin::Process(envelope, session) => MessageInfo {
                source_timestamp: envelope.stamp.to_system_time(),
                received_timestamp: Some(SystemTime::now()),
                publication_sequence_number: Some(envelope.number),
                publisher_gid: envelope.publisher,
                from_same_session: envelope.publisher.participant_prefix() == *session,
            },
        }
    }

    /// The message for trace points.
    pub fn traced(&self) -> MessageId {
        match &self.origin {
            Origin::Info(info) => MessageId {
                publisher: info.publisher_gid.0,
                stamp: info.stamp().unwrap_or(Stamp(i64::MIN)).0,
                number: info.publication_sequence_number.unwrap_or(0),
            },
            Origin::Process(envelope, _) => envelope.id(),
        }
    }
}

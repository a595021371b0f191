//! A message as it arrived, by whichever transport, on its way into the form that a callback takes.

use std::sync::Arc;
use std::time::SystemTime;

use feros_message::{DecodeError, Message};
use feros_rmw::{Gid, MessageInfo, Payload, Sample};

use crate::message_forms::{SerializedMessage, View};
use crate::transports::inbox::{Content, Envelope, Item};

/// A message that was taken and not looked at yet.
pub struct Received<M> {
    content: Content<M>,
    origin: Origin,
}

/// Where the information about a message comes from; it is put together only for callbacks that ask
/// for it.
enum Origin {
    Info(MessageInfo),
    Process(Envelope, [u8; 12]),
}

impl<M> Received<M> {
    pub(crate) fn from_sample(sample: Sample) -> Self {
        Self { content: Content::Bytes(sample.payload), origin: Origin::Info(sample.info) }
    }

    /// `session` is the participant of the subscription.
    pub(crate) fn from_item((envelope, content): Item<M>, session: [u8; 12]) -> Self {
        Self { content, origin: Origin::Process(envelope, session) }
    }

    pub(crate) fn publisher(&self) -> Gid {
        match &self.origin {
            Origin::Info(info) => info.publisher_gid,
            Origin::Process(envelope, _) => envelope.publisher,
        }
    }

    /// Its bytes, if it came as such.
    pub(crate) fn into_bytes(self) -> Option<Payload> {
        match self.content {
            Content::Bytes(payload) => Some(payload),
            Content::Owned(_) | Content::Shared(_) => None,
        }
    }

    /// Its size where it is serialized.
    pub(crate) fn size_bytes(&self) -> usize {
        match &self.content {
            Content::Bytes(payload) => payload.len(),
            Content::Owned(_) | Content::Shared(_) => 0,
        }
    }

    pub(crate) fn info(&self) -> MessageInfo {
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
}

impl<M: Message> Received<M> {
    /// A message of one's own: moved, or cloned where others still read it, or decoded.
    pub(crate) fn into_owned(self) -> Result<M, DecodeError> {
        match self.content {
            Content::Owned(message) => Ok(message),
            Content::Shared(message) => Ok(Arc::unwrap_or_clone(message)),
            Content::Bytes(payload) => feros_message::from_bytes(&payload),
        }
    }

    /// A message that others may read as well.
    pub(crate) fn into_shared(self) -> Result<Arc<M>, DecodeError> {
        match self.content {
            Content::Owned(message) => Ok(Arc::new(message)),
            Content::Shared(message) => Ok(message),
            Content::Bytes(payload) => feros_message::from_bytes(&payload).map(Arc::new),
        }
    }

    pub(crate) fn into_view(self) -> Result<View<M>, DecodeError> {
        View::new(self.into_payload())
    }

    pub(crate) fn into_serialized(self) -> SerializedMessage {
        SerializedMessage::new(self.into_payload())
    }

    /// Publishers hand over bytes where bytes are wanted; the rest is for completeness. A message
    /// that violates its type becomes no bytes at all, which whoever reads them refuses and counts.
    fn into_payload(self) -> Payload {
        let serialized =
            |message: &M| Payload::new(feros_message::to_vec(message).unwrap_or_default());
        match self.content {
            Content::Bytes(payload) => payload,
            Content::Owned(message) => serialized(&message),
            Content::Shared(message) => serialized(&message),
        }
    }
}

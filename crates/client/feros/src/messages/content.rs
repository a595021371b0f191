//! The message forms that the intra-process transport carries between typed endpoints: owned
//! structs, shared structs, or bytes.

use std::sync::Arc;

use feros_engine::Payload;
use feros_message::{DecodeError, Message};
use feros_transport::Object;

use super::forms::{SerializedMessage, View};

/// The form in which a subscription's callback takes messages. A publisher of the same process
/// hands messages over in this form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Want {
    /// A message that the callback owns.
    Owned,
    /// A message that other callbacks may read as well.
    Shared,
    /// Serialized bytes, for views and raw messages.
    Bytes,
}

/// A message that waits for its subscription, in one of these forms.
#[derive(Debug)]
pub enum Content<M> {
    /// A message that belongs to the subscription.
    Owned(M),
    /// A message that other callbacks may read as well.
    Shared(Arc<M>),
    /// Serialized bytes.
    Bytes(Payload),
}

impl<M> From<Payload> for Content<M> {
    fn from(bytes: Payload) -> Self {
        Self::Bytes(bytes)
    }
}

impl<M: Send + Sync + 'static> Object for Content<M> {
    type Wish = Want;

    fn size_bytes(&self) -> usize {
        match self {
            Self::Bytes(payload) => payload.len(),
            Self::Owned(_) | Self::Shared(_) => 0,
        }
    }
}

impl<M: Message> Content<M> {
    /// Returns an owned message. A shared message is cloned only if other callbacks still use it;
    /// bytes are decoded.
    pub(crate) fn into_owned(self) -> Result<M, DecodeError> {
        match self {
            Self::Owned(message) => Ok(message),
            Self::Shared(message) => Ok(Arc::unwrap_or_clone(message)),
            Self::Bytes(payload) => feros_message::from_bytes(&payload),
        }
    }

    /// Returns a message that other callbacks may read as well.
    pub(crate) fn into_shared(self) -> Result<Arc<M>, DecodeError> {
        match self {
            Self::Owned(message) => Ok(Arc::new(message)),
            Self::Shared(message) => Ok(message),
            Self::Bytes(payload) => feros_message::from_bytes(&payload).map(Arc::new),
        }
    }

    pub(crate) fn into_view(self) -> Result<View<M>, DecodeError> {
        View::new(self.into_payload())
    }

    pub(crate) fn into_serialized(self) -> SerializedMessage {
        SerializedMessage::new(self.into_payload())
    }

    /// Returns the serialized bytes. Publishers hand over bytes when bytes are wanted, so the
    /// message is normally serialized already. A message that violates its type becomes empty
    /// bytes, which the reader refuses and counts.
    fn into_payload(self) -> Payload {
        match self {
            Self::Bytes(payload) => payload,
            Self::Owned(message) => serialized(&message),
            Self::Shared(message) => serialized(&*message),
        }
    }
}

#[cold]
fn serialized<M: Message>(message: &M) -> Payload {
    Payload::new(feros_message::to_vec(message).unwrap_or_default())
}

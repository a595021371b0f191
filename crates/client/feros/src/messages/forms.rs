//! Two forms of a received message besides the owned struct: a view, which reads the message where
//! it arrived, and raw bytes.

use std::fmt;
use std::marker::PhantomData;

use feros_engine::Payload;
use feros_message::{DecodeError, Message};

/// A received message that is read in the memory in which it arrived, without a copy.
///
/// A view occupies that memory as long as it lives. Drop it soon, and copy the parts that you want
/// to keep.
///
/// ```
/// use feros::View;
/// use feros::msgs::sensor_msgs::msg::Image;
///
/// fn brightness(image: &View<Image>) -> u64 {
///     image.get().data.iter().map(|byte| u64::from(*byte)).sum()
/// }
/// # let _ = brightness;
/// ```
pub struct View<M> {
    payload: Payload,
    message: PhantomData<fn() -> M>,
}

impl<M: Message> View<M> {
    pub(crate) fn new(payload: Payload) -> Result<Self, DecodeError> {
        feros_message::view::<M>(&payload)?;
        Ok(Self { payload, message: PhantomData })
    }

    /// Returns the message's fields, which refer to the received memory: strings are `&str`, byte
    /// arrays are `&[u8]`, and sequences of numbers are slices.
    ///
    /// The call takes time in proportion to the number of fields, not to the size of the data, and
    /// allocates nothing.
    pub fn get(&self) -> M::View<'_> {
        feros_message::view::<M>(&self.payload).expect("was read once when the view was made")
    }

    /// Returns the message as an owned struct.
    pub fn to_owned(&self) -> M {
        feros_message::from_bytes(&self.payload).expect("was read once when the view was made")
    }

    /// Returns the message as it arrived: serialized, with its 4-byte header.
    pub fn serialized(&self) -> &[u8] {
        &self.payload
    }
}

impl<M: Message> fmt::Debug for View<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.get(), f)
    }
}

/// A serialized message: CDR bytes with their 4-byte header. The content has not been checked.
#[derive(Debug)]
pub struct SerializedMessage(Payload);

impl SerializedMessage {
    pub(crate) fn new(payload: Payload) -> Self {
        Self(payload)
    }

    /// Decodes the message.
    ///
    /// # Errors
    /// When the bytes are not a valid `M`.
    pub fn decode<M: Message>(&self) -> Result<M, DecodeError> {
        feros_message::from_bytes(&self.0)
    }
}

impl std::ops::Deref for SerializedMessage {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Vec<u8>> for SerializedMessage {
    /// Takes over bytes from another source, such as a recording.
    fn from(bytes: Vec<u8>) -> Self {
        Self(Payload::new(bytes))
    }
}

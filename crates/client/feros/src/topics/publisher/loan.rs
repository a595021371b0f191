//! Loans: messages that are built in the memory from which subscriptions read them.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use feros_message::{BuildError, Message};
use feros_trace::Outbound;
use feros_transport::Publisher;

use crate::messages::serialize::check_header;
use crate::publish_error::PublishError;

/// A loan: memory for one message of a publisher, whose strings and sequences have fixed sizes; see
/// [`Publisher::loan`](crate::Publisher::loan).
///
/// If the loan is dropped without being published, the memory is returned.
#[must_use = "the memory of a loan that is not published is returned"]
pub struct Loan<M> {
    end: Arc<Publisher>,
    memory: feros_transport::Loan,
    message: PhantomData<fn() -> M>,
}

impl<M: Message> Loan<M> {
    pub(crate) fn new(end: &Arc<Publisher>, shape: &M::Shape<'_>) -> Result<Self, PublishError> {
        let shape_error =
            |source: BuildError| PublishError::Shape { topic: end.topic().to_owned(), source };
        let size_bytes = feros_message::shaped_size::<M>(shape).map_err(shape_error)?;
        let mut memory = end.lend(size_bytes)?;
        feros_message::build::<M>(shape, memory.bytes_mut()).map_err(shape_error)?;
        Ok(Self { end: Arc::clone(end), memory, message: PhantomData })
    }

    /// Returns the message's fields for writing.
    ///
    /// The fields start with the message's defaults, except sequences of numbers: these contain
    /// data of an earlier message, so write every element of them.
    ///
    /// # Errors
    /// [`PublishError::Overwritten`] when another process has overwritten the shared memory. Memory
    /// that is not shared always keeps its layout, because the sizes cannot be changed through the
    /// fields.
    pub fn fields(&mut self) -> Result<M::Fields<'_>, PublishError> {
        let overwritten = |source: BuildError| PublishError::Overwritten {
            topic: self.end.topic().to_owned(),
            source,
        };
        feros_message::fields::<M>(self.memory.bytes_mut()).map_err(overwritten)
    }

    /// Whether the memory is shared memory, from which other processes of this host read directly.
    pub fn is_shared(&self) -> bool {
        self.memory.is_shared()
    }

    /// Publishes the message. Subscriptions on the shared-memory transport read it from the lent
    /// memory; for subscriptions on other transports, the serialized message is copied once.
    ///
    /// # Errors
    /// See [`Publisher::publish`](crate::Publisher::publish).
    pub fn publish(self) -> Result<(), PublishError> {
        Ok(self.end.publish_loan(self.memory, &mut Outbound::publish())?)
    }
}

/// A loan: memory for one serialized message of a publisher, including its 4-byte header; see
/// [`GenericPublisher::loan_serialized`](crate::GenericPublisher::loan_serialized).
///
/// If the loan is dropped without being published, the memory is returned.
#[must_use = "the memory of a loan that is not published is returned"]
pub struct SerializedLoan {
    end: Arc<Publisher>,
    memory: feros_transport::Loan,
}

impl SerializedLoan {
    pub(crate) fn new(end: &Arc<Publisher>, size_bytes: usize) -> Result<Self, PublishError> {
        Ok(Self { end: Arc::clone(end), memory: end.lend(size_bytes)? })
    }

    /// Returns the memory for writing. The memory contains data of an earlier message. The body,
    /// from byte 4 on, is aligned to 8 bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.memory.bytes_mut()
    }

    /// Whether the memory is shared memory, from which other processes of this host read directly.
    pub fn is_shared(&self) -> bool {
        self.memory.is_shared()
    }

    /// Publishes the message. Only the header is checked.
    ///
    /// # Errors
    /// See [`GenericPublisher::publish_serialized`](crate::GenericPublisher::publish_serialized).
    pub fn publish(mut self) -> Result<(), PublishError> {
        check_header(self.memory.bytes_mut(), self.end.topic())?;
        Ok(self.end.publish_loan(self.memory, &mut Outbound::publish())?)
    }
}

impl fmt::Debug for SerializedLoan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SerializedLoan").field("bytes", &self.memory.len()).finish_non_exhaustive()
    }
}

impl<M> fmt::Debug for Loan<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loan").field("bytes", &self.memory.len()).finish_non_exhaustive()
    }
}

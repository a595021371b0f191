//! Messages that are built in the memory where subscriptions read them.

use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use feros_message::{BuildError, Message};
use feros_trace::Outbound;
use feros_transport::Publisher;

use crate::publish_error::PublishError;
use crate::serialize::check_header;

/// Memory for one message of a publisher, with all sizes fixed; see
/// [`Publisher::loan`](crate::Publisher::loan).
///
/// If it is dropped without being published, the memory is returned.
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

    /// The message's fields, to write in place.
    ///
    /// They start with the message's defaults, except sequences of numbers: those hold data of an
    /// earlier message, so write all of them.
    ///
    /// # Errors
    /// [`PublishError::Overwritten`] when another process wrote over the shared memory. The sizes
    /// cannot be changed through the fields, so memory of this process always keeps its layout.
    pub fn fields(&mut self) -> Result<M::Fields<'_>, PublishError> {
        let overwritten = |source: BuildError| PublishError::Overwritten {
            topic: self.end.topic().to_owned(),
            source,
        };
        feros_message::fields::<M>(self.memory.bytes_mut()).map_err(overwritten)
    }

    /// Whether the memory is shared memory, which other processes of this host read in place.
    pub fn is_shared(&self) -> bool {
        self.memory.is_shared()
    }

    /// Publishes the message. Subscriptions on the shared-memory transport read it where it is; for
    /// subscriptions on other transports it is copied once, as bytes.
    ///
    /// # Errors
    /// See [`Publisher::publish`](crate::Publisher::publish).
    pub fn publish(self) -> Result<(), PublishError> {
        Ok(self.end.publish_loan(self.memory, &mut Outbound::publish())?)
    }
}

/// Memory for one serialized message of a publisher, its 4-byte header included; see
/// [`GenericPublisher::loan_serialized`](crate::GenericPublisher::loan_serialized).
///
/// If it is dropped without being published, the memory is returned.
#[must_use = "the memory of a loan that is not published is returned"]
pub struct SerializedLoan {
    end: Arc<Publisher>,
    memory: feros_transport::Loan,
}

impl SerializedLoan {
    pub(crate) fn new(end: &Arc<Publisher>, size_bytes: usize) -> Result<Self, PublishError> {
        Ok(Self { end: Arc::clone(end), memory: end.lend(size_bytes)? })
    }

    /// The memory to write: it holds data of an earlier message. The body, from byte 4 on, is
    /// aligned to 8 bytes.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.memory.bytes_mut()
    }

    /// Whether the memory is shared memory, which other processes of this host read in place.
    pub fn is_shared(&self) -> bool {
        self.memory.is_shared()
    }

    /// Publishes the message. Its content is not checked beyond the header.
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

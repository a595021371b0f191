//! A message that is being sent: the forms in which it already exists, and the memory that holds
//! them.

use std::sync::Arc;

use feros_engine::FillAborted;
use feros_shm::HostLoan;
use feros_trace::Outbound;

use crate::bytes::{Buffer, BufferPool};
use crate::sending::outgoing::{Built, Outgoing, fill};

/// Memory that a publisher lends for one message, in which the message is built.
pub struct Loan(pub(super) Memory);

pub(super) enum Memory {
    Shared(HostLoan),
    Local(Arc<Buffer>),
}

impl Loan {
    /// The size of the message, including the 4-byte header.
    pub fn len(&self) -> usize {
        match &self.0 {
            Memory::Shared(loan) => loan.len(),
            Memory::Local(buffer) => buffer.len(),
        }
    }

    /// Whether the message has no bytes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether this is shared memory, which other processes of this host read without a copy.
    pub fn is_shared(&self) -> bool {
        matches!(self.0, Memory::Shared(_))
    }

    /// The memory into which the message is written.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Memory::Shared(loan) => loan,
            Memory::Local(buffer) => Arc::get_mut(buffer)
                .expect("nobody else knows the buffer before it is published")
                .bytes_mut(),
        }
    }
}

/// A message, together with the memory that already holds its bytes.
pub(super) struct Prepared<M> {
    pub(super) message: M,
    /// The bytes in a buffer of this process.
    pub(super) bytes: Option<Arc<Buffer>>,
    /// The bytes in shared memory.
    pub(super) loan: Option<HostLoan>,
}

impl<M: Outgoing> Prepared<M> {
    /// A message that has no bytes yet.
    pub(super) fn new(message: M) -> Self {
        Self { message, bytes: None, loan: None }
    }

    pub(super) fn size_bytes(&self) -> usize {
        match (&self.bytes, &self.loan) {
            (Some(bytes), _) => bytes.len(),
            (None, Some(loan)) => loan.len(),
            (None, None) => self.message.size_bytes(),
        }
    }

    /// Writes the message into memory of exactly its size. If the bytes already exist, copies them;
    /// otherwise, serializes the message.
    pub(super) fn write(
        &mut self,
        memory: &mut [u8],
        trace: &mut Outbound,
    ) -> Result<(), FillAborted> {
        match (&self.bytes, &self.loan) {
            (Some(bytes), _) => memory.copy_from_slice(bytes.as_slice()),
            (None, Some(loan)) => memory.copy_from_slice(loan),
            (None, None) => fill(&mut self.message, memory, trace)?,
        }
        Ok(())
    }

    /// Ensures that a buffer holds the bytes of the message.
    pub(super) fn make_bytes(
        &mut self,
        buffer: impl FnOnce(usize) -> Arc<Buffer>,
        trace: &mut Outbound,
    ) -> Result<(), FillAborted> {
        if self.bytes.is_none() {
            let mut buffer = buffer(self.size_bytes());
            let memory = Arc::get_mut(&mut buffer).expect("a buffer that nobody else uses");
            self.write(memory.bytes_mut(), trace)?;
            self.bytes = Some(buffer);
        }
        Ok(())
    }
}

impl Prepared<Built> {
    /// Prepares a message that was built in memory lent by the publisher.
    pub(super) fn built(loan: Loan) -> Self {
        let message = Built { size_bytes: loan.len() };
        match loan.0 {
            Memory::Shared(loan) => Self { message, bytes: None, loan: Some(loan) },
            Memory::Local(buffer) => Self { message, bytes: Some(buffer), loan: None },
        }
    }
}

/// Lends a buffer of this process, in which a message can be built.
pub(super) fn local_loan(buffers: &mut BufferPool, size_bytes: usize) -> Loan {
    Loan(Memory::Local(buffers.get(size_bytes)))
}

//! A message on its way out: what a publish asks of it, whatever form it has, and the memory that
//! one was built in.

use std::sync::Arc;

use feros_rmw::{FillAborted, Payload, PayloadBytes};
use feros_shm::HostLoan;
use feros_trace::{Outbound, Point};

use crate::transports::buffer::Buffer;
use crate::transports::inbox::Envelope;
use crate::transports::routes::ProcessRoute;

/// What a message has to offer to a publish.
pub(crate) trait Outgoing {
    /// Its size when serialized.
    fn size_bytes(&self) -> usize;
    /// Serializes it.
    fn fill(&mut self, memory: &mut [u8]) -> Result<(), FillAborted>;
    /// Whether one of the subscriptions of this process takes it as bytes.
    fn wants_bytes(&self, process: &[ProcessRoute]) -> bool;
    /// Puts it into the inboxes of this process, and says so to those who wait there. `bytes` is
    /// there if they were asked for.
    fn put(&mut self, process: &[ProcessRoute], envelope: Envelope, bytes: Option<&Arc<Buffer>>);
}

/// Serializes the message.
pub(super) fn fill(
    message: &mut impl Outgoing,
    memory: &mut [u8],
    trace: &mut Outbound,
) -> Result<(), FillAborted> {
    trace.pass(Point::SerializeBegin);
    let filled = message.fill(memory);
    trace.pass(Point::SerializeEnd);
    filled
}

/// Memory in which a message was built.
pub(crate) enum Built {
    Host(HostLoan),
    Local(Arc<Buffer>),
}

impl Built {
    pub(crate) fn len(&self) -> usize {
        match self {
            Self::Host(loan) => loan.len(),
            Self::Local(buffer) => buffer.len(),
        }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Host(loan) => loan,
            Self::Local(buffer) => Arc::get_mut(buffer)
                .expect("nobody else knows it before it is published")
                .bytes_mut(),
        }
    }
}

/// Serialized bytes as something to publish.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Outgoing for Bytes<'_> {
    fn size_bytes(&self) -> usize {
        self.0.len()
    }

    fn fill(&mut self, memory: &mut [u8]) -> Result<(), FillAborted> {
        if self.0.is_empty() {
            return Err(FillAborted); // they were in shared memory, which did not take them
        }
        memory.copy_from_slice(self.0);
        Ok(())
    }

    fn wants_bytes(&self, process: &[ProcessRoute]) -> bool {
        !process.is_empty()
    }

    fn put(&mut self, process: &[ProcessRoute], envelope: Envelope, bytes: Option<&Arc<Buffer>>) {
        for route in process {
            if let Some(bytes) = bytes {
                route.inbox.put_bytes(route.address(envelope), lend(bytes));
            }
            route.wake(&envelope);
        }
    }
}

/// A pooled buffer that one more subscription reads.
struct Lent(Arc<Buffer>);

impl PayloadBytes for Lent {
    fn bytes(&self) -> &[u8] {
        self.0.as_slice()
    }
}

/// Bytes of a pooled buffer for one more inbox.
pub(crate) fn lend(bytes: &Arc<Buffer>) -> Payload {
    Payload::new(Lent(Arc::clone(bytes)))
}

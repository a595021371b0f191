//! The interface of a message that is published, no matter which form it has.

use feros_engine::FillAborted;
use feros_trace::{Outbound, Point};

use crate::intra_process::delivery::{Delivery, IntraProcessRoute};

/// A message that a client library publishes. It may be a struct, a pointer or bytes.
pub trait Outgoing {
    /// The size of the serialized message, including the 4-byte header.
    fn size_bytes(&self) -> usize;

    /// Serializes the message into memory of exactly that size.
    ///
    /// # Errors
    /// The message cannot be serialized. The implementation must store the reason itself. In this
    /// case, nothing is sent.
    fn fill(&mut self, memory: &mut [u8]) -> Result<(), FillAborted>;

    /// Whether at least one subscription of this process takes the message as bytes. By default,
    /// all of them do.
    fn wants_bytes(&self, routes: &[IntraProcessRoute]) -> bool {
        !routes.is_empty()
    }

    /// Gives the message to the subscriptions of this process, by default as bytes. This is called
    /// at most once, after all transports that need bytes have received them.
    fn deliver(&mut self, delivery: &Delivery<'_>) {
        delivery.routes().iter().for_each(|route| delivery.put_bytes(route));
    }
}

impl<M: Outgoing> Outgoing for &mut M {
    fn size_bytes(&self) -> usize {
        (**self).size_bytes()
    }

    fn fill(&mut self, memory: &mut [u8]) -> Result<(), FillAborted> {
        (**self).fill(memory)
    }

    fn wants_bytes(&self, routes: &[IntraProcessRoute]) -> bool {
        (**self).wants_bytes(routes)
    }

    fn deliver(&mut self, delivery: &Delivery<'_>) {
        (**self).deliver(delivery);
    }
}

/// Serializes the message, with a trace point before and a trace point after this.
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

/// Serialized bytes that are published as a message.
pub(crate) struct Bytes<'a>(pub(crate) &'a [u8]);

impl Outgoing for Bytes<'_> {
    fn size_bytes(&self) -> usize {
        self.0.len()
    }

    fn fill(&mut self, memory: &mut [u8]) -> Result<(), FillAborted> {
        memory.copy_from_slice(self.0);
        Ok(())
    }
}

/// A message that was built in memory lent by the publisher. It has no other form.
pub(super) struct Built {
    pub(super) size_bytes: usize,
}

impl Outgoing for Built {
    fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    fn fill(&mut self, _: &mut [u8]) -> Result<(), FillAborted> {
        Err(FillAborted) // the message was in shared memory, and could not be sent from there
    }
}

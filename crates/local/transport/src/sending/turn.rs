//! The turn of a message to be sent. During its turn, a message is sent over all transports with
//! the same stamp and the same number, so that all transports have the same order.

use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use feros_engine::{Gid, Stamp};
use feros_shm::{HostLoan, SampleHeader, Transport};
use feros_trace::{MessageId, Outbound, Point};

use crate::intra_process::delivery::Delivery;
use crate::intra_process::queue::Envelope;
use crate::routing::Routes;
use crate::sending::endpoint::SendingEndpoint;
use crate::sending::error::PublishError;
use crate::sending::message::Prepared;
use crate::sending::outgoing::Outgoing;

/// The number of messages between two checks of the use of the pool.
const POOL_LOOK: u64 = 64;

/// The state that successive publishes share. It is locked while a message is sent, so that all
/// transports have the same order.
pub(super) struct Order {
    last_stamp: Stamp,
    number: u64,
    /// Whether the engine has sent messages for which shared memory had no room. Until these
    /// messages have arrived, later messages take the network transport too. If the later messages
    /// took shared memory, they would overtake the earlier messages, which would then be dropped as
    /// old messages.
    is_falling_back: bool,
}

impl Default for Order {
    fn default() -> Self {
        Self { last_stamp: Stamp::MIN, number: 0, is_falling_back: false }
    }
}

impl Order {
    pub(super) fn next_number(&self) -> u64 {
        self.number + 1
    }
}

pub(super) struct Turn<'a> {
    pub(super) endpoint: &'a SendingEndpoint,
    pub(super) routes: &'a Arc<Routes>,
    pub(super) order: MutexGuard<'a, Order>,
}

/// The stamp and the number of the message whose turn it is.
#[derive(Clone, Copy)]
struct Identity {
    publisher: Gid,
    stamp: Stamp,
    number: u64,
}

impl Identity {
    /// The message's identity for trace points.
    fn traced(self) -> MessageId {
        MessageId { publisher: self.publisher.0, stamp: self.stamp.0, number: self.number }
    }
}

impl Turn<'_> {
    /// Sends a prepared message.
    pub(super) fn send<M: Outgoing>(
        mut self,
        prepared: &mut Prepared<M>,
        trace: &mut Outbound,
    ) -> Result<(), PublishError> {
        let (endpoint, routes) = (self.endpoint, self.routes);
        let message = self.next_message();
        trace.name(&endpoint.traced, || message.traced());
        let falls_back = self.send_by_shared_memory(prepared, message);
        let needs_engine = routes.needs_engine || falls_back;
        // The engine sends first only if the serialized message is not in a buffer of this process,
        // which is rare. In that case, the engine may need the message itself, and the delivery
        // within the process may give the message away.
        let engine_first = needs_engine && prepared.bytes.is_none();
        if engine_first {
            self.send_by_network(prepared, message, trace)?;
        }
        if !routes.intra_process.is_empty() {
            self.send_in_process(prepared, message);
        }
        if needs_engine && !engine_first {
            self.send_by_network(prepared, message, trace)?;
        }
        if !needs_engine {
            endpoint.engine.skip(1);
            endpoint.counters.skipped_engine_writes.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    fn next_message(&mut self) -> Identity {
        let order = &mut *self.order;
        order.last_stamp = Stamp::now().max(Stamp(order.last_stamp.0 + 1));
        order.number += 1;
        Identity { publisher: self.endpoint.gid, stamp: order.last_stamp, number: order.number }
    }

    /// Sends to the subscriptions that are served through shared memory. Returns whether these
    /// subscriptions must get the message over the network transport instead.
    fn send_by_shared_memory<M>(&mut self, prepared: &mut Prepared<M>, message: Identity) -> bool {
        if self.order.is_falling_back {
            self.order.is_falling_back = !self.has_fallback_ended();
        }
        if self.routes.memory.is_none() {
            return false;
        }
        if self.order.is_falling_back {
            if prepared.loan.is_some() {
                // This is only counted. The message that started the fallback has been logged.
                let failures = &self.endpoint.counters.shared_memory_failures;
                failures.fetch_add(1, Ordering::Relaxed);
            }
        } else if let Some(loan) = prepared.loan.take()
            && self.send_loan(loan, message)
        {
            return false;
        }
        let falls_back = self.endpoint.allowed.contains(Transport::Network);
        self.order.is_falling_back |= falls_back;
        falls_back
    }

    /// Whether all subscriptions that are served through shared memory have acknowledged the
    /// messages that the engine sent to them. Subscriptions of killed processes do not count.
    #[cold]
    fn has_fallback_ended(&self) -> bool {
        let living = self.routes.established().filter(|(route, _)| route.peer.peer().is_alive());
        let living: Vec<Gid> = living.map(|(route, _)| route.subscription).collect();
        self.endpoint.is_acknowledged(&living)
    }

    fn send_loan(&self, loan: HostLoan, message: Identity) -> bool {
        let (endpoint, routes) = (self.endpoint, self.routes);
        let Some(memory) = &routes.memory else { return false };
        let size_bytes = loan.len();
        let Identity { stamp, number, .. } = message;
        let expires_nanos = endpoint.lifespan.map_or(0, |lifespan| end_of(lifespan, stamp));
        let header =
            SampleHeader { stamp: stamp.0, publication_number: number, expires_nanos, flags: 0 };
        let id = || message.traced();
        feros_trace::pass(Point::WriteBegin, Transport::SharedMemory, &endpoint.traced, id);
        if routes.is_lossless {
            // Messages are counted before they are sent, because the count of taken messages must
            // never be higher than the count of sent messages.
            routes.established().for_each(|(_, established)| established.count_sent());
        }
        let sent = memory.send(loan, header);
        feros_trace::pass(Point::WriteEnd, Transport::SharedMemory, &endpoint.traced, id);
        if let Err(error) = sent {
            endpoint.count_shared_memory_failure(&error);
            return false;
        }
        if number.is_multiple_of(POOL_LOOK) {
            endpoint.warn_of_full_pool(memory);
        }
        for (route, _) in routes.established_in_turn(number) {
            feros_trace::pass(Point::Announced, Transport::SharedMemory, &route.traced, id);
            route.peer.ring();
            endpoint.counters.shared_memory.count(1, size_bytes);
        }
        true
    }

    #[inline(never)] // this keeps the code of one transport together
    fn send_in_process<M: Outgoing>(&self, prepared: &mut Prepared<M>, message: Identity) {
        let (endpoint, routes) = (self.endpoint, &self.routes.intra_process);
        let Identity { publisher, stamp, number } = message;
        let expires = endpoint.lifespan.map(|lifespan| Instant::now() + lifespan);
        let envelope = Envelope { publisher, stamp, number, since: number, expires };
        let id = || message.traced();
        feros_trace::pass(Point::WriteBegin, Transport::IntraProcess, &endpoint.traced, id);
        let bytes = prepared.bytes.as_ref();
        prepared.message.deliver(&Delivery { routes, envelope, bytes });
        let size_bytes = bytes.map_or(0, |bytes| bytes.len());
        endpoint.counters.intra_process.count(routes.len(), size_bytes);
    }

    #[inline(never)] // this keeps the code of one transport together
    fn send_by_network<M: Outgoing>(
        &self,
        prepared: &mut Prepared<M>,
        message: Identity,
        trace: &mut Outbound,
    ) -> Result<(), PublishError> {
        let size_bytes = prepared.size_bytes();
        let mut write = |memory: &mut [u8]| prepared.write(memory, trace);
        self.endpoint.engine.publish_at(message.stamp, size_bytes, &mut write)?;
        self.endpoint.counters.network.count(1, size_bytes);
        Ok(())
    }
}

/// The end of a message's lifespan, in nanoseconds since the epoch, like its stamp.
#[cold]
fn end_of(lifespan: Duration, stamp: Stamp) -> u64 {
    let lifespan_nanos = i128::try_from(lifespan.as_nanos()).unwrap_or(i128::MAX);
    let end = i128::from(stamp.0).saturating_add(lifespan_nanos);
    u64::try_from(end).unwrap_or(u64::MAX)
}

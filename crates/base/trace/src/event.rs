//! Events, each of which records that a message passed a trace point, and the layout of an event in
//! the ring of a thread.

use crate::point::Point;
use crate::transport::Transport;

/// The identity of a message, which is the same in all processes. It consists of the publisher and
/// the stamp. The field `number` is not a part of the identity: it is only shown to people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MessageId {
    /// The publisher's gid.
    pub publisher: [u8; 16],
    /// The source timestamp, which increases with each message of a publisher.
    pub stamp: i64,
    /// The number of the message, as far as it is known where the event is recorded. In the client
    /// library of the publisher, and on the intra-process and shared-memory transports, it is the
    /// publication number, which starts at 1. On the network transport, it may also be a number of
    /// the engine, or 0 if the number is unknown.
    pub number: u64,
}

/// The record that a message passed a trace point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// The time of the event, on CLOCK_MONOTONIC.
    pub at_nanos: u64,
    /// The trace point that the message passed.
    pub point: Point,
    /// The transport, or `None` if the message is not on a transport yet.
    pub transport: Option<Transport>,
    /// The message that passed the point.
    pub message: MessageId,
    /// The number that this process has given to the endpoint, or 0 if the endpoint is unknown. The
    /// endpoint is the publisher, or the subscription if the event concerns only one subscription.
    pub endpoint: u32,
}

/// The number of words that an event occupies in a ring.
pub(crate) const WORDS: usize = 6;

impl Event {
    pub(crate) fn to_words(self) -> [u64; WORDS] {
        let Self { at_nanos, point, transport, message, endpoint } = self;
        let (first, second) = halves(&message.publisher);
        let transport = transport.map_or(0, |transport| transport as u8);
        let kind = u64::from(point as u8) | u64::from(transport) << 8 | u64::from(endpoint) << 32;
        [at_nanos, first, second, message.stamp as u64, message.number, kind]
    }

    pub(crate) fn from_words(words: [u64; WORDS]) -> Option<Self> {
        let [at_nanos, first, second, stamp, number, kind] = words;
        let mut publisher = [0; 16];
        publisher[..8].copy_from_slice(&first.to_le_bytes());
        publisher[8..].copy_from_slice(&second.to_le_bytes());
        Some(Self {
            at_nanos,
            point: Point::from_number(kind as u8)?,
            transport: Transport::from_number((kind >> 8) as u8),
            message: MessageId { publisher, stamp: stamp as i64, number },
            endpoint: (kind >> 32) as u32,
        })
    }
}

fn halves(gid: &[u8; 16]) -> (u64, u64) {
    let mut halves = [[0; 8]; 2];
    halves[0].copy_from_slice(&gid[..8]);
    halves[1].copy_from_slice(&gid[8..]);
    (u64::from_le_bytes(halves[0]), u64::from_le_bytes(halves[1]))
}

/// The events that one thread has recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadEvents {
    /// The id of the thread in the operating system, or 0 if it is unknown.
    pub thread: u64,
    /// The thread's name.
    pub name: String,
    /// The events in the order in which they were recorded. This is almost the order of their
    /// times.
    pub events: Vec<Event>,
    /// The number of earlier events that were overwritten before they were read.
    pub overwritten: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_survive_the_ring() {
        let message = MessageId {
            publisher: std::array::from_fn(|at| at as u8 * 17),
            stamp: -5,
            number: u64::MAX,
        };
        for (point, transport) in
            [(Point::Publish, None), (Point::PublishEnd, Some(Transport::Network))]
        {
            let event = Event { at_nanos: 77, point, transport, message, endpoint: u32::MAX - 1 };
            assert_eq!(Event::from_words(event.to_words()), Some(event));
        }
        assert_eq!(Event::from_words([0, 0, 0, 0, 0, 200]), None);
    }
}

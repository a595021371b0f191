//! One passing of one point, and how it lies in a ring.

use crate::point::Point;
use crate::transport::Transport;

/// What identifies a message everywhere: its publisher and its stamp. The number is for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MessageId {
    /// The publisher's gid.
    pub publisher: [u8; 16],
    /// The source timestamp, which rises with each message of a publisher.
    pub stamp: i64,
    /// Its number where the point is: at a publisher, of its publications from 1; at the engine and
    /// behind it, the engine's own.
    pub number: u64,
}

/// A message passed a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// CLOCK_MONOTONIC.
    pub at_nanos: u64,
    /// Where.
    pub point: Point,
    /// By which transport; `None` where it is not on one yet.
    pub transport: Option<Transport>,
    /// Which message.
    pub message: MessageId,
    /// The process's number of the endpoint that is concerned: the publisher, or the one
    /// subscription. 0: not known.
    pub endpoint: u32,
}

/// Words of an event in a ring.
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

/// What one thread has recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadEvents {
    /// The system's number of the thread, 0 if it does not tell.
    pub thread: u64,
    /// Its name.
    pub name: String,
    /// In the order in which they were recorded, which is nearly that of their times.
    pub events: Vec<Event>,
    /// Earlier events that were overwritten because nobody read them in time.
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

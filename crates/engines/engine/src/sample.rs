//! A received sample: its bytes, the memory that contains the bytes, and the information about the
//! message.

use std::fmt;
use std::time::SystemTime;

use smallbox::space::S4;
use smallbox::{SmallBox, smallbox};

use crate::gid::Gid;
use crate::service_mapping::ServiceMapping;
use crate::stamp::Stamp;

/// Bytes that an engine lends. Dropping this value returns the memory to the engine.
pub trait PayloadBytes: Send + Sync {
    /// Returns the serialized message with its 4-byte encapsulation header. The bytes after the
    /// header are aligned to 8 bytes if the engine controls their alignment. Never blocks or
    /// allocates.
    fn bytes(&self) -> &[u8];
}

impl PayloadBytes for Vec<u8> {
    fn bytes(&self) -> &[u8] {
        self
    }
}

/// The serialized message of a [`Sample`], lent by the engine.
///
/// A [`PayloadBytes`] value of up to four words is stored inline. A larger value is boxed.
pub struct Payload(SmallBox<dyn PayloadBytes, S4>);

impl Payload {
    /// Whether a [`PayloadBytes`] value of this type is stored inline.
    #[must_use]
    pub const fn is_inline<T: PayloadBytes>() -> bool {
        size_of::<T>() <= size_of::<S4>() && align_of::<T>() <= align_of::<S4>()
    }

    /// Wraps bytes that an engine lends. Does not allocate if the value has up to four words.
    pub fn new(bytes: impl PayloadBytes + 'static) -> Self {
        Self(smallbox!(bytes))
    }
}

impl std::ops::Deref for Payload {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.0.bytes()
    }
}

impl fmt::Debug for Payload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Payload({} bytes)", self.len())
    }
}

/// The information that accompanies a received message, as in `rmw_message_info_t`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageInfo {
    /// The time of publication, on the clock of the publisher's host.
    pub source_timestamp: Option<SystemTime>,
    /// The time at which the engine received the message, on the clock of this host.
    pub received_timestamp: Option<SystemTime>,
    /// The publisher's number of the message, counted from 1.
    pub publication_sequence_number: Option<u64>,
    /// The gid of the publisher.
    pub publisher_gid: Gid,
    /// Whether the publisher belongs to the same session.
    pub from_same_session: bool,
}

impl MessageInfo {
    /// Returns the source timestamp of the publisher, exact to the nanosecond. Returns `None` if
    /// the message has no timestamp.
    pub fn stamp(&self) -> Option<Stamp> {
        self.source_timestamp.and_then(Stamp::from_system_time)
    }
}

/// A received message: its serialized bytes and the information about it.
#[derive(Debug)]
pub struct Sample {
    /// The serialized message.
    pub payload: Payload,
    /// The information about the message.
    pub info: MessageInfo,
}

/// The identity of a service request: the 24 bytes of `rmw_request_id_t`, and the mapping of the
/// reply.
///
/// Only the engine that created the identity interprets it. A response returns the identity
/// unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RequestId {
    /// The client.
    pub client: [u8; 16],
    /// The client's number of the request.
    pub sequence_number: i64,
    /// The mapping in which the client expects the reply.
    pub mapping: ServiceMapping,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// A value of `WORDS` words and a counter of drops.
    struct Holder<const WORDS: usize> {
        dropped: Arc<AtomicUsize>,
        words: [u64; WORDS],
        bytes: [u8; 8],
    }

    impl<const WORDS: usize> PayloadBytes for Holder<WORDS> {
        fn bytes(&self) -> &[u8] {
            assert_eq!(self.words, [7; WORDS]);
            &self.bytes
        }
    }

    fn check<const WORDS: usize>(boxed: bool) {
        let dropped = Arc::new(AtomicUsize::new(0));
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        let payload = Payload::new(Holder { dropped: dropped.clone(), words: [7; WORDS], bytes });
        assert_eq!(payload.0.is_heap(), boxed);
        assert_eq!(Payload::is_inline::<Holder<WORDS>>(), !boxed);
        // A payload, with the value inside, may move between threads.
        let moved = std::thread::scope(|scope| scope.spawn(|| payload).join()).expect("moves");
        assert_eq!(*moved, bytes);
        assert_eq!(dropped.load(Ordering::Relaxed), 0);
        drop(moved);
        assert_eq!(dropped.load(Ordering::Relaxed), 1);
    }

    impl<const WORDS: usize> Drop for Holder<WORDS> {
        fn drop(&mut self) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn small_holders_are_not_boxed() {
        check::<0>(false);
        check::<2>(false);
        check::<3>(true);
    }
}

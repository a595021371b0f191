//! A message in a publisher's shared memory that a subscription holds.

use std::sync::Arc;

use feros_engine::PayloadBytes;

use super::port::Port;
use crate::ipc::service::{SampleHeader, WireHeader};
use crate::rings::receiving_end::Taken;

/// A message that has been taken from the queue. Dropping this value returns the message to the
/// publisher.
pub(crate) struct Message {
    port: Arc<Port>,
    place: u64,
    end: u32,
    /// The length of the message; 0 until it has been checked.
    cdr_bytes: u32,
}

impl Message {
    pub(crate) fn new(port: &Arc<Port>, taken: &Taken) -> Self {
        Self { port: Arc::clone(port), place: taken.place, end: taken.end, cdr_bytes: 0 }
    }
}

impl Drop for Message {
    fn drop(&mut self) {
        self.port.ends.lock().give_back(self.end, self.place);
        self.port.make_room();
    }
}

/// The bytes of a message in shared memory. Dropping this value returns the memory to the
/// publisher. Any thread may drop it, before or after the [`Connection`](crate::Connection) and the
/// publisher.
pub struct HostBytes {
    cdr: *const u8,
    message: Message,
}

// SAFETY: the bytes are only read, and the port's state is behind a mutex.
unsafe impl Send for HostBytes {}
// SAFETY: see above.
unsafe impl Sync for HostBytes {}

// The bytes must be small enough to be stored inline in a payload.
const _: () = assert!(feros_engine::Payload::is_inline::<HostBytes>());

impl PayloadBytes for HostBytes {
    fn bytes(&self) -> &[u8] {
        // SAFETY: `Connection` has checked that these bytes lie in the publisher's memory, which
        // stays mapped for reading while the sample is held; the publisher does not write to them
        // before the sample is dropped. (A hostile process of the same user could write to them,
        // but such a process can also change this process's own memory.)
        unsafe { std::slice::from_raw_parts(self.cdr, self.message.cdr_bytes as usize) }
    }
}

impl std::fmt::Debug for HostBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostBytes({} bytes)", self.message.cdr_bytes)
    }
}

/// A message in shared memory: its bytes, and the header that the publisher wrote.
#[derive(Debug)]
pub struct HostSample {
    bytes: HostBytes,
    header: SampleHeader,
    pub(crate) sequence: u64,
    /// The number of the receiving end through which the sample came. Each pool of a publisher has
    /// a different number.
    pub(crate) origin: u32,
}

impl HostSample {
    /// Makes the sample for a message whose header has been checked. The message's bytes begin at
    /// `cdr`.
    pub(crate) fn new(mut message: Message, header: &WireHeader, cdr: *const u8) -> Self {
        let origin = message.end;
        message.cdr_bytes = header.cdr_bytes;
        Self {
            bytes: HostBytes { cdr, message },
            header: SampleHeader {
                stamp: header.stamp,
                publication_number: header.publication_number,
                expires_nanos: header.expires_nanos,
                flags: header.flags,
            },
            sequence: header.sequence,
            origin,
        }
    }

    /// The header that the publisher wrote.
    #[must_use]
    pub fn header(&self) -> SampleHeader {
        self.header
    }

    /// The bytes of the message, without the header.
    #[must_use]
    pub fn into_bytes(self) -> HostBytes {
        self.bytes
    }
}

impl PayloadBytes for HostSample {
    fn bytes(&self) -> &[u8] {
        self.bytes.bytes()
    }
}

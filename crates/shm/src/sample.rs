//! A message that lies in a publisher's shared memory, held by a subscription.

use std::sync::Arc;

use feros_rmw::PayloadBytes;

use crate::held_samples::IceoryxSample;
use crate::port::Port;
use crate::service::{SampleHeader, WireHeader};

/// What the checks of a sample found.
pub(crate) struct Checked {
    pub(crate) header: WireHeader,
    pub(crate) cdr: *const u8,
}

/// The bytes of a message in shared memory. The memory goes back to the publisher when this is
/// dropped, on any thread, before or after its link and its publisher.
pub struct HostBytes {
    cdr: *const u8,
    cdr_bytes: u32,
    index: u32,
    port: Arc<Port>,
}

// SAFETY: the bytes are only read, the sample that keeps them is behind a mutex, and so is the
// port's state.
unsafe impl Send for HostBytes {}
// SAFETY: as above.
unsafe impl Sync for HostBytes {}

// Inline in a payload.
const _: () = assert!(feros_rmw::Payload::is_inline::<HostBytes>());

impl PayloadBytes for HostBytes {
    fn bytes(&self) -> &[u8] {
        // SAFETY: `Link` checked that so many bytes lie in the publisher's memory, which stays
        // mapped for reading while the sample is held; the publisher does not write to it before
        // the sample is dropped. (A hostile process of this same user could; it can change this
        // process's own memory as well.)
        unsafe { std::slice::from_raw_parts(self.cdr, self.cdr_bytes as usize) }
    }
}

impl Drop for HostBytes {
    fn drop(&mut self) {
        self.port.held.release(self.index as usize);
        self.port.make_room();
    }
}

impl std::fmt::Debug for HostBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostBytes({} bytes)", self.cdr_bytes)
    }
}

/// A message in shared memory: its bytes, and what its publisher says of it.
#[derive(Debug)]
pub struct HostSample {
    bytes: HostBytes,
    header: SampleHeader,
    pub(crate) sequence: u64,
    /// The port that sent it; changes when the publisher's pool is replaced.
    pub(crate) origin: u64,
}

impl HostSample {
    /// `None` where as many samples are held as may be.
    pub(crate) fn new(sample: IceoryxSample, checked: Checked, port: &Arc<Port>) -> Option<Self> {
        let Checked { header, cdr } = checked;
        let origin = folded(sample.origin().value());
        let index = port.held.put(sample).ok()?;
        Some(Self {
            bytes: HostBytes {
                cdr,
                cdr_bytes: u32::try_from(header.cdr_bytes).unwrap_or(u32::MAX),
                index: u32::try_from(index).ok()?,
                port: Arc::clone(port),
            },
            header: SampleHeader {
                stamp: header.stamp,
                publication_number: header.publication_number,
                expires_nanos: header.expires_nanos,
                flags: header.flags,
            },
            sequence: header.sequence,
            origin,
        })
    }

    /// What the publisher says of it.
    #[must_use]
    pub fn header(&self) -> SampleHeader {
        self.header
    }

    /// The message alone.
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

/// Ports of one service differ in time and counter, which lie in different halves.
fn folded(id: u128) -> u64 {
    (id as u64) ^ ((id >> 64) as u64)
}

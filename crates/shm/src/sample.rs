//! A message that lies in a publisher's shared memory, held by a subscription.

use std::mem::ManuallyDrop;
use std::sync::Arc;

use feros_rmw::PayloadBytes;
use iceoryx2::sample::Sample;

use crate::ipc::Ipc;
use crate::port::Port;
use crate::service::{SampleHeader, WireHeader};

pub(crate) type IceoryxSample = Sample<Ipc, [u8], WireHeader>;

/// What the checks of a sample found.
pub(crate) struct Checked {
    pub(crate) header: WireHeader,
    pub(crate) cdr: *const u8,
}

/// The sample of iceoryx2 with the alignment of a pointer: it contains a 128-bit number, whose
/// alignment of 16 would keep a [`HostSample`] from being stored inline by `feros_rmw::Payload`.
#[repr(C, packed(8))]
struct Packed(ManuallyDrop<IceoryxSample>);

/// A message in shared memory. Its memory goes back to the publisher when it is dropped, on any
/// thread, before or after its link and its publisher.
pub struct HostSample {
    cdr: *const u8,
    cdr_bytes: u32,
    flags: u32,
    stamp: i64,
    publication_number: u64,
    expires_nanos: u64,
    pub(crate) sequence: u64,
    /// The port that sent it; changes when the publisher's pool is replaced.
    pub(crate) origin: u64,
    sample: Packed,
    /// Dropped after the sample (by hand).
    port: Arc<Port>,
}

// Inline in a payload: at most 16 words, aligned as one.
const _: () = assert!(
    size_of::<HostSample>() <= 16 * size_of::<usize>()
        && align_of::<HostSample>() <= align_of::<usize>()
);

// SAFETY: the sample is `Send`, and the port's state is behind a mutex.
unsafe impl Send for HostSample {}
// SAFETY: a shared sample only reads its own memory.
unsafe impl Sync for HostSample {}

impl HostSample {
    pub(crate) fn new(sample: IceoryxSample, checked: Checked, port: Arc<Port>) -> Self {
        let Checked { header, cdr } = checked;
        Self {
            cdr,
            cdr_bytes: u32::try_from(header.cdr_bytes).unwrap_or(u32::MAX),
            flags: header.flags,
            stamp: header.stamp,
            publication_number: header.publication_number,
            expires_nanos: header.expires_nanos,
            sequence: header.sequence,
            origin: folded(sample.origin().value()),
            sample: Packed(ManuallyDrop::new(sample)),
            port,
        }
    }

    /// What the publisher says of it.
    #[must_use]
    pub fn header(&self) -> SampleHeader {
        SampleHeader {
            stamp: self.stamp,
            publication_number: self.publication_number,
            expires_nanos: self.expires_nanos,
            flags: self.flags,
        }
    }
}

/// Ports of one service differ in time and counter, which lie in different halves.
fn folded(id: u128) -> u64 {
    (id as u64) ^ ((id >> 64) as u64)
}

impl PayloadBytes for HostSample {
    fn bytes(&self) -> &[u8] {
        // SAFETY: `Link` checked that so many bytes lie in the publisher's memory, which stays
        // mapped for reading while the sample is held; the publisher does not write to it before
        // the sample is dropped. (A hostile process of this same user could; it can change this
        // process's own memory as well.)
        unsafe { std::slice::from_raw_parts(self.cdr, self.cdr_bytes as usize) }
    }
}

impl Drop for HostSample {
    fn drop(&mut self) {
        // SAFETY: read from its unaligned place and dropped exactly once, here.
        drop(unsafe { std::ptr::read_unaligned((&raw const self.sample).cast::<IceoryxSample>()) });
        self.port.make_room();
    }
}

impl std::fmt::Debug for HostSample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "HostSample({} bytes, {:?})", self.cdr_bytes, self.header())
    }
}

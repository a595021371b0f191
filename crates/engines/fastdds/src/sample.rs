//! Buffers of the shim. A writer lends them for writing, and a reader lends them after taking a
//! sample.

use std::ptr::NonNull;

use feros_dds::library::{self, Origin, RelatedIdentity};
use feros_dds::service_header::{ENCAPSULATION_BYTES, SERVICE_HEADER_BYTES};
use feros_engine::{Gid, MessageInfo, Payload, PayloadBytes, Sample, Stamp};
use feros_fastdds_sys::{self as sys, Shim};

/// The first stamp that Fast DDS treats as missing. Fast DDS stores the seconds as a signed number,
/// but on the wire they are unsigned (eProsima/Fast-DDS:src/cpp/rtps/history/WriterHistory.cpp).
const FIRST_LATE_STAMP: i64 = (1 << 31) * 1_000_000_000;
/// The first bytes of an identity that contains such a stamp.
const LATE_STAMP: &[u8; 8] = b"FEROS_TS";

/// Returns the identity that contains the stamp, if Fast DDS does not accept the stamp itself.
pub(crate) fn late_stamp(stamp: Stamp) -> Option<[u8; 16]> {
    let mut identity = [0; 16];
    identity[..8].copy_from_slice(LATE_STAMP);
    identity[8..].copy_from_slice(&stamp.0.to_le_bytes());
    (stamp.0 >= FIRST_LATE_STAMP).then_some(identity)
}

/// Returns the stamp in an identity, if the identity contains a stamp.
fn stamp_in(identity: &[u8; 16]) -> Option<i64> {
    let stamp = identity.strip_prefix(LATE_STAMP.as_slice())?;
    stamp.try_into().ok().map(i64::from_le_bytes)
}

/// A reference to a buffer, and the number of bytes in it that belong to the message.
#[derive(Debug)]
pub(crate) struct Buffer {
    raw: NonNull<sys::buffer>,
    size_bytes: usize,
}

// SAFETY: the reference count is atomic, and bytes are written only while there is a single
// reference.
unsafe impl Send for Buffer {}
// SAFETY: see above. Shared access only reads.
unsafe impl Sync for Buffer {}

/// Returns the shim. It is loaded, because it has created this buffer.
fn shim() -> &'static Shim {
    Shim::get().unwrap_or_else(|error| unreachable!("a session was opened: {error}"))
}

impl Buffer {
    /// Creates a buffer with one reference. Returns `None` if there is no memory.
    pub(crate) fn new(size_bytes: usize) -> Option<Self> {
        // SAFETY: the call has no preconditions.
        let raw = NonNull::new(unsafe { (shim().buffer_new)(size_bytes) })?;
        Some(Self { raw, size_bytes })
    }

    pub(crate) fn as_ptr(&self) -> *mut sys::buffer {
        self.raw.as_ptr()
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the buffer contains at least `size_bytes` bytes while there is a reference, and
        // the C++ side has initialized them.
        unsafe { std::slice::from_raw_parts((shim().buffer_bytes)(self.as_ptr()), self.size_bytes) }
    }

    /// The bytes of a buffer that has not been sent yet.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: see `bytes`. There is no other reference before `write`, and this crate does not
        // call this function after `write`.
        unsafe {
            std::slice::from_raw_parts_mut((shim().buffer_bytes)(self.as_ptr()), self.size_bytes)
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: this releases the reference that this value owns.
        unsafe { (shim().buffer_unref)(self.as_ptr()) }
    }
}

impl PayloadBytes for Buffer {
    fn bytes(&self) -> &[u8] {
        Buffer::bytes(self)
    }
}

/// A sample that a reader took.
#[derive(Debug)]
pub(crate) struct Taken {
    buffer: Buffer,
    writer: Gid,
    number: i64,
    related: Option<RelatedIdentity>,
    source_stamp: i64,
    received_stamp: i64,
}

impl Taken {
    /// Takes ownership of a sample of the shim. Returns `None` for a malformed sample.
    ///
    /// # Safety
    /// The shim must have filled `sample`, and no other value may own the sample.
    pub(crate) unsafe fn from_shim(sample: &sys::sample) -> Option<Self> {
        let raw = NonNull::new(sample.buffer)?;
        let late = if sample.has_related { stamp_in(&sample.related) } else { None };
        Some(Self {
            buffer: Buffer { raw, size_bytes: sample.bytes },
            writer: Gid(sample.writer),
            number: sample.number,
            related: sample.has_related.then_some((sample.related, sample.related_number)),
            source_stamp: late.unwrap_or(sample.source_stamp),
            received_stamp: sample.received_stamp,
        })
    }

    /// The time of publication.
    pub(crate) fn stamp(&self) -> Stamp {
        Stamp(self.source_stamp)
    }

    /// The information that accompanies the sample.
    fn info(&self, reader: Gid) -> MessageInfo {
        MessageInfo {
            source_timestamp: self.stamp().to_system_time(),
            received_timestamp: Stamp(self.received_stamp).to_system_time(),
            publication_sequence_number: u64::try_from(self.number).ok().filter(|n| *n > 0),
            publisher_gid: self.writer,
            from_same_session: self.writer.participant_prefix() == reader.participant_prefix(),
        }
    }
}

impl library::Taken for Taken {
    fn writer(&self) -> Gid {
        self.writer
    }

    fn number(&self) -> i64 {
        self.number
    }

    fn related(&self) -> Option<RelatedIdentity> {
        self.related
    }

    fn publication_number(&self) -> i64 {
        match self.related {
            Some((of, number)) if of == self.writer.0 || stamp_in(&of).is_some() => number,
            _ => self.number,
        }
    }

    fn bytes(&self) -> &[u8] {
        self.buffer.bytes()
    }

    fn lend(self, reader: Gid) -> Sample {
        let info = self.info(reader);
        Sample { payload: Payload::new(self.buffer), info }
    }

    /// Copies the sample, because other readers of this process may share the buffer.
    fn without_service_header(self, reader: Gid) -> Option<Sample> {
        let bytes = self.buffer.bytes();
        let mut copy = Buffer::new(bytes.len() - SERVICE_HEADER_BYTES)?;
        let (encapsulation, message) = copy.bytes_mut().split_at_mut(ENCAPSULATION_BYTES);
        encapsulation.copy_from_slice(&bytes[..ENCAPSULATION_BYTES]);
        message.copy_from_slice(&bytes[ENCAPSULATION_BYTES + SERVICE_HEADER_BYTES..]);
        Some(Sample { payload: Payload::new(copy), info: self.info(reader) })
    }

    /// Fast DDS does not reveal the address from which a sample was sent.
    fn origin(&self) -> Origin {
        Origin::Elsewhere("an unknown address".to_owned())
    }
}

//! Samples of the engine. A writer lends them for writing, and a reader lends them after taking
//! them.

use std::ptr::NonNull;

use feros_cyclonedds_sys as sys;
use feros_dds::library::{self, Origin, RelatedIdentity};
use feros_dds::service_header::{ENCAPSULATION_BYTES, SERVICE_HEADER_BYTES};
use feros_engine::{Gid, MessageInfo, Payload, PayloadBytes, Sample, Stamp};

use crate::dds::{Code, check};
use crate::origin::origin;

/// A reference to a sample of the engine, which counts references.
#[derive(Debug)]
pub(crate) struct SampleRef(NonNull<sys::feros_sample>);

// SAFETY: the reference count is atomic, and only a holder of the sole reference writes bytes,
// through `&mut self`.
unsafe impl Send for SampleRef {}
// SAFETY: see above. Shared access only reads.
unsafe impl Sync for SampleRef {}

impl SampleRef {
    /// Takes ownership of a reference.
    ///
    /// # Safety
    /// `sample` must be null or a reference that the caller owns.
    pub(crate) unsafe fn from_owned(sample: *mut sys::feros_sample) -> Option<Self> {
        NonNull::new(sample).map(Self)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: the sample contains `size` initialized bytes from this address on, and exists
        // while the reference exists.
        unsafe {
            std::slice::from_raw_parts(
                sys::feros_sample_bytes(self.0.as_ptr()),
                sys::feros_sample_size(self.0.as_ptr()),
            )
        }
    }

    /// Returns the bytes for writing, or `None` if there are other references.
    pub(crate) fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        // SAFETY: see `bytes`. The access is exclusive, because this is the only reference and it
        // is borrowed mutably.
        unsafe {
            sys::feros_sample_is_unique(self.0.as_ptr()).then(|| {
                std::slice::from_raw_parts_mut(
                    sys::feros_sample_bytes(self.0.as_ptr()),
                    sys::feros_sample_size(self.0.as_ptr()),
                )
            })
        }
    }

    pub(crate) fn info(&self) -> sys::feros_sample_info {
        let mut info = sys::feros_sample_info::default();
        // SAFETY: there is a reference to the sample, and the out parameter is valid for writing.
        unsafe { sys::feros_sample_get_info(self.0.as_ptr(), &raw mut info) };
        info
    }

    /// Sets the related identity of a sample that has not been written yet.
    pub(crate) fn set_related(&mut self, related: &sys::feros_identity) {
        // SAFETY: there is a reference to the sample, the sample is not shared yet, and the engine
        // copies the identity.
        unsafe { sys::feros_sample_set_related(self.0.as_ptr(), related) }
    }

    /// Returns the raw reference. After that, the reference is not released automatically any
    /// longer.
    pub(crate) fn into_raw(self) -> *mut sys::feros_sample {
        let raw = self.0.as_ptr();
        std::mem::forget(self);
        raw
    }
}

impl Drop for SampleRef {
    fn drop(&mut self) {
        // SAFETY: this releases the reference that this value owns.
        unsafe { sys::feros_sample_unref(self.0.as_ptr()) }
    }
}

impl PayloadBytes for SampleRef {
    fn bytes(&self) -> &[u8] {
        SampleRef::bytes(self)
    }
}

/// A sample as a payload, which consists of the message after the service header.
struct Behind {
    sample: SampleRef,
    offset: usize,
}

impl PayloadBytes for Behind {
    fn bytes(&self) -> &[u8] {
        &self.sample.bytes()[self.offset..]
    }
}

/// Returns the message after a service header, preceded by its encapsulation. The message is copied
/// only if there are other references to the sample.
///
/// The sample must be at least as long as both headers.
fn without_service_header(mut sample: SampleRef) -> Payload {
    match sample.bytes_mut() {
        Some(bytes) => {
            bytes.copy_within(..ENCAPSULATION_BYTES, SERVICE_HEADER_BYTES);
            Payload::new(Behind { sample, offset: SERVICE_HEADER_BYTES })
        }
        // Another reader of this process, or the thread with which the engine delivers, also has a
        // reference to the sample.
        None => Payload::new(Copied::without_service_header(sample.bytes())),
    }
}

/// A copy of a message. Like a sample of the engine, it is aligned after its encapsulation.
struct Copied {
    memory: Vec<u8>,
    start: usize,
}

impl Copied {
    fn without_service_header(bytes: &[u8]) -> Self {
        let message = &bytes[ENCAPSULATION_BYTES + SERVICE_HEADER_BYTES..];
        let mut memory = Vec::<u8>::with_capacity(8 + ENCAPSULATION_BYTES + message.len());
        let start = memory.as_ptr().wrapping_add(ENCAPSULATION_BYTES).align_offset(8);
        memory.resize(start, 0);
        memory.extend(&bytes[..ENCAPSULATION_BYTES]);
        memory.extend(message);
        Self { memory, start }
    }
}

impl PayloadBytes for Copied {
    fn bytes(&self) -> &[u8] {
        &self.memory[self.start..]
    }
}

/// A sample that a reader took.
#[derive(Debug)]
pub(crate) struct Taken {
    sample: SampleRef,
    info: sys::feros_sample_info,
}

impl Taken {
    pub(crate) fn new(sample: SampleRef) -> Self {
        let info = sample.info();
        Self { sample, info }
    }

    /// The information that accompanies the sample.
    fn message_info(&self, reader: Gid) -> MessageInfo {
        let (info, publisher_gid) = (&self.info, Gid(self.info.writer_guid));
        MessageInfo {
            source_timestamp: Stamp(info.source_timestamp).to_system_time(),
            received_timestamp: Stamp(info.received_timestamp).to_system_time(),
            publication_sequence_number: u64::try_from(info.sequence_number)
                .ok()
                .filter(|n| *n > 0),
            publisher_gid,
            from_same_session: publisher_gid.participant_prefix() == reader.participant_prefix(),
        }
    }
}

impl library::Taken for Taken {
    fn writer(&self) -> Gid {
        Gid(self.info.writer_guid)
    }

    fn number(&self) -> i64 {
        self.info.sequence_number
    }

    fn related(&self) -> Option<RelatedIdentity> {
        let related = &self.info.related;
        self.info.has_related.then_some((related.guid, related.sequence_number))
    }

    fn bytes(&self) -> &[u8] {
        self.sample.bytes()
    }

    fn lend(self, reader: Gid) -> Sample {
        let info = self.message_info(reader);
        Sample { payload: Payload::new(self.sample), info }
    }

    fn without_service_header(self, reader: Gid) -> Option<Sample> {
        let info = self.message_info(reader);
        Some(Sample { payload: without_service_header(self.sample), info })
    }

    fn origin(&self) -> Origin {
        origin(&self.info)
    }
}

/// Takes the oldest sample of a reader. The reader must be alive.
pub(crate) fn take(reader: sys::dds_entity_t) -> Result<Option<Taken>, Code> {
    let (mut sample, mut publication) = (std::ptr::null_mut(), 0);
    // SAFETY: the out parameters are valid. If the result is 1, this function owns the returned
    // reference.
    let sample = unsafe {
        check(sys::feros_take(reader, &raw mut sample, &raw mut publication))?;
        SampleRef::from_owned(sample)
    };
    Ok(sample.map(Taken::new))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_without_header_are_aligned() {
        for size in 20..60_usize {
            let bytes: Vec<u8> = (0..size).map(|at| at as u8).collect();
            let copied = Copied::without_service_header(&bytes);
            assert_eq!(copied.bytes()[..4], bytes[..4]);
            assert_eq!(copied.bytes()[4..], bytes[20..]);
            assert_eq!(copied.bytes().as_ptr().wrapping_add(4).align_offset(8), 0);
        }
    }
}

//! Converts received bytes to samples. If the bytes are contiguous and aligned, they are lent;
//! otherwise, they are copied once.

use std::time::SystemTime;

use feros_engine::{Payload, PayloadBytes};
use zenoh::bytes::ZBytes;

use crate::wire::attachment::Attachment;

/// A received message, request or response that has not been taken yet.
pub(crate) struct Received {
    pub(crate) bytes: ZBytes,
    pub(crate) attachment: Attachment,
    pub(crate) at: SystemTime,
}

impl Received {
    /// Returns `None` if the data cannot be a message because the attachment is missing or the
    /// bytes are too short for a header.
    pub(crate) fn new(bytes: &ZBytes, attachment: Option<&ZBytes>) -> Option<Self> {
        let attachment = Attachment::decode(&attachment?.to_bytes())?;
        let whole = bytes.len() >= 4;
        whole.then(|| Self { bytes: bytes.clone(), attachment, at: SystemTime::now() })
    }
}

impl feros_inbox::Received for Received {
    fn size_bytes(&self) -> usize {
        self.bytes.len()
    }
}

/// The alignment of the bytes after the header.
const ALIGNMENT: usize = 8;
const HEADER_BYTES: usize = 4;

/// Received bytes that are contiguous and aligned.
struct Lent(ZBytes);

impl PayloadBytes for Lent {
    fn bytes(&self) -> &[u8] {
        self.0.slices().next().unwrap_or_default()
    }
}

/// An aligned copy of the received bytes.
struct Copied {
    memory: Vec<u8>,
    begin: usize,
}

impl PayloadBytes for Copied {
    fn bytes(&self) -> &[u8] {
        &self.memory[self.begin..]
    }
}

/// Converts received bytes to a payload.
pub(crate) fn payload(bytes: ZBytes) -> Payload {
    let is_aligned = |slice: &[u8]| {
        slice.len() >= HEADER_BYTES && slice[HEADER_BYTES..].as_ptr().align_offset(ALIGNMENT) == 0
    };
    let mut slices = bytes.slices();
    if let (Some(only), None) = (slices.next(), slices.next())
        && is_aligned(only)
    {
        return Payload::new(Lent(bytes));
    }
    let mut memory = Vec::<u8>::with_capacity(bytes.len() + ALIGNMENT + HEADER_BYTES);
    // A vector with enough capacity does not move.
    let begin = (0..ALIGNMENT)
        .find(|begin| {
            memory.as_ptr().wrapping_add(begin + HEADER_BYTES).align_offset(ALIGNMENT) == 0
        })
        .unwrap_or(0);
    memory.resize(begin, 0);
    bytes.slices().for_each(|slice| memory.extend_from_slice(slice));
    Payload::new(Copied { memory, begin })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_payload_is_aligned_behind_its_header() {
        for size in (4..40).chain([1000, 70_000]) {
            let bytes: Vec<u8> = (0..size).map(|at| at as u8).collect();
            let payload = payload(ZBytes::from(bytes.clone()));
            assert_eq!(*payload, *bytes);
            assert_eq!(payload[4..].as_ptr().align_offset(8), 0);
        }
    }
}

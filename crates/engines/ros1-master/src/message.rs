//! Messages in CDR, aligned for readers, with their metadata.

use std::collections::TryReserveError;
use std::sync::Arc;
use std::time::SystemTime;

use feros_engine::engine::Fill;
use feros_engine::{Gid, MessageInfo, Payload, PayloadBytes, PublishError, Sample, Stamp};
use feros_ros1::{ConvertError, Plan};

/// The size limit of a message, in bytes. ROS 1 nodes do not accept longer messages.
pub(crate) const LARGEST_BYTES: usize = 1 << 30;

/// The alignment of the bytes after the header.
const ALIGNMENT: usize = 8;
const HEADER_BYTES: usize = 4;

/// A serialized message with its header. The bytes after the header are aligned.
#[derive(Debug)]
pub(crate) struct Body {
    memory: Vec<u8>,
    begin: usize,
}

impl Body {
    /// Creates a message of this size, in memory that may already have been used. The caller must
    /// fill the message.
    pub(crate) fn in_memory(
        mut memory: Vec<u8>,
        size_bytes: usize,
    ) -> Result<Self, TryReserveError> {
        let missing = size_bytes.saturating_add(ALIGNMENT).saturating_sub(memory.len());
        memory.try_reserve_exact(missing)?;
        // A vector with enough capacity does not move.
        let begin = begin_in(&memory);
        memory.resize(begin + size_bytes, 0);
        Ok(Self { memory, begin })
    }

    /// Returns the memory, for another message.
    pub(crate) fn into_memory(self) -> Vec<u8> {
        self.memory
    }

    /// Converts the body of a ROS 1 message to ROS 2 with a plan.
    pub(crate) fn converted(plan: &Plan, ros1: &[u8]) -> Result<Self, ConvertError> {
        // Large allocations are aligned. So the message usually begins at the right offset, even if
        // the memory grows and moves.
        let mut memory = Vec::with_capacity(ros1.len() + ros1.len() / 8 + 64);
        let begin = begin_in(&memory);
        memory.resize(begin, 0);
        plan.convert(ros1, &mut memory)?;
        if begin_in(&memory) == begin {
            return Ok(Self { memory, begin });
        }
        let mut moved = Vec::with_capacity(memory.len() + ALIGNMENT);
        let place = begin_in(&moved);
        moved.resize(place, 0);
        moved.extend_from_slice(&memory[begin..]);
        Ok(Self { memory: moved, begin: place })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.memory[self.begin..]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.begin..]
    }
}

/// Returns the offset at which a message must begin in this memory to be aligned.
fn begin_in(memory: &[u8]) -> usize {
    let at = memory.as_ptr().wrapping_add(HEADER_BYTES).align_offset(ALIGNMENT);
    if at < ALIGNMENT { at } else { 0 }
}

/// Creates a body of this size, into which `fill` writes the message.
pub(crate) fn filled(name: &str, size_bytes: usize, fill: Fill<'_>) -> Result<Body, PublishError> {
    filled_in(Vec::new(), name, size_bytes, fill)
}

/// Like [`filled`], but in memory that may already have been used.
pub(crate) fn filled_in(
    memory: Vec<u8>,
    name: &str,
    size_bytes: usize,
    fill: Fill<'_>,
) -> Result<Body, PublishError> {
    let topic = || name.to_owned();
    if !(4..=LARGEST_BYTES).contains(&size_bytes) {
        let largest_bytes = LARGEST_BYTES;
        return Err(PublishError::Size { topic: topic(), size_bytes, largest_bytes });
    }
    let mut body = Body::in_memory(memory, size_bytes)
        .map_err(|_| PublishError::OutOfMemory { topic: topic(), size_bytes })?;
    fill(body.bytes_mut()).map_err(|_| PublishError::FillAborted)?;
    Ok(body)
}

/// The payload of a sample.
struct Lent(Arc<Body>);

impl PayloadBytes for Lent {
    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }
}

/// A message, request or response that has been received but not used yet.
#[derive(Debug, Clone)]
pub(crate) struct Message {
    pub(crate) body: Arc<Body>,
    /// The gid of the sender.
    pub(crate) from: Gid,
    /// The sender's number, if it is known.
    pub(crate) number: Option<i64>,
    /// The time of publication, if it is known.
    pub(crate) stamp: Option<Stamp>,
    /// The time of arrival.
    pub(crate) at: SystemTime,
}

/// The messages that a subscription has received and that its user has not taken yet.
pub(crate) type Inbox = feros_inbox::Inbox<Message>;

/// The responses that a client has received and that its user has not taken yet.
pub(crate) type Responses = feros_inbox::Responses<Message>;

impl feros_inbox::Received for Message {
    fn size_bytes(&self) -> usize {
        self.body.bytes().len()
    }
}

impl Message {
    /// Creates the response of a server to the request with this number. Its arrival time is the
    /// current time.
    pub(crate) fn response(number: i64, body: Body, server: Gid) -> Self {
        let (stamp, at) = (Some(Stamp::now()), SystemTime::now());
        Self { body: Arc::new(body), from: server, number: Some(number), stamp, at }
    }

    /// Converts the message to a sample for the endpoint with this gid.
    pub(crate) fn sample(self, receiver: Gid) -> Sample {
        let info = MessageInfo {
            source_timestamp: self.stamp.and_then(Stamp::to_system_time),
            received_timestamp: Some(self.at),
            publication_sequence_number: self.number.and_then(|number| u64::try_from(number).ok()),
            publisher_gid: self.from,
            from_same_session: self.from.is_of_session_of(&receiver),
        };
        Sample { payload: Payload::new(Lent(self.body)), info }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn every_body_is_aligned_behind_its_header() {
        for size in (4..40).chain([1000, 70_000, 5_000_000]) {
            let body = Body::in_memory(vec![1; 100], size).unwrap();
            assert_eq!(body.bytes().len(), size);
            assert_eq!(body.bytes()[4..].as_ptr().align_offset(8), 0);
        }
        assert!(Body::in_memory(Vec::new(), usize::MAX).is_err());
    }
}

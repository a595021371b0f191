//! Memory for a serialized message that several readers read. The memory is used again when all of
//! them have finished.

use std::sync::Arc;

use feros_engine::{Payload, PayloadBytes};

/// A buffer in which the body of a message, which starts at the fifth byte, is aligned to 8 bytes.
pub(crate) struct Buffer {
    memory: Vec<u8>,
    start: usize,
    len: usize,
}

/// The alignment of a message's body.
const ALIGNMENT: usize = 8;
/// The size of the header before the body of a message.
const HEADER_BYTES: usize = 4;

impl Buffer {
    fn with_len(len: usize) -> Self {
        let mut buffer = Self { memory: Vec::new(), start: 0, len: 0 };
        buffer.set_len(len);
        buffer
    }

    /// Sets the length of the content. Afterwards, the content is what the buffer contained before,
    /// or zeros.
    fn set_len(&mut self, len: usize) {
        if self.memory.len() < len + ALIGNMENT {
            // The old content is not needed. So this allocates a new vector; to grow the existing
            // vector would copy its content.
            self.memory = vec![0; len + ALIGNMENT];
            let body = self.memory.as_ptr().wrapping_add(HEADER_BYTES).align_offset(ALIGNMENT);
            self.start = body % ALIGNMENT;
        }
        self.len = len;
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn as_slice(&self) -> &[u8] {
        &self.memory[self.start..self.start + self.len]
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.memory[self.start..self.start + self.len]
    }
}

/// The buffers of one publisher.
#[derive(Default)]
pub(crate) struct BufferPool(Vec<Arc<Buffer>>);

/// The number of buffers to keep for reuse: one to write into, and some that subscriptions are
/// still reading.
const KEPT: usize = 4;

impl BufferPool {
    /// Returns a buffer of this length that nobody else uses. Allocates memory if no buffer is free
    /// or the free buffer is too small.
    pub(crate) fn get(&mut self, len: usize) -> Arc<Buffer> {
        let free = self.0.iter().position(|buffer| Arc::strong_count(buffer) == 1);
        let mut buffer = free.map(|index| self.0.swap_remove(index));
        match buffer.as_mut().and_then(Arc::get_mut) {
            Some(unshared) => unshared.set_len(len),
            None => buffer = None,
        }
        buffer.unwrap_or_else(|| Arc::new(Buffer::with_len(len)))
    }

    /// Keeps a buffer, which can be used again when its readers have finished.
    pub(crate) fn put_back(&mut self, buffer: &Arc<Buffer>) {
        if self.0.len() >= KEPT {
            self.0.remove(0);
        }
        self.0.push(Arc::clone(buffer));
    }
}

/// A reference to a buffer of the pool, for one subscription that reads the buffer.
struct Lent(Arc<Buffer>);

impl PayloadBytes for Lent {
    fn bytes(&self) -> &[u8] {
        self.0.as_slice()
    }
}

/// Returns the bytes of a buffer of the pool as a payload, for one more queue.
pub(crate) fn lend(bytes: &Arc<Buffer>) -> Payload {
    Payload::new(Lent(Arc::clone(bytes)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn bodies_are_aligned_and_memory_is_used_again() {
        let mut pool = BufferPool::default();
        let mut buffer = pool.get(100);
        assert_eq!(Arc::get_mut(&mut buffer).unwrap().bytes_mut().len(), 100);
        assert_eq!(
            buffer.as_slice().as_ptr().wrapping_add(HEADER_BYTES).align_offset(ALIGNMENT),
            0
        );
        let place = buffer.as_slice().as_ptr();
        pool.put_back(&buffer);
        let other = pool.get(50);
        assert_ne!(other.as_slice().as_ptr(), place, "the first is still in use");
        drop(buffer);
        assert_eq!(pool.get(90).as_slice().as_ptr(), place);
    }
}

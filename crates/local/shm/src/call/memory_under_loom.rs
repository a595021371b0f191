//! Replaces the mapped memory under loom. It contains the control words, and the first byte of each
//! message.
//!
//! The bytes are atomics that impose no order of their own. If the channel did not order the
//! accesses, a side would see outdated or later content.

use feros_sync::{AtomicUsize, Ordering};
use rustix::io::Errno;

use super::layout::{ARENA_BYTES, Layout, MAX_SERVERS};

/// The alignment of messages.
const LINE_BYTES: usize = 64;

pub(super) struct CallMapping {
    layout: Layout,
    lines: Vec<AtomicUsize>,
}

impl CallMapping {
    pub(super) fn new() -> Self {
        let lines = 2 * MAX_SERVERS * ARENA_BYTES / LINE_BYTES;
        let lines = (0..lines).map(|_| AtomicUsize::new(0)).collect();
        Self { layout: Layout::default(), lines }
    }

    pub(super) fn layout(&self) -> &Layout {
        &self.layout
    }

    fn line(&self, offset_bytes: usize) -> &AtomicUsize {
        &self.lines[(offset_bytes - size_of::<Layout>()) / LINE_BYTES]
    }

    #[allow(clippy::unnecessary_wraps, reason = "as where memory can lack")]
    pub(super) fn provide(&self, _: usize, _: usize) -> Result<(), Errno> {
        Ok(())
    }

    pub(super) fn write<T>(
        &self,
        offset_bytes: usize,
        size_bytes: usize,
        write: impl FnOnce(&mut [u8]) -> T,
    ) -> T {
        let mut bytes = vec![0; size_bytes];
        let written = write(&mut bytes);
        self.line(offset_bytes).store(usize::from(bytes[0]), Ordering::Relaxed);
        written
    }

    pub(super) fn read(&self, offset_bytes: usize, into: &mut [u8]) {
        into[0] = self.line(offset_bytes).load(Ordering::Relaxed) as u8;
    }
}

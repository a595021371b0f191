//! The mapping of the memory of a client's calls. This file contains all unsafe code of the calls.

#![allow(unsafe_code)]

use std::os::fd::BorrowedFd;
use std::ptr;

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise};
use rustix::param::page_size;

use super::layout::{FILE_BYTES, Layout};
use crate::mapped_file::MappedFile;

/// A mapped file. Dropping this value unmaps the file. The file contains atomics, and arenas whose
/// owners (`Channel`) lend each part to one thread at a time.
#[derive(Debug)]
pub(super) struct CallMapping(MappedFile);

impl CallMapping {
    /// Maps a file of [`FILE_BYTES`]. The file must be sealed, so that it keeps this size.
    /// Otherwise, a later access could raise SIGBUS.
    pub(super) fn new(file: BorrowedFd<'_>) -> Result<Self, Errno> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // This takes only address space: no memory is reserved for bytes that may never be written.
        let flags = MapFlags::SHARED | MapFlags::NORESERVE;
        MappedFile::with(file, FILE_BYTES, protection, flags).map(Self)
    }

    pub(super) fn layout(&self) -> &Layout {
        const { assert!(size_of::<Layout>() <= FILE_BYTES) };
        // SAFETY: the memory is mapped while `self` exists. It is large enough, and aligned because
        // a page is aligned to 4096 bytes. `Layout` consists of atomics: any content is valid for
        // them, and a concurrent change by another process is not a data race.
        unsafe { self.0.start().cast().as_ref() }
    }

    /// Provides memory for these bytes of the file, so that a lack of memory causes an error here
    /// and not a signal at the first access.
    pub(super) fn provide(&self, offset_bytes: usize, size_bytes: usize) -> Result<(), Errno> {
        check(offset_bytes, size_bytes);
        let page = page_size();
        let begin = offset_bytes & !(page - 1);
        let end = (offset_bytes + size_bytes).next_multiple_of(page).min(FILE_BYTES);
        let address = self.0.start().as_ptr().wrapping_add(begin).cast();
        // SAFETY: populating does not change any content, and the range is within the mapping.
        match unsafe { madvise(address, end - begin, Advice::LinuxPopulateWrite) } {
            // Kernels before 5.14 do not support this, and provide the memory only at the first
            // access.
            Err(Errno::INVAL) => Ok(()),
            other => other,
        }
    }

    /// Lends bytes of the file for writing. The caller must ensure that no other thread of this
    /// process uses the same bytes. If another process writes to these bytes, it only changes the
    /// message.
    pub(super) fn write<T>(
        &self,
        offset_bytes: usize,
        size_bytes: usize,
        write: impl FnOnce(&mut [u8]) -> T,
    ) -> T {
        check(offset_bytes, size_bytes);
        let start = self.0.start().as_ptr().wrapping_add(offset_bytes);
        // SAFETY: the range is within the mapping, after the control words, and every bit pattern
        // is a valid u8. The writing side of a channel lends each part of its arena only once at a
        // time.
        write(unsafe { std::slice::from_raw_parts_mut(start, size_bytes) })
    }

    /// Copies bytes out of the file. If another process changes the bytes at the same time, the
    /// copy contains a mixture of old and new bytes.
    pub(super) fn read(&self, offset_bytes: usize, into: &mut [u8]) {
        check(offset_bytes, into.len());
        let start = self.0.start().as_ptr().wrapping_add(offset_bytes);
        // SAFETY: the range is within the mapping, and `into` is memory of this process that only
        // this call uses.
        unsafe { ptr::copy_nonoverlapping(start, into.as_mut_ptr(), into.len()) };
    }
}

/// Asserts that the range is within the file. Callers must check values of the other side before
/// they call this.
fn check(offset_bytes: usize, size_bytes: usize) {
    let end = offset_bytes.checked_add(size_bytes);
    assert!(end.is_some_and(|end| end <= FILE_BYTES), "a range within the file");
}

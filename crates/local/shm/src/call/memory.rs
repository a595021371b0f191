//! The mapping of the memory of a client's calls. This file contains all unsafe code of the calls.

#![allow(unsafe_code)]

use std::ops::Range;
use std::os::fd::BorrowedFd;
use std::ptr;

use rustix::io::Errno;
use rustix::mm::{Advice, MapFlags, ProtFlags, madvise};

use super::layout::{FILE_BYTES, Layout};
use crate::mapped_file::MappedFile;
use crate::page::{SMALLEST_PAGE_BYTES, page_bytes, pages_around};

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
        const { assert!(align_of::<Layout>() <= SMALLEST_PAGE_BYTES) };
        // SAFETY: the memory is mapped while `self` exists. It is large enough, and aligned because
        // it begins at a page. `Layout` consists of atomics: any content is valid for them, and a
        // concurrent change by another process is not a data race.
        unsafe { self.0.start().cast().as_ref() }
    }

    /// Provides memory for these bytes of the file, so that a lack of memory causes an error here
    /// and not a signal at the first access.
    pub(super) fn provide(&self, offset_bytes: usize, size_bytes: usize) -> Result<(), Errno> {
        check(offset_bytes, size_bytes);
        let pages = pages_of(offset_bytes, size_bytes, page_bytes());
        let address = self.0.start().as_ptr().wrapping_add(pages.start).cast();
        // SAFETY: populating does not change any content, and the range is within the mapping.
        match unsafe { madvise(address, pages.len(), Advice::LinuxPopulateWrite) } {
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

/// The pages of these bytes of the file. If the file ends within a page, the range ends there too;
/// the system then takes the whole page.
fn pages_of(offset_bytes: usize, size_bytes: usize, page_bytes: usize) -> Range<usize> {
    let pages = pages_around(offset_bytes..offset_bytes + size_bytes, page_bytes);
    pages.start..pages.end.min(FILE_BYTES)
}

/// Asserts that the range is within the file. Callers must check values of the other side before
/// they call this.
fn check(offset_bytes: usize, size_bytes: usize) {
    let end = offset_bytes.checked_add(size_bytes);
    assert!(end.is_some_and(|end| end <= FILE_BYTES), "a range within the file");
}

#[cfg(test)]
mod tests {
    use super::super::layout::{ARENA_BYTES, MAX_SERVERS, Role};
    use super::*;
    use crate::page::PAGE_SIZES;

    /// The offset and size of everything that a client or a server provides memory for.
    fn parts() -> Vec<(usize, usize)> {
        let controls = (0..MAX_SERVERS).map(Layout::control_extent);
        let arenas = (0..MAX_SERVERS).flat_map(|channel| {
            [Role::Client, Role::Server].map(|role| Layout::arena_offset(channel, role))
        });
        let arenas = arenas.flat_map(|arena| {
            [(0, 1), (63, 4097), (ARENA_BYTES - 1, 1), (0, ARENA_BYTES)]
                .map(|(begin, size)| (arena + begin, size))
        });
        std::iter::once((0, 1)).chain(controls).chain(arenas).collect()
    }

    #[test]
    fn each_part_of_the_file_is_provided_in_whole_pages_of_each_size() {
        for page in PAGE_SIZES {
            for (offset, size) in parts() {
                let pages = pages_of(offset, size, page);
                assert!(pages.start.is_multiple_of(page), "{offset} {size} {page}");
                assert!(pages.end.is_multiple_of(page) || pages.end == FILE_BYTES);
                assert!(pages.start <= offset && offset + size <= pages.end);
                assert!(pages.len() < size + 2 * page && pages.end <= FILE_BYTES);
            }
        }
    }

    /// The format of the file. Two processes have the same, whatever the size of a page is.
    #[test]
    fn the_layout_does_not_depend_on_the_size_of_a_page() {
        assert_eq!((size_of::<Layout>(), align_of::<Layout>()), (36 << 10, SMALLEST_PAGE_BYTES));
        assert_eq!(FILE_BYTES, (36 << 10) + 8 * ARENA_BYTES);
        let controls = [0, 1, 2, 3].map(Layout::control_extent);
        assert_eq!(controls, [4, 12, 20, 28].map(|begin| (begin << 10, 8 << 10)));
        assert_eq!(Layout::arena_offset(0, Role::Client), 36 << 10);
        assert_eq!(Layout::arena_offset(3, Role::Server), (36 << 10) + 7 * ARENA_BYTES);
    }
}

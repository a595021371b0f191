//! Makes pages present before they are written, so that a full `/dev/shm` causes an error and not a
//! SIGBUS.
//!
//! The pool of a new publisher has memory only for iceoryx2's records (`storage`). Its messages
//! take no memory until they are written. But the kernel allocates a page of a tmpfs at the first
//! access, and raises SIGBUS if there is no page left. `MADV_POPULATE_WRITE` (Linux 5.14) also
//! allocates pages, but in that case it returns an error.

use std::ffi::c_void;

use rustix::io::Errno;
use rustix::mm::{Advice, madvise};

use crate::page::{page_bytes, pages_around, pages_within};

/// The file system that contains POSIX shared memory. The function `shm_open` of glibc always uses
/// this file system.
pub(crate) const SHM: &str = "/dev/shm";

/// The number of bytes that must remain free when a file of a known size is made. They are for the
/// other small files of iceoryx2, each of which takes at least a page, and for other processes.
pub(crate) fn margin_bytes(page_bytes: usize) -> u64 {
    small_files_bytes(page_bytes).max(512 * 1024)
}

/// The number of bytes that a few small files take.
pub(crate) fn small_files_bytes(page_bytes: usize) -> u64 {
    16 * page_bytes as u64
}

/// The number of bytes that `/dev/shm` can still provide, or `u64::MAX` if it has no limit.
pub(crate) fn free_bytes() -> Result<u64, Errno> {
    let stat = rustix::fs::statvfs(SHM)?;
    if stat.f_blocks == 0 {
        return Ok(u64::MAX); // a tmpfs that is mounted with size=0 has no limit
    }
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Makes the pages of `[address, address + length)` present and writable. Pages that are already
/// present keep their content, and new pages are zero. After a failure, the whole pages within the
/// range are returned to the system.
///
/// The range must be within one shared mapping of this process, namely the mapping of a publisher's
/// own segment. Otherwise, this function fails.
pub(crate) fn make_present(address: usize, length: usize) -> Result<(), Errno> {
    let (bytes, page) = (address..address + length, page_bytes());
    let pages = pages_around(bytes.clone(), page);
    let needed = pages.len() as u64;
    if free_bytes()? < needed {
        return Err(Errno::NOSPC); // a failed attempt would use up memory for a moment
    }
    let pointer = |address| std::ptr::with_exposed_provenance_mut::<c_void>(address);
    // SAFETY: populating does not change any content, and the kernel refuses a range that is not
    // mapped.
    match unsafe { madvise(pointer(pages.start), pages.len(), Advice::LinuxPopulateWrite) } {
        // On a kernel before 5.14, only the free space can be checked.
        Err(Errno::INVAL) if free_bytes()? > needed + margin_bytes(page) => Ok(()),
        Err(Errno::INVAL) => Err(Errno::NOSPC),
        Err(error) => {
            // A page may be shared with the next chunk, so only pages of this range are returned.
            let pages = pages_within(bytes, page);
            if !pages.is_empty() {
                // SAFETY: these are whole pages within a range that the caller is about to write
                // for the first time, so no code reads them.
                let _ = unsafe { madvise(pointer(pages.start), pages.len(), Advice::LinuxRemove) };
            }
            Err(error)
        }
        Ok(()) => Ok(()),
    }
}

/// A record of how much memory of a segment's chunks is present.
#[derive(Debug, Default)]
pub(crate) struct Pages {
    /// For each chunk, by its number, how many bytes from its start are present.
    present_bytes: Vec<usize>,
    total_bytes: u64,
}

impl Pages {
    /// The memory that the chunks have taken, in bytes.
    pub(crate) fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    fn present_bytes(&self, chunk: usize) -> usize {
        self.present_bytes.get(chunk).copied().unwrap_or(0)
    }

    /// How many bytes would be taken from the system if `length` bytes were written from the start
    /// of a chunk.
    pub(crate) fn missing_bytes(&self, chunk: usize, length: usize) -> u64 {
        length.saturating_sub(self.present_bytes(chunk)) as u64
    }

    /// Makes `length` bytes present from the start of a chunk, which is at `address`.
    pub(crate) fn provide(
        &mut self,
        chunk: usize,
        address: usize,
        length: usize,
    ) -> Result<(), Errno> {
        let present = self.present_bytes(chunk);
        if present < length {
            make_present(address + present, length - present)?;
            self.total_bytes += (length - present) as u64;
            if chunk >= self.present_bytes.len() {
                self.present_bytes.resize(chunk + 1, 0);
            }
            self.present_bytes[chunk] = length;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::PAGE_SIZES;

    #[test]
    fn room_is_kept_for_small_files_of_whole_pages() {
        assert_eq!(PAGE_SIZES.map(small_files_bytes), [64 << 10, 256 << 10, 1 << 20]);
        assert_eq!(PAGE_SIZES.map(margin_bytes), [512 << 10, 512 << 10, 1 << 20]);
    }
}

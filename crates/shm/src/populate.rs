//! Pages are made present before they are written, so that a full `/dev/shm` is an error and not a SIGBUS.
//!
//! iceoryx2 makes its shared memory with `shm_open` and `ftruncate` (no `fallocate`), does not zero it, and touches only its
//! management data. Pages thus cost nothing until written; but the kernel allocates a page of a tmpfs at the first write,
//! and answers with SIGBUS when none is left. `MADV_POPULATE_WRITE` (Linux 5.14) does the same with an error code.

use std::ffi::c_void;

use rustix::mm::{Advice, madvise};
use rustix::param::page_size;

/// The file system that holds POSIX shared memory; glibc's `shm_open` knows no other.
pub(crate) const SHM: &str = "/dev/shm";

/// Room that stays free when something of a known size is made: iceoryx2 makes its management segments itself, so for them
/// the space can only be looked at before.
pub(crate) const MARGIN_BYTES: u64 = 512 * 1024;

/// Bytes that `/dev/shm` can still give; as much as can be said when it has no limit.
pub(crate) fn free_bytes() -> Result<u64, rustix::io::Errno> {
    let stat = rustix::fs::statvfs(SHM)?;
    if stat.f_blocks == 0 {
        return Ok(u64::MAX); // a tmpfs mounted with size=0 has no limit of its own
    }
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Makes the pages of `[address, address + length)` present and writable. Content is kept; new pages are zero.
///
/// The range must lie within one shared mapping of this process (that of a publisher's own segment); else this fails.
pub(crate) fn make_present(address: usize, length: usize) -> Result<(), rustix::io::Errno> {
    let page = page_size();
    let start = address & !(page - 1);
    let end = (address + length).next_multiple_of(page);
    // SAFETY: populating changes no content, and a range that is not mapped is refused by the kernel.
    match unsafe {
        madvise(
            std::ptr::with_exposed_provenance_mut::<c_void>(start),
            end - start,
            Advice::LinuxPopulateWrite,
        )
    } {
        // A kernel before 5.14: what can be done is to look whether there is space.
        Err(rustix::io::Errno::INVAL) if free_bytes()? > (end - start) as u64 + MARGIN_BYTES => Ok(()),
        Err(rustix::io::Errno::INVAL) => Err(rustix::io::Errno::NOSPC),
        other => other,
    }
}

/// Which chunks of a segment have been made present, and how far. The allocator of iceoryx2 gives out the chunk that came
/// back last, and fresh chunks in the order of their place; so the number of chunks seen is the number ever used at once, and
/// the next fresh one is known before it is given out (iceoryx2 writes its header while it lends).
pub(crate) struct Pages {
    base: usize,
    stride: usize,
    /// Per chunk seen: bytes from its start that are present.
    present_bytes: Vec<usize>,
    /// Whether the head of the next fresh chunk is present.
    next_is_ready: bool,
    total_bytes: u64,
}

impl Pages {
    /// `base` is the address of the first chunk; the next one lies `stride` bytes behind. Both have been seen.
    pub(crate) fn new(base: usize, stride: usize) -> Self {
        Self { base, stride, present_bytes: vec![0, 0], next_is_ready: false, total_bytes: 0 }
    }

    /// Bytes of memory that the chunks have taken.
    pub(crate) fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// The number of chunks that were in use at once.
    pub(crate) fn chunks(&self) -> usize {
        self.present_bytes.len()
    }

    /// Makes the head of the chunk present that is given out next if none comes back before.
    pub(crate) fn prepare_next(&mut self, head_bytes: usize) -> Result<(), rustix::io::Errno> {
        if !self.next_is_ready {
            make_present(self.base + self.present_bytes.len() * self.stride, head_bytes.min(self.stride))?;
            self.next_is_ready = true;
        }
        Ok(())
    }

    /// What writing `length` bytes from the start of the chunk at `address` would take from the system.
    pub(crate) fn missing_bytes(&self, address: usize, length: usize) -> u64 {
        let index = (address - self.base) / self.stride;
        length.saturating_sub(self.present_bytes.get(index).copied().unwrap_or(0)) as u64
    }

    /// Makes `length` bytes from the start of the chunk at `address` present.
    pub(crate) fn provide(&mut self, address: usize, length: usize) -> Result<(), rustix::io::Errno> {
        let index = (address - self.base) / self.stride;
        while self.present_bytes.len() <= index {
            self.present_bytes.push(0);
            self.next_is_ready = false;
        }
        let present = &mut self.present_bytes[index];
        if *present < length {
            make_present(address + *present, length - *present)?;
            self.total_bytes += (length - *present) as u64;
            *present = length;
        }
        Ok(())
    }
}

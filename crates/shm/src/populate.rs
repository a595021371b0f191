//! Pages are made present before they are written, so that a full `/dev/shm` is an error and not a
//! SIGBUS.
//!
//! A publisher's pool has memory for its books alone when it is made (`storage`): its messages cost
//! nothing until written. But the kernel allocates a page of a tmpfs at the first touch, and
//! answers with SIGBUS when none is left. `MADV_POPULATE_WRITE` (Linux 5.14) does the same with an
//! error code.

use std::ffi::c_void;

use rustix::io::Errno;
use rustix::mm::{Advice, madvise};
use rustix::param::page_size;

/// The file system that holds POSIX shared memory; glibc's `shm_open` knows no other.
pub(crate) const SHM: &str = "/dev/shm";

/// Room that stays free when something of a known size is made: for the small files that iceoryx2
/// writes besides, and for others.
pub(crate) const MARGIN_BYTES: u64 = 512 * 1024;

/// Bytes that `/dev/shm` can still give; as much as can be said when it has no limit.
pub(crate) fn free_bytes() -> Result<u64, Errno> {
    let stat = rustix::fs::statvfs(SHM)?;
    if stat.f_blocks == 0 {
        return Ok(u64::MAX); // a tmpfs mounted with size=0 has no limit of its own
    }
    Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
}

/// Makes the pages of `[address, address + length)` present and writable. Content is kept; new
/// pages are zero. What a failure leaves present is given back, as far as whole pages go.
///
/// The range must lie within one shared mapping of this process (that of a publisher's own
/// segment); else this fails.
pub(crate) fn make_present(address: usize, length: usize) -> Result<(), Errno> {
    let page = page_size();
    let start = address & !(page - 1);
    let end = (address + length).next_multiple_of(page);
    let needed = (end - start) as u64;
    if free_bytes()? < needed {
        return Err(Errno::NOSPC); // without taking from others what would be given back
    }
    let pointer = |address| std::ptr::with_exposed_provenance_mut::<c_void>(address);
    // SAFETY: populating changes no content, and a range that is not mapped is refused by the
    // kernel.
    match unsafe { madvise(pointer(start), end - start, Advice::LinuxPopulateWrite) } {
        // A kernel before 5.14: what can be done is to look whether there is space.
        Err(Errno::INVAL) if free_bytes()? > needed + MARGIN_BYTES => Ok(()),
        Err(Errno::INVAL) => Err(Errno::NOSPC),
        Err(error) => {
            let (start, end) = (address.next_multiple_of(page), (address + length) & !(page - 1));
            if start < end {
                // SAFETY: the whole pages within a range that the caller is about to write for the
                // first time: nobody reads them.
                let _ = unsafe { madvise(pointer(start), end - start, Advice::LinuxRemove) };
            }
            Err(error)
        }
        Ok(()) => Ok(()),
    }
}

/// Which chunks of a segment have been made present, and how far.
///
/// iceoryx2 writes a chunk's header while it lends it, before anything can be done about its page.
/// But its allocator is a stack: it gives out the chunk that came back last, and fresh chunks in
/// the order of their place, when no other is left. So the number of chunks seen is the number ever
/// used at once, the next fresh one is known, and its head is made present in time: when the last
/// chunk seen is given out. If that fails, that chunk is not used; put back, it lies below all
/// others, and comes again only when again no other is left.
pub(crate) struct Pages {
    base: usize,
    stride: usize,
    chunks: usize,
    head_bytes: usize,
    /// Per chunk seen: bytes from its start that are present.
    present_bytes: Vec<usize>,
    /// Whether the head of the next fresh chunk is present.
    next_is_ready: bool,
    total_bytes: u64,
}

impl Pages {
    /// Of `chunks` chunks from `base` on, `stride` bytes apart. The first two have been lent and
    /// given back. `head_bytes` is what may be written of a chunk while it is lent.
    pub(crate) fn new(
        base: usize,
        stride: usize,
        chunks: usize,
        head_bytes: usize,
    ) -> Result<Self, Errno> {
        let mut this = Self {
            base,
            stride,
            chunks,
            head_bytes,
            present_bytes: vec![0, 0],
            next_is_ready: false,
            total_bytes: 0,
        };
        this.prepare_next()?;
        Ok(this)
    }

    /// Bytes of memory that the chunks have taken.
    pub(crate) fn total_bytes(&self) -> u64 {
        self.total_bytes
    }

    /// The number of chunks that were in use at once.
    pub(crate) fn seen(&self) -> usize {
        self.present_bytes.len()
    }

    /// Whether a chunk that is lent can lie there: the books that say so lie in shared memory.
    pub(crate) fn can_lend(&self, address: usize) -> bool {
        let Some(offset) = address.checked_sub(self.base) else { return false };
        let most = self.present_bytes.len().min(self.chunks - 1);
        offset.is_multiple_of(self.stride) && offset / self.stride <= most
    }

    /// To be called for each chunk lent. After a failure the chunk must not be used, but put back.
    pub(crate) fn lent(&mut self, address: usize) -> Result<(), Errno> {
        let index = self.index(address);
        if index == self.present_bytes.len() {
            self.present_bytes.push(0);
            self.next_is_ready = false;
        }
        if index + 1 == self.present_bytes.len() { self.prepare_next() } else { Ok(()) }
    }

    /// What writing `length` bytes from the start of the chunk at `address` would take from the
    /// system.
    pub(crate) fn missing_bytes(&self, address: usize, length: usize) -> u64 {
        length.saturating_sub(self.present_bytes[self.index(address)]) as u64
    }

    /// Makes `length` bytes from the start of the chunk at `address` present.
    pub(crate) fn provide(&mut self, address: usize, length: usize) -> Result<(), Errno> {
        let index = self.index(address);
        let present = &mut self.present_bytes[index];
        if *present < length {
            make_present(address + *present, length - *present)?;
            self.total_bytes += (length - *present) as u64;
            *present = length;
        }
        Ok(())
    }

    fn prepare_next(&mut self) -> Result<(), Errno> {
        let next = self.present_bytes.len();
        if !self.next_is_ready && next < self.chunks {
            make_present(self.base + next * self.stride, self.head_bytes)?;
            self.next_is_ready = true;
        }
        Ok(())
    }

    fn index(&self, address: usize) -> usize {
        (address - self.base) / self.stride
    }
}

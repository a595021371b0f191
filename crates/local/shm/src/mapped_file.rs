//! Maps files into the memory of the process.

use std::os::fd::AsFd;
use std::ptr::{self, NonNull};

use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

/// A mapped file. Dropping this value unmaps it.
#[derive(Debug)]
pub(crate) struct MappedFile {
    start: NonNull<u8>,
    size_bytes: usize,
}

// SAFETY: the mapping belongs to the process and not to a thread, and only its single owner unmaps
// it.
unsafe impl Send for MappedFile {}
// SAFETY: a shared reference gives only addresses.
unsafe impl Sync for MappedFile {}

impl MappedFile {
    /// Maps the first bytes of a file for reading and writing. The file must keep this size, since
    /// a later access could raise SIGBUS otherwise.
    pub(crate) fn new(file: impl AsFd, size_bytes: usize) -> Result<Self, Errno> {
        Self::with(file, size_bytes, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED)
    }

    /// Like [`new`](Self::new), with these flags.
    pub(crate) fn with(
        file: impl AsFd,
        size_bytes: usize,
        access: ProtFlags,
        flags: MapFlags,
    ) -> Result<Self, Errno> {
        // SAFETY: the kernel chooses the address, so no memory that is in use is replaced.
        let address = unsafe { mmap(ptr::null_mut(), size_bytes, access, flags, file, 0) }?;
        // The kernel never chooses address zero.
        let start = NonNull::new(address.cast()).ok_or(Errno::INVAL)?;
        Ok(Self { start, size_bytes })
    }

    /// The start of the mapping, which is aligned to a page.
    pub(crate) fn start(&self) -> NonNull<u8> {
        self.start
    }

    pub(crate) fn size_bytes(&self) -> usize {
        self.size_bytes
    }
}

impl Drop for MappedFile {
    fn drop(&mut self) {
        // SAFETY: the address and size are those of this mapping, and everything that uses the
        // address keeps the mapping alive.
        let unmapped = unsafe { munmap(self.start.as_ptr().cast(), self.size_bytes) };
        debug_assert_eq!(unmapped, Ok(()));
    }
}

//! Maps shared memory as a [`Layout`]. This file has all unsafe code of the process segment.

#![allow(unsafe_code)]

use super::layout::{Layout, SEGMENT_BYTES};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::fmt;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};

/// A mapped segment, unmapped on drop.
pub(crate) struct Mapping(NonNull<Layout>);

// SAFETY: the mapping belongs to the process, not to a thread, and only its single owner unmaps it.
unsafe impl Send for Mapping {}
// SAFETY: a shared reference gives access to atomics alone.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps a file of at least [`SEGMENT_BYTES`]. The file has to be sealed, so that it does not
    /// shrink; otherwise a later access would raise SIGBUS.
    pub(crate) fn new(file: BorrowedFd<'_>) -> Result<Self, Errno> {
        // SAFETY: the kernel chooses the address, so no memory in use is replaced.
        let address = unsafe {
            mmap(
                ptr::null_mut(),
                SEGMENT_BYTES,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                file,
                0,
            )
        }?;
        // A page is aligned to 4096, as `Layout` requires; the kernel never chooses address zero.
        NonNull::new(address.cast()).map(Self).ok_or(Errno::INVAL)
    }

    pub(crate) fn layout(&self) -> &Layout {
        // SAFETY: the memory is mapped for as long as `self` lives, large enough and aligned.
        // `Layout` consists of atomics, for which any content is valid and concurrent change by
        // other processes is no data race.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the address and size are those of this mapping; references to it borrow `self`,
        // so none is left.
        let unmapped = unsafe { munmap(self.0.as_ptr().cast(), SEGMENT_BYTES) };
        debug_assert_eq!(unmapped, Ok(()));
    }
}

impl fmt::Debug for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mapping").field(&self.0).finish()
    }
}

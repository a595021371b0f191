//! Maps shared memory as a [`Layout`]. This file contains all unsafe code of the process segment.

#![allow(unsafe_code)]

use super::layout::{Layout, SEGMENT_BYTES};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::fmt;
use std::os::fd::BorrowedFd;
use std::ptr::{self, NonNull};

/// A mapped segment. Dropping this value unmaps it.
pub(crate) struct Mapping(NonNull<Layout>);

// SAFETY: the mapping belongs to the process and not to a thread, and only its single owner unmaps
// it.
unsafe impl Send for Mapping {}
// SAFETY: a shared reference gives access only to atomics.
unsafe impl Sync for Mapping {}

impl Mapping {
    /// Maps a file of at least [`SEGMENT_BYTES`]. The file must be sealed against shrinking;
    /// otherwise a later access could raise SIGBUS.
    pub(crate) fn new(file: BorrowedFd<'_>) -> Result<Self, Errno> {
        // SAFETY: the kernel chooses the address, so no memory that is in use is replaced.
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
        // A page is aligned to 4096 bytes, which satisfies `Layout`, and the kernel never chooses
        // address zero.
        NonNull::new(address.cast()).map(Self).ok_or(Errno::INVAL)
    }

    pub(crate) fn layout(&self) -> &Layout {
        // SAFETY: the memory is mapped while `self` exists, and it is large enough and aligned.
        // `Layout` consists of atomics: any content is valid for them, and a concurrent change by
        // another process is not a data race.
        unsafe { self.0.as_ref() }
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: the address and size are those of this mapping, and all references to it borrow
        // `self`, so none of them exists any longer.
        let unmapped = unsafe { munmap(self.0.as_ptr().cast(), SEGMENT_BYTES) };
        debug_assert_eq!(unmapped, Ok(()));
    }
}

impl fmt::Debug for Mapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Mapping").field(&self.0).finish()
    }
}

//! A doorbell in real shared memory that can be mapped twice, as if by two processes.
#![allow(unsafe_code)] // mapping memory is unsafe; the crate itself has no unsafe code

use feros_executor::{Doorbell, DoorbellMemory};
use rustix::fd::OwnedFd;
use rustix::fs::{MemfdFlags, ftruncate, memfd_create};
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use std::ptr::{NonNull, null_mut};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

pub(crate) struct Mapped {
    memory: NonNull<Doorbell>,
    file: Arc<OwnedFd>,
}

// SAFETY: a mapping belongs to the process, and a doorbell consists of atomics.
unsafe impl Send for Mapped {}
// SAFETY: as above.
unsafe impl Sync for Mapped {}

impl Mapped {
    pub(crate) fn new() -> Arc<Self> {
        let file = memfd_create("doorbell", MemfdFlags::CLOEXEC).unwrap();
        ftruncate(&file, size_of::<Doorbell>() as u64).unwrap();
        Self::of(Arc::new(file))
    }

    /// Maps the same memory at another address, as another process would.
    #[allow(dead_code)] // not every test program uses this function
    pub(crate) fn again(&self) -> Arc<Self> {
        Self::of(Arc::clone(&self.file))
    }

    fn of(file: Arc<OwnedFd>) -> Arc<Self> {
        let protection = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses the address.
        let address = unsafe {
            mmap(null_mut(), size_of::<Doorbell>(), protection, MapFlags::SHARED, &file, 0)
        };
        Arc::new(Self { memory: NonNull::new(address.unwrap().cast()).unwrap(), file })
    }

    /// The doorbell's memory in the form in which another process may see it.
    #[allow(dead_code)]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: the size is that of the mapping, which is page aligned, and atomics are valid
        // with any value.
        unsafe {
            std::slice::from_raw_parts(self.memory.as_ptr().cast(), size_of::<Doorbell>() / 8)
        }
    }
}

impl DoorbellMemory for Mapped {
    fn doorbell(&self) -> &Doorbell {
        // SAFETY: the memory is mapped as long as `self` lives and page aligned, and zeroes are a
        // valid doorbell.
        unsafe { self.memory.as_ref() }
    }

    fn number(&self) -> Option<u32> {
        Some(7)
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        // SAFETY: this value owns the mapping, and no borrow of it is left.
        unsafe { munmap(self.memory.as_ptr().cast(), size_of::<Doorbell>()) }.unwrap();
    }
}

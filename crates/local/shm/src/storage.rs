//! The files for the state of iceoryx2 in shared memory. They are made in such a way that no access
//! to them can fail. iceoryx2 lets a service choose its storages. The storage that iceoryx2 itself
//! provides does not check for free space before or during its creation.
//!
//! - [`WholeStorage`] has memory for the whole file from the start. It holds queues, lists of
//!   ports, and the counter of nodes.
//! - [`SparseStorage`] has memory only for what is written during its creation. It holds a
//!   publisher's pool. The records that iceoryx2 keeps about a pool are small, and the messages in
//!   the pool get their pages one by one (`populate`).
//!
//! Names, layout and permissions are the same as in the storage that iceoryx2 provides for POSIX
//! shared memory. But here, a file is finished before it gets its name.

mod builder;
mod file;
pub(crate) mod populate;
#[cfg(test)]
mod tests;

use std::cell::Cell;
use std::fmt::Debug;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::path::PathBuf;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use iceoryx2::prelude::{FileName, Path, ZeroCopySend};
use iceoryx2_bb_elementary_traits::testing::abandonable::Abandonable;
use iceoryx2_cal::dynamic_storage::{DynamicStorage, posix_shared_memory};
use iceoryx2_cal::named_concept::{
    NamedConcept, NamedConceptDoesExistError, NamedConceptListError, NamedConceptMgmt,
    NamedConceptPathHintRemoveError, NamedConceptRemoveError,
};
use rustix::io::Errno;

use self::builder::Builder;
use crate::mapped_file::MappedFile;

/// A storage with memory for the whole file.
pub(crate) type WholeStorage<T> = Storage<T, true>;
/// A storage with memory only for what was written during its creation, and for its first pages.
pub(crate) type SparseStorage<T> = Storage<T, false>;

/// The names are the same as in the storage that iceoryx2 provides.
type Configuration<T> = posix_shared_memory::Configuration<T>;
type Names<T> = posix_shared_memory::Storage<T>;

/// A value of iceoryx2, and the memory that follows it, in a file that several processes share.
#[derive(Debug)]
pub(crate) struct Storage<T: Debug + Send + Sync + ZeroCopySend, const WHOLE: bool> {
    /// This is shared with code that reads and writes the memory directly.
    mapping: Arc<MappedFile>,
    name: FileName,
    path: PathBuf,
    /// Whether dropping this value removes the file.
    has_ownership: AtomicBool,
    value: PhantomData<T>,
}

/// The beginning of a file.
#[repr(C)]
struct Head<T> {
    /// The version of iceoryx2, because the layout differs between versions. It is 0 in an
    /// unfinished file.
    version: AtomicU64,
    value: MaybeUninit<T>,
}

/// The reason why a storage could not be made or opened.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failure {
    pub(crate) size_bytes: u64,
    pub(crate) cause: Errno,
}

thread_local! {
    /// The last failure on this thread. iceoryx2 makes the storages on the thread that asks for a
    /// port, and it reports only that something failed.
    static FAILURE: Cell<Option<Failure>> = const { Cell::new(None) };
    /// The sparse storage that this thread made or opened last.
    static SPARSE: Cell<Option<Arc<MappedFile>>> = const { Cell::new(None) };
}

/// Returns the memory of the sparse storage that this thread made or opened last. Each storage is
/// returned only once.
pub(crate) fn take_sparse() -> Option<Arc<MappedFile>> {
    SPARSE.take()
}

/// Forgets earlier failures of this thread.
pub(crate) fn forget_failure() {
    FAILURE.set(None);
}

/// Takes the last failure of this thread to make or open a storage. Returns `None` if there was no
/// failure, or if it has been forgotten.
pub(crate) fn take_failure() -> Option<Failure> {
    FAILURE.take()
}

impl<T: Debug + Send + Sync + ZeroCopySend, const WHOLE: bool> Storage<T, WHOLE> {
    fn head(&self) -> NonNull<Head<T>> {
        self.mapping.start().cast()
    }

    /// The memory that follows the value, as words.
    pub(crate) fn words(&self) -> &[AtomicU64] {
        const { assert!(size_of::<Head<T>>().is_multiple_of(align_of::<AtomicU64>())) };
        let (start, head_bytes) = (self.mapping.start(), size_of::<Head<T>>());
        let words = (self.mapping.size_bytes() - head_bytes) / size_of::<AtomicU64>();
        // SAFETY: this many bytes are mapped after the head while `self` exists, and it was checked
        // that the head fits. Any content is valid for an atomic, and a change by another process
        // is not a data race.
        unsafe { std::slice::from_raw_parts(start.add(head_bytes).cast().as_ptr(), words) }
    }
}

impl<T: Debug + Send + Sync + ZeroCopySend, const WHOLE: bool> Drop for Storage<T, WHOLE> {
    fn drop(&mut self) {
        if self.has_ownership()
            && let Err(error) = std::fs::remove_file(&self.path)
        {
            let path = self.path.display();
            tracing::debug!(target: "feros::shm", %path, %error, "a file of shared memory stays \
                                                                  until the next clean-up");
        }
    }
}

impl<T: Debug + Send + Sync + ZeroCopySend, const WHOLE: bool> Abandonable for Storage<T, WHOLE> {
    unsafe fn abandon_in_place(mut this: NonNull<Self>) {
        // SAFETY: the caller hands over its value, and does not use it afterwards.
        unsafe { std::ptr::drop_in_place(&raw mut this.as_mut().mapping) };
    }
}

impl<T: Debug + Send + Sync + ZeroCopySend, const WHOLE: bool> NamedConcept for Storage<T, WHOLE> {
    fn name(&self) -> &FileName {
        &self.name
    }
}

impl<T: Debug + Send + Sync + ZeroCopySend, const WHOLE: bool> NamedConceptMgmt
    for Storage<T, WHOLE>
{
    type Configuration = Configuration<T>;

    unsafe fn remove_cfg(
        name: &FileName,
        config: &Self::Configuration,
    ) -> Result<bool, NamedConceptRemoveError> {
        // SAFETY: the caller gives the same guarantees.
        unsafe { Names::<T>::remove_cfg(name, config) }
    }

    fn does_exist_cfg(
        name: &FileName,
        config: &Self::Configuration,
    ) -> Result<bool, NamedConceptDoesExistError> {
        Names::<T>::does_exist_cfg(name, config)
    }

    fn list_cfg(config: &Self::Configuration) -> Result<Vec<FileName>, NamedConceptListError> {
        Names::<T>::list_cfg(config)
    }

    fn remove_path_hint(path: &Path) -> Result<(), NamedConceptPathHintRemoveError> {
        Names::<T>::remove_path_hint(path)
    }
}

impl<T: Debug + Send + Sync + ZeroCopySend, const WHOLE: bool> DynamicStorage<T>
    for Storage<T, WHOLE>
{
    type Builder<'builder> = Builder<'builder, T, WHOLE>;

    fn does_support_persistency() -> bool {
        true
    }

    fn has_ownership(&self) -> bool {
        self.has_ownership.load(Ordering::Relaxed)
    }

    fn release_ownership(&self) {
        self.has_ownership.store(false, Ordering::Relaxed);
    }

    fn acquire_ownership(&self) {
        self.has_ownership.store(true, Ordering::Relaxed);
    }

    fn get(&self) -> &T {
        // SAFETY: the file is mapped while `self` exists, was checked to be at least as long as its
        // head, and was finished before it got its name.
        unsafe { self.head().as_ref().value.assume_init_ref() }
    }

    unsafe fn __internal_set_type_name_in_config(
        config: &mut Self::Configuration,
        type_name: &str,
    ) {
        // SAFETY: the caller gives the same guarantees.
        unsafe { Names::<T>::__internal_set_type_name_in_config(config, type_name) };
    }
}

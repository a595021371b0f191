//! iceoryx2's shared memory, mapped without a file that stays open.
//!
//! iceoryx2 keeps the file of everything that it maps open, three per topic and side, and makes no
//! use of it: a process of 200 topics would reach the usual limit of 1024 open files. Here iceoryx2
//! makes and opens the memory, by its own protocol; then it is mapped once more and the file is
//! closed. What lies in such memory is found by offsets, because other processes have it at other
//! addresses, so a second address changes nothing.

use std::ffi::c_void;
use std::fmt::Debug;
use std::mem::MaybeUninit;
use std::path::Path;
use std::ptr::{self, NonNull};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use iceoryx2::prelude::{FileName, ZeroCopySend};
use iceoryx2_bb_elementary_traits::testing::abandonable::Abandonable;
use iceoryx2_bb_memory::bump_allocator::BumpAllocator;
use iceoryx2_bb_posix::file::AccessMode;
use iceoryx2_cal::dynamic_storage::posix_shared_memory as posix;
use iceoryx2_cal::dynamic_storage::{
    DynamicStorage, DynamicStorageBuilder, DynamicStorageCreateError, DynamicStorageOpenError,
    DynamicStorageOpenOrCreateError,
};
use iceoryx2_cal::named_concept::{
    NamedConcept, NamedConceptBuilder, NamedConceptConfiguration, NamedConceptDoesExistError,
    NamedConceptListError, NamedConceptMgmt, NamedConceptPathHintRemoveError,
    NamedConceptRemoveError,
};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use rustix::param::page_size;

use crate::limits::check_file_size;
use crate::populate::SHM;

/// A `T`, and what belongs to it, in shared memory.
#[derive(Debug)]
pub(crate) struct MappedStorage<T: Send + Sync + Debug + ZeroCopySend> {
    address: NonNull<c_void>,
    length: usize,
    value: NonNull<T>,
    name: FileName,
    config: posix::Configuration<T>,
    has_ownership: AtomicBool,
}

// SAFETY: the mapping belongs to the process and not to a thread, and `T` may be sent.
unsafe impl<T: Send + Sync + Debug + ZeroCopySend> Send for MappedStorage<T> {}
// SAFETY: a shared reference gives access to a shared `T` alone.
unsafe impl<T: Send + Sync + Debug + ZeroCopySend> Sync for MappedStorage<T> {}

impl<T: Send + Sync + Debug + ZeroCopySend> MappedStorage<T> {
    /// Maps what iceoryx2 has mapped; its file is closed with `opened`.
    fn of(
        opened: &posix::Storage<T>,
        config: posix::Configuration<T>,
        access: AccessMode,
        has_ownership: bool,
    ) -> Result<Self, Errno> {
        let file_name = config.path_for(opened.name()).file_name();
        let path = Path::new(SHM).join(file_name.to_string());
        let (open_for, protection) = match access {
            AccessMode::Read => (OFlags::RDONLY, ProtFlags::READ),
            _ => (OFlags::RDWR, ProtFlags::READ | ProtFlags::WRITE),
        };
        let flags = open_for | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open(&path, flags, Mode::empty())?;
        let length = usize::try_from(rustix::fs::fstat(&file)?.st_size).unwrap_or(0);
        // A mapping begins with a page, and the value lies in the first one.
        let offset = ptr::from_ref(opened.get()).addr() % page_size();
        if offset + size_of::<T>() > length {
            return Err(Errno::INVAL); // another file has this name meanwhile
        }
        // SAFETY: the kernel chooses the address, so no memory in use is replaced.
        let address =
            unsafe { mmap(ptr::null_mut(), length, protection, MapFlags::SHARED, &file, 0) }?;
        let address = NonNull::new(address).ok_or(Errno::INVAL)?;
        // SAFETY: `offset` lies within the mapping, as was checked.
        let value = unsafe { address.byte_add(offset) }.cast();
        let name = *opened.name();
        Ok(Self { address, length, value, name, config, has_ownership: has_ownership.into() })
    }

    fn unmap(&self) {
        // SAFETY: address and length are those of our mapping. Called once, when the storage ends:
        // references to the value borrow it, so none is left.
        let unmapped = unsafe { munmap(self.address.as_ptr(), self.length) };
        debug_assert_eq!(unmapped, Ok(()));
    }
}

impl<T: Send + Sync + Debug + ZeroCopySend> Drop for MappedStorage<T> {
    fn drop(&mut self) {
        self.unmap();
        if self.has_ownership() {
            // SAFETY: the owner removes the name; who has the memory mapped keeps it.
            let removed = unsafe { Self::remove_cfg(&self.name, &self.config) };
            if let Err(cause) = removed {
                tracing::warn!(target: "feros::shm", name = %self.name, ?cause, "shared memory stays behind");
            }
        }
    }
}

impl<T: Send + Sync + Debug + ZeroCopySend> Abandonable for MappedStorage<T> {
    unsafe fn abandon_in_place(this: NonNull<Self>) {
        // SAFETY: the caller gives a valid storage and does not use it afterwards.
        unsafe { this.as_ref() }.unmap();
    }
}

impl<T: Send + Sync + Debug + ZeroCopySend> NamedConcept for MappedStorage<T> {
    fn name(&self) -> &FileName {
        &self.name
    }
}

/// Files are named, found and removed as iceoryx2 does.
impl<T: Send + Sync + Debug + ZeroCopySend> NamedConceptMgmt for MappedStorage<T> {
    type Configuration = posix::Configuration<T>;

    unsafe fn remove_cfg(
        name: &FileName,
        config: &Self::Configuration,
    ) -> Result<bool, NamedConceptRemoveError> {
        // SAFETY: what the caller promises is what is asked for.
        unsafe { posix::Storage::<T>::remove_cfg(name, config) }
    }

    fn does_exist_cfg(
        name: &FileName,
        config: &Self::Configuration,
    ) -> Result<bool, NamedConceptDoesExistError> {
        posix::Storage::<T>::does_exist_cfg(name, config)
    }

    fn list_cfg(config: &Self::Configuration) -> Result<Vec<FileName>, NamedConceptListError> {
        posix::Storage::<T>::list_cfg(config)
    }

    fn remove_path_hint(
        value: &iceoryx2::prelude::Path,
    ) -> Result<(), NamedConceptPathHintRemoveError> {
        posix::Storage::<T>::remove_path_hint(value)
    }
}

impl<T: Send + Sync + Debug + ZeroCopySend> DynamicStorage<T> for MappedStorage<T> {
    type Builder<'builder> = Builder<'builder, T>;

    fn does_support_persistency() -> bool {
        posix::Storage::<T>::does_support_persistency()
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
        // SAFETY: iceoryx2 has initialised the value before anybody could open it, and the memory
        // is mapped for as long as `self` lives.
        unsafe { self.value.as_ref() }
    }

    unsafe fn __internal_set_type_name_in_config(config: &mut Self::Configuration, name: &str) {
        // SAFETY: what the caller promises is what is asked for.
        unsafe { posix::Storage::<T>::__internal_set_type_name_in_config(config, name) }
    }
}

/// Has iceoryx2's own builder make or open the memory.
#[derive(Debug)]
pub(crate) struct Builder<'builder, T: Send + Sync + Debug + ZeroCopySend> {
    builder: posix::Builder<'builder, T>,
    config: posix::Configuration<T>,
    supplementary_bytes: usize,
    has_ownership: bool,
}

impl<T: Send + Sync + Debug + ZeroCopySend> Builder<'_, T> {
    /// Whether a file of this size may be made: else the system ends the process by SIGXFSZ.
    fn is_allowed(&self) -> bool {
        let bytes =
            self.supplementary_bytes.saturating_add(size_of::<T>()).saturating_add(page_size());
        check_file_size(bytes as u64).is_ok()
    }
}

impl<T: Send + Sync + Debug + ZeroCopySend> NamedConceptBuilder<MappedStorage<T>>
    for Builder<'_, T>
{
    fn new(name: &FileName) -> Self {
        Self {
            builder: posix::Builder::new(name),
            config: posix::Configuration::default(),
            supplementary_bytes: 0,
            has_ownership: true,
        }
    }

    fn config(mut self, config: &posix::Configuration<T>) -> Self {
        self.config = config.clone();
        self.builder = self.builder.config(config);
        self
    }
}

impl<'builder, T: Send + Sync + Debug + ZeroCopySend>
    DynamicStorageBuilder<'builder, T, MappedStorage<T>> for Builder<'builder, T>
{
    fn has_ownership(mut self, value: bool) -> Self {
        self.has_ownership = value;
        self.builder = self.builder.has_ownership(value);
        self
    }

    fn enable_global_access(mut self, value: bool) -> Self {
        self.builder = self.builder.enable_global_access(value);
        self
    }

    fn supplementary_size(mut self, value: usize) -> Self {
        self.supplementary_bytes = value;
        self.builder = self.builder.supplementary_size(value);
        self
    }

    fn timeout(mut self, value: Duration) -> Self {
        self.builder = self.builder.timeout(value);
        self
    }

    fn initializer<F: FnMut(&mut MaybeUninit<T>, &mut BumpAllocator) -> bool + 'builder>(
        mut self,
        value: F,
    ) -> Self {
        self.builder = self.builder.initializer(value);
        self
    }

    fn create(self) -> Result<MappedStorage<T>, DynamicStorageCreateError> {
        if !self.is_allowed() {
            return Err(DynamicStorageCreateError::InternalError);
        }
        let made = self.builder.create()?;
        made.acquire_ownership(); // so that a failure leaves nothing behind
        let mapped =
            MappedStorage::of(&made, self.config, AccessMode::ReadWrite, self.has_ownership)
                .map_err(|_| DynamicStorageCreateError::InternalError)?;
        made.release_ownership();
        Ok(mapped)
    }

    fn open(self, access: AccessMode) -> Result<MappedStorage<T>, DynamicStorageOpenError> {
        let opened = self.builder.open(access)?;
        MappedStorage::of(&opened, self.config, access, false).map_err(open_error)
    }

    fn open_or_create(self) -> Result<MappedStorage<T>, DynamicStorageOpenOrCreateError> {
        if !self.is_allowed() {
            return Err(DynamicStorageCreateError::InternalError.into());
        }
        let found = self.builder.open_or_create()?;
        let has_ownership = found.has_ownership();
        let mapped = MappedStorage::of(&found, self.config, AccessMode::ReadWrite, has_ownership)
            .map_err(open_error)?;
        found.release_ownership();
        Ok(mapped)
    }
}

fn open_error(errno: Errno) -> DynamicStorageOpenError {
    match errno {
        Errno::NOENT => DynamicStorageOpenError::DoesNotExist,
        _ => DynamicStorageOpenError::InternalError,
    }
}

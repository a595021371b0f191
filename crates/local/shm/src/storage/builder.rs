//! Makes and opens the storages of iceoryx2.

use std::fmt::Debug;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use iceoryx2::prelude::{FileName, ZeroCopySend};
use iceoryx2_bb_elementary::bump_allocator::BumpAllocator;
use iceoryx2_bb_elementary::package_version::PackageVersion;
use iceoryx2_bb_posix::access_mode::AccessMode;
use iceoryx2_cal::dynamic_storage::{
    DynamicStorageBuilder, DynamicStorageCreateError, DynamicStorageOpenError,
    DynamicStorageOpenOrCreateError, Initializer,
};
use iceoryx2_cal::named_concept::{NamedConceptBuilder, NamedConceptConfiguration};
use rustix::fs::{FileType, Mode, OFlags, RawMode};
use rustix::io::Errno;
use rustix::mm::{MapFlags, ProtFlags};
use rustix::process::geteuid;

use super::file::{Draft, UnnamedFile};
use super::populate::SHM;
use super::{Configuration, FAILURE, Failure, Head, SPARSE, Storage};
use crate::mapped_file::MappedFile;
use crate::page::page_bytes;

/// The limit on the size of a storage, which is more than any queue or list needs. iceoryx2 reads
/// sizes from its own files. Without a limit, overwritten sizes could make it fill the whole
/// memory.
const MOST_WHOLE_BYTES: usize = 16 << 20;

/// Makes a storage, or opens the existing storage with that name.
#[derive(Debug)]
pub(crate) struct Builder<'builder, T: Debug + Send + Sync + ZeroCopySend, const WHOLE: bool> {
    name: FileName,
    config: Configuration<T>,
    /// The number of bytes that follow the value.
    supplementary_bytes: usize,
    has_ownership: bool,
    initializer: Initializer<'builder, T>,
}

impl<T: Debug + Send + Sync + ZeroCopySend, const WHOLE: bool>
    NamedConceptBuilder<Storage<T, WHOLE>> for Builder<'_, T, WHOLE>
{
    fn new(name: &FileName) -> Self {
        Self {
            name: *name,
            config: Configuration::default(),
            supplementary_bytes: 0,
            has_ownership: true,
            initializer: Initializer::new(|_, _| false),
        }
    }

    fn config(mut self, config: &Configuration<T>) -> Self {
        self.config = config.clone();
        self
    }
}

impl<T: Debug + Send + Sync + ZeroCopySend, const WHOLE: bool> Builder<'_, T, WHOLE> {
    fn path(&self) -> PathBuf {
        Path::new(SHM).join(self.config.path_for(&self.name).file_name().to_string())
    }

    fn size_bytes(&self) -> usize {
        size_of::<Head<T>>().saturating_add(self.supplementary_bytes)
    }

    fn storage(&self, mapping: MappedFile, has_ownership: bool) -> Storage<T, WHOLE> {
        let mapping = Arc::new(mapping);
        if !WHOLE {
            SPARSE.set(Some(Arc::clone(&mapping)));
        }
        Storage {
            mapping,
            name: self.name,
            path: self.path(),
            has_ownership: AtomicBool::new(has_ownership),
            value: PhantomData,
        }
    }

    /// Makes the content in private memory, allocates the memory of the file, copies the content
    /// into the file, and then gives the file its name.
    fn make(&mut self) -> Result<MappedFile, DynamicStorageCreateError> {
        let size_bytes = self.size_bytes();
        let failed = |cause: Errno| {
            if cause == Errno::EXIST {
                return DynamicStorageCreateError::AlreadyExists;
            }
            FAILURE.set(Some(Failure { size_bytes: size_bytes as u64, cause }));
            DynamicStorageCreateError::InternalError
        };
        if WHOLE && size_bytes > MOST_WHOLE_BYTES {
            return Err(failed(Errno::FBIG));
        }
        let draft = Draft::new(size_bytes).map_err(failed)?;
        if !self.initialize(&draft) {
            return Err(DynamicStorageCreateError::InitializationFailed);
        }
        let file = UnnamedFile::new(size_bytes).map_err(failed)?;
        // The payload of a sparse storage follows the head. The first page of the payload is
        // allocated too.
        let needed = if WHOLE { size_bytes } else { size_of::<Head<T>>() + page_bytes() };
        file.allocate(0..needed.min(size_bytes)).map_err(failed)?;
        file.copy_from(&draft).map_err(failed)?;
        let mapping = file.map(size_bytes).map_err(failed)?;
        file.publish(&self.path()).map_err(failed)?;
        Ok(mapping)
    }

    fn initialize(&mut self, draft: &Draft) -> bool {
        let head: NonNull<Head<T>> = draft.mapping().start().cast();
        // SAFETY: the draft is mapped, is longer than the head, and is aligned to a page. Only this
        // function uses it.
        let head = unsafe { &mut *head.cast::<MaybeUninit<Head<T>>>().as_ptr() };
        // SAFETY: zeros are a valid version, and the other memory is declared as not yet
        // initialized.
        let head = unsafe { head.assume_init_mut() };
        let behind = draft.mapping().start().as_ptr().wrapping_add(size_of::<Head<T>>());
        let behind = NonNull::new(behind).expect("memory does not end at address zero");
        let mut allocator = BumpAllocator::new(behind, self.supplementary_bytes);
        let is_initialized = self.initializer.call(&mut head.value, &mut allocator);
        head.version.store(PackageVersion::get().to_u64(), Ordering::Relaxed);
        is_initialized
    }

    fn open_existing(
        &self,
        access: AccessMode,
    ) -> Result<Storage<T, WHOLE>, DynamicStorageOpenError> {
        let mut size_bytes = 0;
        let mapping = self.map_existing(access, &mut size_bytes).map_err(|cause| match cause {
            Errno::NOENT => DynamicStorageOpenError::DoesNotExist,
            // The file was made by an earlier version of Feros, which gave files their names before
            // their content was complete.
            Errno::ACCESS => DynamicStorageOpenError::InitializationNotYetFinalized,
            _ => {
                FAILURE.set(Some(Failure { size_bytes, cause }));
                DynamicStorageOpenError::InternalError
            }
        })?;
        let storage = self.storage(mapping, false);
        // SAFETY: the file is mapped and at least as long as its head. The version in the head is
        // an atomic.
        match unsafe { storage.head().as_ref() }.version.load(Ordering::SeqCst) {
            0 => Err(DynamicStorageOpenError::InitializationNotYetFinalized),
            found if found == PackageVersion::get().to_u64() => Ok(storage),
            _ => Err(DynamicStorageOpenError::VersionMismatch),
        }
    }

    fn map_existing(&self, access: AccessMode, size_bytes: &mut u64) -> Result<MappedFile, Errno> {
        let (flags, access) = match access {
            AccessMode::ReadWrite => (OFlags::RDWR, ProtFlags::READ | ProtFlags::WRITE),
            _ => (OFlags::RDONLY, ProtFlags::READ),
        };
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let file = rustix::fs::open(self.path(), flags, Mode::empty())?;
        let found = rustix::fs::fstat(&file)?;
        *size_bytes = u64::try_from(found.st_size).unwrap_or(0);
        let mode: RawMode = found.st_mode;
        if FileType::from_raw_mode(mode) != FileType::RegularFile
            || found.st_uid != geteuid().as_raw()
        {
            return Err(Errno::PERM);
        }
        let length = usize::try_from(*size_bytes).map_err(|_| Errno::OVERFLOW)?;
        // The mode is checked because root can open a file even if its mode does not allow reading
        // yet.
        if length < size_of::<Head<T>>() || mode & 0o400 == 0 {
            return Err(Errno::ACCESS);
        }
        MappedFile::with(&file, length, access, MapFlags::SHARED)
    }
}

impl<'builder, T: Debug + Send + Sync + ZeroCopySend, const WHOLE: bool>
    DynamicStorageBuilder<'builder, T, Storage<T, WHOLE>> for Builder<'builder, T, WHOLE>
{
    fn has_ownership(mut self, value: bool) -> Self {
        self.has_ownership = value;
        self
    }

    /// This setting is ignored, because with global access, another user could truncate the file
    /// while it is in use.
    fn enable_global_access(self, _: bool) -> Self {
        self
    }

    fn supplementary_size(mut self, value: usize) -> Self {
        self.supplementary_bytes = value;
        self
    }

    /// This setting is ignored, because opening never waits: a file that has a name is finished.
    fn timeout(self, _: Duration) -> Self {
        self
    }

    fn initializer<F: FnMut(&mut MaybeUninit<T>, &mut BumpAllocator) -> bool + 'builder>(
        mut self,
        value: F,
    ) -> Self {
        self.initializer = Initializer::new(value);
        self
    }

    fn create(mut self) -> Result<Storage<T, WHOLE>, DynamicStorageCreateError> {
        let mapping = self.make()?;
        Ok(self.storage(mapping, self.has_ownership))
    }

    fn open(self, access: AccessMode) -> Result<Storage<T, WHOLE>, DynamicStorageOpenError> {
        self.open_existing(access)
    }

    fn open_or_create(mut self) -> Result<Storage<T, WHOLE>, DynamicStorageOpenOrCreateError> {
        loop {
            match self.open_existing(AccessMode::ReadWrite) {
                Err(DynamicStorageOpenError::DoesNotExist) => {}
                other => return Ok(other?),
            }
            match self.make() {
                Err(DynamicStorageCreateError::AlreadyExists) => {} // another process made it first
                made => return Ok(self.storage(made?, self.has_ownership)),
            }
        }
    }
}

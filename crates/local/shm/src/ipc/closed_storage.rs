//! Reads those small files of iceoryx2 that never change after they are complete, and does not keep
//! them open.
//!
//! By default, iceoryx2 keeps two of these files open for each topic and side: the description of
//! the service and the tag of the port. With this storage, iceoryx2 still makes and opens the files
//! with its own protocol, but then the files are closed and only their content is kept.

use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use feros_engine::FailureCounter;
use iceoryx2::prelude::{FileName, Path};
use iceoryx2_bb_elementary_traits::testing::abandonable::Abandonable;
use iceoryx2_cal::named_concept::{
    NamedConcept, NamedConceptBuilder, NamedConceptDoesExistError, NamedConceptListError,
    NamedConceptMgmt, NamedConceptPathHintRemoveError, NamedConceptRemoveError,
};
use iceoryx2_cal::static_storage::file;
use iceoryx2_cal::static_storage::{
    StaticStorage, StaticStorageBuilder, StaticStorageCreateError, StaticStorageLocked,
    StaticStorageOpenError, StaticStorageReadError, StaticStorageUnlockError, StaticStorageView,
};

/// The limit on the size of a file. It is more than iceoryx2 writes for a service. A larger file
/// does not follow the protocol.
const LARGEST_BYTES: u64 = 64 * 1024;

/// The name and the content of a closed file of iceoryx2.
#[derive(Debug)]
pub(crate) struct ClosedStorage {
    name: FileName,
    config: file::Configuration,
    content: Box<[u8]>,
    has_ownership: AtomicBool,
}

impl Drop for ClosedStorage {
    fn drop(&mut self) {
        if !*self.has_ownership.get_mut() {
            return;
        }
        static LEFT: FailureCounter = FailureCounter::new();
        // SAFETY: the owner of the file removes its name.
        if let Err(cause) = unsafe { Self::remove_cfg(&self.name, &self.config) }
            && let Some(so_far) = LEFT.so_far()
        {
            tracing::warn!(
                target: "feros::shm",
                name = %self.name,
                ?cause,
                "a file of shared memory stays behind{so_far}"
            );
        }
    }
}

impl Abandonable for ClosedStorage {
    unsafe fn abandon_in_place(this: NonNull<Self>) {
        // SAFETY: the caller passes a valid storage, and does not use it after this call.
        drop(unsafe { std::ptr::read(&raw const (*this.as_ptr()).content) });
    }
}

impl NamedConcept for ClosedStorage {
    fn name(&self) -> &FileName {
        &self.name
    }
}

/// iceoryx2 names, finds and removes the files.
impl NamedConceptMgmt for ClosedStorage {
    type Configuration = file::Configuration;

    unsafe fn remove_cfg(
        name: &FileName,
        config: &Self::Configuration,
    ) -> Result<bool, NamedConceptRemoveError> {
        // SAFETY: the caller gives the same guarantees.
        unsafe { file::Storage::remove_cfg(name, config) }
    }

    fn does_exist_cfg(
        name: &FileName,
        config: &Self::Configuration,
    ) -> Result<bool, NamedConceptDoesExistError> {
        file::Storage::does_exist_cfg(name, config)
    }

    fn list_cfg(config: &Self::Configuration) -> Result<Vec<FileName>, NamedConceptListError> {
        file::Storage::list_cfg(config)
    }

    fn remove_path_hint(value: &Path) -> Result<(), NamedConceptPathHintRemoveError> {
        file::Storage::remove_path_hint(value)
    }
}

impl StaticStorageView for ClosedStorage {
    fn len(&self) -> u64 {
        self.content.len() as u64
    }

    fn is_empty(&self) -> bool {
        self.content.is_empty()
    }

    fn read(&self, content: &mut [u8]) -> Result<(), StaticStorageReadError> {
        let room = content.get_mut(..self.content.len());
        room.ok_or(StaticStorageReadError::BufferTooSmall)?.copy_from_slice(&self.content);
        Ok(())
    }
}

impl StaticStorage for ClosedStorage {
    type Builder = Builder;
    type Locked = Locked;
    type View = Self;

    fn view(&self) -> &Self::View {
        self
    }

    fn release_ownership(&self) {
        self.has_ownership.store(false, Ordering::Relaxed);
    }

    fn acquire_ownership(&self) {
        self.has_ownership.store(true, Ordering::Relaxed);
    }
}

/// A file that has a name but no content yet. The file remains open until its content is written.
#[derive(Debug)]
pub(crate) struct Locked {
    locked: file::Locked,
    config: file::Configuration,
    has_ownership: bool,
}

impl NamedConcept for Locked {
    fn name(&self) -> &FileName {
        self.locked.name()
    }
}

impl Abandonable for Locked {
    unsafe fn abandon_in_place(this: NonNull<Self>) {
        // SAFETY: the caller passes a valid storage, and does not use it after this call.
        unsafe {
            file::Locked::abandon_in_place(NonNull::new_unchecked(
                &raw mut (*this.as_ptr()).locked,
            ));
        }
    }
}

impl StaticStorageLocked<ClosedStorage> for Locked {
    fn unlock(self, content: &[u8]) -> Result<ClosedStorage, StaticStorageUnlockError> {
        let written = self.locked.unlock(content)?;
        written.release_ownership();
        Ok(ClosedStorage {
            name: *written.name(),
            config: self.config,
            content: content.into(),
            has_ownership: self.has_ownership.into(),
        })
    }
}

/// Makes or opens a file with iceoryx2's own builder.
#[derive(Debug)]
pub(crate) struct Builder {
    builder: file::Builder,
    config: file::Configuration,
    has_ownership: bool,
}

impl NamedConceptBuilder<ClosedStorage> for Builder {
    fn new(name: &FileName) -> Self {
        let config = file::Configuration::default();
        Self { builder: file::Builder::new(name), config, has_ownership: true }
    }

    fn config(mut self, config: &file::Configuration) -> Self {
        self.config = config.clone();
        self.builder = self.builder.config(config);
        self
    }
}

impl StaticStorageBuilder<ClosedStorage> for Builder {
    fn has_ownership(mut self, value: bool) -> Self {
        self.has_ownership = value;
        self.builder = self.builder.has_ownership(value);
        self
    }

    fn create_locked(self) -> Result<Locked, StaticStorageCreateError> {
        let Self { builder, config, has_ownership } = self;
        Ok(Locked { locked: builder.create_locked()?, config, has_ownership })
    }

    fn open(self, timeout: Duration) -> Result<ClosedStorage, StaticStorageOpenError> {
        let Self { builder, config, has_ownership } = self;
        let opened = builder.has_ownership(false).open(timeout)?;
        if opened.len() > LARGEST_BYTES {
            return Err(StaticStorageOpenError::Read);
        }
        let mut content = vec![0; opened.len() as usize].into_boxed_slice();
        opened.read(&mut content).map_err(|_| StaticStorageOpenError::Read)?;
        let name = *opened.name();
        Ok(ClosedStorage { name, config, content, has_ownership: has_ownership.into() })
    }
}

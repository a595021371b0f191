//! The owner's side of a process segment: the doorbells and entries that this process uses.

mod subscription_entry;

pub use subscription_entry::{Attachment, AttachmentsFull, SubscriptionEntry};

use super::layout::{Extent, Layout, MAX_DOORBELLS, MAX_SUBSCRIPTIONS, SEGMENT_BYTES};
use super::mapping::Mapping;
use super::numbers::Numbers;
use super::token::process_token;
use crate::limits::file_size_limit_below;
use crate::reason::Obstacle;
use feros_doorbell::{Doorbell, DoorbellMemory};
use feros_sync::Mutex;
use rustix::fs::{FallocateFlags, MemfdFlags, Mode, SealFlags};
use rustix::io::Errno;
use std::fmt;
use std::num::NonZeroU64;
use std::ops::Deref;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::{Arc, OnceLock};

/// The name of the file, as shown by the system.
pub(crate) const FILE_NAME: &str = "feros-segment";

/// The reason why the process has no segment. Its endpoints then have no shared-memory transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unavailable {
    /// The system refuses to give memory.
    #[error(
        "no shared memory for this process ({step}: {errno}); allow the process more memory and more open files \
         (RLIMIT_NOFILE), and the system call memfd_create; until then messages take the network transport"
    )]
    NoMemory {
        /// The step that failed.
        step: &'static str,
        /// The system's error.
        errno: Errno,
    },
    /// This process may not make a file of the required size (RLIMIT_FSIZE).
    #[error(
        "no shared memory for this process: it takes a file of {size_bytes} bytes, but this process may not make files \
         of more than {limit_bytes} bytes (RLIMIT_FSIZE); raise the limit (ulimit -f, LimitFSIZE= of systemd); until \
         then messages take the network transport"
    )]
    FileSizeLimit {
        /// The required size.
        size_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// Other processes could not find the segment.
    #[error(
        "/proc/self/fd cannot be read ({errno}), so no other process could find this process's shared memory; mount \
         /proc; until then messages take the network transport"
    )]
    NoProc {
        /// The system's error.
        errno: Errno,
    },
    /// This process was forked from a process that already had a segment. That segment belongs to
    /// the parent process.
    #[error(
        "this process was forked from process {parent} after that one had set up shared memory; start processes with exec, \
         or fork before the first endpoint is created; until then messages take the network transport"
    )]
    Forked {
        /// The id of the parent process.
        parent: u32,
    },
}

impl Unavailable {
    /// The obstacle to announce to other processes.
    pub fn obstacle(&self) -> Obstacle {
        match self {
            Self::NoMemory { errno: Errno::MFILE, .. } => Obstacle::OpenFilesLimit,
            Self::NoMemory { .. } => Obstacle::NoMemory,
            Self::FileSizeLimit { .. } => Obstacle::FileSizeLimit,
            Self::NoProc { .. } => Obstacle::NoProc,
            Self::Forked { .. } => Obstacle::Forked,
        }
    }
}

/// The reason why a doorbell or entry cannot be assigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SegmentFull {
    /// All doorbells are in use; each executor needs one.
    #[error(
        "all {MAX_DOORBELLS} doorbells of this process that other processes can ring are in use; subscriptions of \
         further executors take the network transport: use fewer executors, or more processes"
    )]
    Doorbells,
    /// All entries are in use; each subscription needs one, or several if it has many publishers.
    #[error(
        "all {MAX_SUBSCRIPTIONS} entries of this process for subscriptions are in use; further subscriptions take the \
         network transport: spread them over several processes"
    )]
    Entries,
    /// The system has no memory left.
    #[error("the system has no memory for {what} ({errno}); free some, or allow the process more")]
    Memory {
        /// The purpose for which the memory was needed.
        what: &'static str,
        /// The system's error.
        errno: Errno,
    },
}

impl SegmentFull {
    /// The obstacle to announce to other processes.
    pub fn obstacle(&self) -> Obstacle {
        match self {
            Self::Doorbells | Self::Entries => Obstacle::TableFull,
            Self::Memory { .. } => Obstacle::NoMemory,
        }
    }
}

/// The process segment: memory of this process that other processes of its host can access.
pub struct ProcessSegment {
    mapping: Mapping,
    file: OwnedFd,
    pid: u32,
    token: NonZeroU64,
    doorbells: Mutex<Numbers>,
    entries: Mutex<Numbers>,
}

impl ProcessSegment {
    /// Returns the segment of this process. The first call creates it, and it exists until the
    /// process ends. Later calls return the result of the first call.
    ///
    /// # Errors
    /// The system refuses to give memory, or other processes could not find the segment. The
    /// caller's messages then take the network transport.
    pub fn of_this_process() -> Result<Arc<Self>, Unavailable> {
        static SEGMENT: OnceLock<Result<Arc<ProcessSegment>, Unavailable>> = OnceLock::new();
        let segment = SEGMENT.get_or_init(|| Self::create().map(Arc::new)).clone()?;
        if segment.pid == std::process::id() {
            Ok(segment)
        } else {
            Err(Unavailable::Forked { parent: segment.pid })
        }
    }

    /// Makes a segment that is separate from the segment of the process. This is for tests with a
    /// full segment.
    pub(crate) fn create() -> Result<Self, Unavailable> {
        let failed = |step| move |errno| Unavailable::NoMemory { step, errno };
        let file = create_file(FILE_NAME, SEGMENT_BYTES as u64)?;
        reserve(&file, Layout::HEADER).map_err(failed("fallocate"))?;
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        rustix::fs::stat(&path).map_err(|errno| Unavailable::NoProc { errno })?;
        let mapping = Mapping::new(file.as_fd()).map_err(failed("mmap"))?;
        let token = process_token();
        mapping.layout().sign(token.get());
        Ok(Self {
            mapping,
            file,
            pid: std::process::id(),
            token,
            doorbells: Mutex::new(Numbers::new(MAX_DOORBELLS)),
            entries: Mutex::new(Numbers::new(MAX_SUBSCRIPTIONS)),
        })
    }

    /// The number of the file's descriptor. Other processes use it to find the file in this
    /// process's folder in `/proc`.
    pub fn file_number(&self) -> u32 {
        self.file.as_raw_fd().unsigned_abs()
    }

    /// The token that other processes check. It is the token from [`process_token`].
    pub fn token(&self) -> NonZeroU64 {
        self.token
    }

    /// Assigns a doorbell that other processes can ring. Flags that were meant for a former user
    /// may still be set; an executor clears them.
    ///
    /// # Errors
    /// All doorbells are in use, or there is not enough memory.
    pub fn doorbell(self: &Arc<Self>) -> Result<SharedDoorbell, SegmentFull> {
        let mut doorbells = self.doorbells.lock();
        let taken = doorbells.take().ok_or(SegmentFull::Doorbells)?;
        if taken.is_fresh
            && let Err(errno) = reserve(&self.file, Layout::extent_of_doorbell(taken.number))
        {
            doorbells.give_back_fresh(taken.number);
            return Err(SegmentFull::Memory { what: "a doorbell", errno });
        }
        drop(doorbells);
        let number = self.mapping.layout().doorbell_number(taken.number);
        Ok(SharedDoorbell { segment: Arc::clone(self), index: taken.number, number })
    }

    /// Assigns an entry for a subscription. At first, the entry has no place to ring and no
    /// attached publisher.
    ///
    /// # Errors
    /// All entries are in use, or there is not enough memory.
    pub fn subscription_entry(self: &Arc<Self>) -> Result<SubscriptionEntry, SegmentFull> {
        self.take_entry().map(|index| SubscriptionEntry::new(self, index))
    }

    /// Takes a free entry, with its memory, that no other entry follows. Returns its index.
    fn take_entry(&self) -> Result<usize, SegmentFull> {
        let mut entries = self.entries.lock();
        let taken = entries.take().ok_or(SegmentFull::Entries)?;
        if taken.is_fresh
            && let Err(errno) = reserve(&self.file, Layout::extent_of_entry(taken.number))
        {
            entries.give_back_fresh(taken.number);
            return Err(SegmentFull::Memory { what: "a subscription's entry", errno });
        }
        self.mapping.layout().entry(taken.number).set_next(None);
        Ok(taken.number)
    }
}

impl fmt::Debug for ProcessSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProcessSegment")
            .field("pid", &self.pid)
            .field("file", &self.file)
            .finish_non_exhaustive()
    }
}

/// Makes an anonymous file of a fixed size. The file takes no memory yet.
pub(crate) fn create_file(name: &str, size_bytes: u64) -> Result<OwnedFd, Unavailable> {
    let failed = |step| move |errno| Unavailable::NoMemory { step, errno };
    if let Some(limit_bytes) = file_size_limit_below(size_bytes) {
        return Err(Unavailable::FileSizeLimit { size_bytes, limit_bytes });
    }
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Newer kernels may be configured to refuse files that can be executed. Older kernels do not
    // know the `NOEXEC_SEAL` flag.
    let file = rustix::fs::memfd_create(name, flags | MemfdFlags::NOEXEC_SEAL)
        .or_else(|errno| match errno {
            Errno::INVAL => rustix::fs::memfd_create(name, flags),
            other => Err(other),
        })
        .map_err(failed("memfd_create"))?;
    // This mode keeps other users out, even if they reach the file by a path outside this process's
    // folder in /proc.
    rustix::fs::fchmod(&file, Mode::RUSR | Mode::WUSR).map_err(failed("fchmod"))?;
    rustix::fs::ftruncate(&file, size_bytes).map_err(failed("ftruncate"))?;
    let seals = SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL;
    rustix::fs::fcntl_add_seals(&file, seals).map_err(failed("sealing"))?;
    Ok(file)
}

/// Reserves the memory of this extent, so that a lack of memory causes an error here and not a
/// signal at the first access. The other pages remain without memory.
fn reserve(file: &OwnedFd, extent: Extent) -> Result<(), Errno> {
    let (offset, size) = (extent.offset_bytes as u64, extent.size_bytes as u64);
    rustix::fs::fallocate(file, FallocateFlags::empty(), offset, size)
}

/// A doorbell that other processes can ring. Dropping this value gives the doorbell back.
pub struct SharedDoorbell {
    segment: Arc<ProcessSegment>,
    index: usize,
    number: u32,
}

impl SharedDoorbell {
    /// The doorbell's number in a [`Place`](feros_doorbell::Place). After this value has been
    /// dropped, rings for this number have no effect. A ring that happens during the drop may set a
    /// flag for the next user.
    pub fn number(&self) -> u32 {
        self.number
    }
}

impl Deref for SharedDoorbell {
    type Target = Doorbell;

    fn deref(&self) -> &Doorbell {
        self.segment.mapping.layout().doorbell(self.index)
    }
}

impl DoorbellMemory for SharedDoorbell {
    fn doorbell(&self) -> &Doorbell {
        self
    }

    fn number(&self) -> Option<u32> {
        Some(self.number)
    }
}

impl Drop for SharedDoorbell {
    fn drop(&mut self) {
        self.segment.mapping.layout().retire_doorbell(self.index);
        self.segment.doorbells.lock().give_back(self.index);
    }
}

impl fmt::Debug for SharedDoorbell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedDoorbell").field("number", &self.number).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;

//! The process segment of another process (or of this process), in the form in which publishers use
//! it.

use super::process_handle::ProcessHandle;
use crate::reason::{Obstacle, Reason, Side};
use crate::segment::entry::{Entry, Found, place};
use crate::segment::{EntryId, FILE_NAME, Layout, Mapping, Room, SEGMENT_BYTES, WrongContent};
use feros_sync::Mutex;
use rustix::fs::{FileType, Mode, OFlags, SealFlags};
use rustix::io::Errno;
use std::collections::HashMap;
use std::fmt;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::{Duration, Instant};

/// The reason why the segment of a process cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeerError {
    /// The process has ended, or the announcement is wrong.
    #[error("process {pid} no longer runs")]
    NoSuchProcess {
        /// The process's id.
        pid: u32,
    },
    /// The kernel denies this process access to the memory of the other process.
    #[error(
        "access to the shared memory of process {pid} is denied; run both as the same user, with the same capabilities"
    )]
    Denied {
        /// The process's id.
        pid: u32,
    },
    /// The memory belongs to another user. This can happen only in a privileged process.
    #[error(
        "the shared memory of process {pid} belongs to another user (uid {uid}); run both as the same user"
    )]
    OtherUser {
        /// The other process's id.
        pid: u32,
        /// The user that owns the memory.
        uid: u32,
    },
    /// The file does not match the announcement.
    #[error("file {fd} of process {pid} is not shared memory of Feros: {what}")]
    NotASegment {
        /// The process's id.
        pid: u32,
        /// The file's number in that process.
        fd: u32,
        /// The mismatch.
        what: &'static str,
    },
    /// Another version of Feros made the segment.
    #[error(
        "the shared memory of process {pid} has format {theirs}, this process uses {ours}; use one version of Feros"
    )]
    OtherVersion {
        /// The process's id.
        pid: u32,
        /// The format of that process.
        theirs: u32,
        /// The format of this process.
        ours: u32,
    },
    /// The process is not the announced process, but a later process with the same id.
    #[error("process {pid} did not announce this shared memory: the token differs")]
    WrongToken {
        /// The process's id.
        pid: u32,
    },
    /// The system denies a resource that this process needs.
    #[error(
        "the shared memory of process {pid} cannot be opened ({step}: {errno}); allow this process more memory and more open files (RLIMIT_NOFILE)"
    )]
    System {
        /// The process's id.
        pid: u32,
        /// The step that failed.
        step: &'static str,
        /// The system's error.
        errno: Errno,
    },
}

impl PeerError {
    /// The reason that is shown for a match, if the segment belongs to the process on `side`.
    pub fn reason(&self, side: Side) -> Reason {
        let unavailable = |why| Reason::SharedMemoryUnavailable { by: side, why };
        let own_side = match side {
            Side::Publisher => Side::Subscription,
            Side::Subscription => Side::Publisher,
        };
        match self {
            Self::NoSuchProcess { .. } | Self::WrongToken { .. } => match side {
                Side::Publisher => Reason::PublisherGone,
                Side::Subscription => Reason::SubscriptionGone,
            },
            Self::Denied { .. } | Self::OtherUser { .. } => unavailable(Obstacle::Denied),
            Self::System { errno, .. } => {
                let is_limit = *errno == Errno::MFILE;
                let why = if is_limit { Obstacle::OpenFilesLimit } else { Obstacle::NoMemory };
                Reason::SharedMemoryUnavailable { by: own_side, why }
            }
            Self::NotASegment { .. } => unavailable(Obstacle::Other),
            Self::OtherVersion { theirs, ours, .. } => match side {
                Side::Publisher => {
                    Reason::IncompatibleVersion { publisher: *theirs, subscription: *ours }
                }
                Side::Subscription => {
                    Reason::IncompatibleVersion { publisher: *ours, subscription: *theirs }
                }
            },
        }
    }
}

/// A process of this host (possibly this process) whose segment is mapped. Nothing that is read
/// from the segment can be trusted.
pub struct Peer {
    pid: u32,
    mapping: Mapping,
    process: ProcessHandle,
    /// Whether this process has noticed that the other process has ended. It is written with
    /// release and read with acquire, so that everything that the other process wrote to shared
    /// memory is visible to a thread that finds it ended.
    has_ended: AtomicBool,
}

type Peers = Mutex<HashMap<(u32, NonZeroU64), Weak<Peer>>>;

fn peers() -> &'static Peers {
    static PEERS: OnceLock<Peers> = OnceLock::new();
    PEERS.get_or_init(Peers::default)
}

impl Peer {
    /// Maps the segment of the process `pid`, which is the file with number `fd` in that process,
    /// and contains `token`. Callers with the same arguments share the mapping. It is removed when
    /// the last of these callers drops it.
    ///
    /// # Errors
    /// The process has ended or belongs to another user, or its file is not such a segment.
    pub fn open(pid: u32, fd: u32, token: NonZeroU64) -> Result<Arc<Self>, PeerError> {
        let mut peers = peers().lock();
        if let Some(peer) = peers.get(&(pid, token)).and_then(Weak::upgrade) {
            return Ok(peer);
        }
        peers.retain(|_, peer| peer.strong_count() > 0);
        let peer = Arc::new(Self::map(pid, fd, token)?);
        peers.insert((pid, token), Arc::downgrade(&peer));
        Ok(peer)
    }

    fn map(pid: u32, fd: u32, token: NonZeroU64) -> Result<Self, PeerError> {
        let system = |step| move |errno| PeerError::System { pid, step, errno };
        let process = open_process(pid)?;
        let file = open_file(pid, fd, FILE_NAME, SEGMENT_BYTES)?;
        let mapping = Mapping::new(file.as_fd()).map_err(system("mmap"))?;
        mapping.layout().check(token.get()).map_err(|wrong| match wrong {
            WrongContent::Magic => {
                PeerError::NotASegment { pid, fd, what: "its first bytes are not those of Feros" }
            }
            WrongContent::Version(theirs) => PeerError::OtherVersion {
                pid,
                theirs,
                ours: crate::format_version::format_version(),
            },
            WrongContent::Token => PeerError::WrongToken { pid },
        })?;
        let peer = Self { pid, mapping, process, has_ended: AtomicBool::new(false) };
        // If the process is alive now, `/proc/<pid>` has been its folder for the whole time, so
        // `process` refers to this process.
        if peer.is_alive() { Ok(peer) } else { Err(PeerError::NoSuchProcess { pid }) }
    }

    /// The id of the process, from the point of view of this process.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether the process is still running. Makes one system call and does not wait.
    pub fn is_alive(&self) -> bool {
        let is_alive = self.process.is_alive();
        if !is_alive {
            self.has_ended.store(true, Ordering::Release);
        }
        is_alive
    }

    /// Whether this process has noticed that the other process has ended. Makes no system call. An
    /// [`EndWatch`] notices the end soon after it happens.
    ///
    /// [`EndWatch`]: crate::EndWatch
    pub fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Acquire)
    }

    pub(crate) fn process(&self) -> &ProcessHandle {
        &self.process
    }

    /// The subscription with this entry in the other process. It may not exist any longer.
    pub fn subscription(self: &Arc<Self>, entry: EntryId) -> PeerSubscription {
        PeerSubscription { peer: Arc::clone(self), entry }
    }

    fn layout(&self) -> &Layout {
        self.mapping.layout()
    }

    /// Rings at the doorbell and slot that `place`, a word from shared memory, encodes. Call this
    /// when the message is visible to the other side. Returns whether the word encodes an existing
    /// place.
    pub(crate) fn ring_at(&self, place: u64) -> bool {
        let Some((number, slot)) = place::decode(place) else { return false };
        let Some(doorbell) = self.layout().doorbell_of_number(number) else { return false };
        doorbell.ring(slot);
        true
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer").field("pid", &self.pid).finish_non_exhaustive()
    }
}

fn open_process(pid: u32) -> Result<ProcessHandle, PeerError> {
    ProcessHandle::open(pid).map_err(|errno| match errno {
        Errno::SRCH => PeerError::NoSuchProcess { pid },
        errno => PeerError::System { pid, step: "pidfd_open", errno },
    })
}

/// Opens the file, with all checks that are possible without mapping it. The kind of the file is
/// checked before it is opened, because the number cannot be trusted, and opening some kinds of
/// files has side effects.
pub(crate) fn open_file(
    pid: u32,
    fd: u32,
    name: &str,
    size_bytes: usize,
) -> Result<OwnedFd, PeerError> {
    let wrong = |what| PeerError::NotASegment { pid, fd, what };
    let failed = |step| {
        move |errno| match errno {
            Errno::NOENT => wrong("there is no such file"),
            Errno::SRCH => PeerError::NoSuchProcess { pid },
            Errno::ACCESS | Errno::PERM => PeerError::Denied { pid },
            errno => PeerError::System { pid, step, errno },
        }
    };
    let path = format!("/proc/{pid}/fd/{fd}");
    let target = rustix::fs::readlink(&path, Vec::new()).map_err(failed("readlink"))?;
    if target.to_bytes() != format!("/memfd:{name} (deleted)").as_bytes() {
        return Err(wrong("it is another kind of file"));
    }
    let flags = OFlags::RDWR | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = rustix::fs::open(&path, flags, Mode::empty()).map_err(failed("open"))?;
    let status = rustix::fs::fstat(&file).map_err(failed("fstat"))?;
    if !FileType::from_raw_mode(status.st_mode).is_file() {
        return Err(wrong("it is not memory"));
    }
    if status.st_uid != rustix::process::geteuid().as_raw() {
        return Err(PeerError::OtherUser { pid, uid: status.st_uid });
    }
    // Without the seals, the file could shrink after it has been mapped, and every access would
    // then raise a signal.
    let seals = rustix::fs::fcntl_get_seals(&file).map_err(|_| wrong("it cannot be sealed"))?;
    if !seals.contains(SealFlags::SHRINK | SealFlags::GROW) {
        return Err(wrong("its size is not sealed"));
    }
    if u64::try_from(status.st_size) != Ok(size_bytes as u64) {
        return Err(wrong("its size is not that of a segment"));
    }
    Ok(file)
}

/// A subscription of another process, from the point of view of a publisher of this process.
#[derive(Debug, Clone)]
pub struct PeerSubscription {
    peer: Arc<Peer>,
    entry: EntryId,
}

impl PeerSubscription {
    fn entry(&self) -> &Entry {
        self.peer.layout().entry(self.entry.index())
    }

    /// The process.
    pub fn peer(&self) -> &Arc<Peer> {
        &self.peer
    }

    /// Wakes the subscription. Call this after you have sent a message. Returns whether there is a
    /// place to ring. There is no such place before the subscription is added to an executor, or
    /// after the subscription or the executor has ended.
    ///
    /// Never blocks. Makes one system call if the subscription's executor sleeps, and no system
    /// call otherwise.
    pub fn ring(&self) -> bool {
        // `place` includes the fence between the steps of sending a message and reading the place.
        let Some((number, slot)) = self.entry().place(self.entry.generation()) else {
            return false;
        };
        let Some(doorbell) = self.peer.layout().doorbell_of_number(number) else { return false };
        doorbell.ring(slot);
        true
    }

    /// Signals that the memory of a publisher of this process has been made, and wakes the
    /// subscription so that it opens that memory.
    pub fn report_ready(&self) {
        self.entry().count_ready(self.entry.generation());
        self.ring();
    }

    /// Whether the subscription exists. If the subscription's process has been killed, this remains
    /// true.
    pub fn exists(&self) -> bool {
        self.entry().is_open(self.entry.generation())
    }

    /// How many attachments the subscription has released, modulo 2^32. An attachment that
    /// [`attachment`](Self::attachment) returns after this call is there until this number changes.
    /// The number is written by the other process and may be wrong.
    pub fn releases(&self) -> u32 {
        self.entry().releases()
    }

    /// Whether the subscription receives from the publisher with this id through shared memory.
    pub fn is_attached(&self, publisher: NonZeroU64) -> bool {
        self.peer.layout().find(self.entry, publisher.get()).is_some()
    }

    /// The attachment of the publisher with this id, if the subscription receives from it through
    /// shared memory.
    pub fn attachment(&self, publisher: NonZeroU64) -> Option<PeerAttachment> {
        let (entry, found) = self.peer.layout().find(self.entry, publisher.get())?;
        Some(PeerAttachment { subscription: self.clone(), entry, found })
    }
}

/// The attachment of a publisher of this process to a subscription that receives from it through
/// shared memory, from the point of view of the publisher.
#[derive(Debug, Clone)]
pub struct PeerAttachment {
    subscription: PeerSubscription,
    /// The index of the subscription's entry that contains the attachment.
    entry: usize,
    found: Found,
}

impl PeerAttachment {
    /// The interval at which a thread that waits for room checks whether the subscription's process
    /// has been killed.
    const LIFE_CHECK: Duration = Duration::from_millis(100);

    fn attachment(&self) -> &crate::segment::entry::Attachment {
        self.subscription.peer.layout().entry(self.entry).attachment(self.found.index)
    }

    /// The subscription.
    pub fn subscription(&self) -> &PeerSubscription {
        &self.subscription
    }

    /// Whether the subscription still receives from the publisher through this attachment. If the
    /// publisher has been attached again, the new attachment is a different attachment.
    pub fn is_attached(&self) -> bool {
        self.attachment().is_attached(self.found)
    }

    /// Announces that the publisher serves the subscription only through shared memory, beginning
    /// with the message with this number (counted from 1, at most 2^48). Call this before that
    /// message is sent. Returns false, and has no effect, if the subscription does not receive from
    /// the publisher any longer.
    pub fn begin(&self, first_number: u64) -> bool {
        self.attachment().begin(self.found, first_number)
    }

    /// The number of messages for which the subscription has room, or 0 if the publisher does not
    /// wait for room.
    pub fn capacity(&self) -> u32 {
        self.found.capacity
    }

    /// The number of messages that the subscription has taken since it attached, modulo 2^32. It is
    /// `None` if the subscription does not receive from the publisher any longer, or if its process
    /// is known to have ended (so that no thread waits for a dead process twice). The number is
    /// written by the other process and may be wrong.
    pub fn taken(&self) -> Option<u32> {
        if self.subscription.peer.has_ended() { None } else { self.attachment().taken(self.found) }
    }

    /// Sleeps until the number of taken messages differs from `seen`, for at most `timeout`. Also
    /// returns when the subscription does not receive from the publisher any longer, and soon after
    /// the subscription's process has ended.
    pub fn wait_for_room(&self, seen: u32, timeout: Duration) -> Room {
        let start = Instant::now();
        loop {
            let slice = timeout.saturating_sub(start.elapsed()).min(Self::LIFE_CHECK);
            let room = self.attachment().wait(self.found, seen, Some(Instant::now() + slice));
            if room != Room::TimedOut {
                return room;
            }
            if !self.subscription.peer.is_alive() {
                return Room::Detached;
            }
            if start.elapsed() >= timeout {
                return Room::TimedOut;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_resource_that_this_process_lacks_is_an_obstacle_of_its_own_side() {
        let error = PeerError::System { pid: 1, step: "mmap", errno: Errno::NOMEM };
        let why = Obstacle::NoMemory;
        let reason = error.reason(Side::Subscription);
        assert_eq!(reason, Reason::SharedMemoryUnavailable { by: Side::Publisher, why });
        let reason = error.reason(Side::Publisher);
        assert_eq!(reason, Reason::SharedMemoryUnavailable { by: Side::Subscription, why });
    }
}

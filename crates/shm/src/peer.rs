//! The segment of another process (or of this one), as its publishers use it.

use crate::process_handle::ProcessHandle;
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

/// The segment of a process cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PeerError {
    /// The process has ended, or the announcement is wrong.
    #[error("process {pid} does not run any more")]
    NoSuchProcess {
        /// Its id.
        pid: u32,
    },
    /// The kernel keeps this process from the other's memory.
    #[error(
        "access to the shared memory of process {pid} is denied; run both as the same user, with the same capabilities"
    )]
    Denied {
        /// Its id.
        pid: u32,
    },
    /// The memory belongs to another user. Only a privileged process gets so far.
    #[error(
        "the shared memory of process {pid} belongs to another user (uid {uid}); run both as the same user"
    )]
    OtherUser {
        /// The other process's id.
        pid: u32,
        /// The owner.
        uid: u32,
    },
    /// The file is not what was announced.
    #[error("file {fd} of process {pid} is no shared memory of Feros: {what}")]
    NotASegment {
        /// The process's id.
        pid: u32,
        /// The file's number there.
        fd: u32,
        /// What is wrong with it.
        what: &'static str,
    },
    /// Another version of Feros made the segment.
    #[error(
        "the shared memory of process {pid} has format {theirs}, this process uses {ours}; use one version of Feros"
    )]
    OtherVersion {
        /// The process's id.
        pid: u32,
        /// Its format.
        theirs: u32,
        /// The format of this process.
        ours: u32,
    },
    /// The process is not the one that was announced; it got its id later.
    #[error("process {pid} is not the one that announced shared memory: the token differs")]
    WrongToken {
        /// Its id.
        pid: u32,
    },
    /// The system refuses something to this process.
    #[error(
        "the shared memory of process {pid} cannot be opened ({step}: {errno}); allow this process more memory and more open files (RLIMIT_NOFILE)"
    )]
    System {
        /// The process's id.
        pid: u32,
        /// What was tried.
        step: &'static str,
        /// What the system said.
        errno: Errno,
    },
}

impl PeerError {
    /// The reason to show for a match whose end on `side` this segment belongs to.
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

/// A process of this host, this one included, whose segment is mapped. Everything that is read
/// there may be wrong.
pub struct Peer {
    pid: u32,
    mapping: Mapping,
    process: ProcessHandle,
    /// Somebody has seen its end.
    has_ended: AtomicBool,
}

type Peers = Mutex<HashMap<(u32, NonZeroU64), Weak<Peer>>>;

fn peers() -> &'static Peers {
    static PEERS: OnceLock<Peers> = OnceLock::new();
    PEERS.get_or_init(Peers::default)
}

impl Peer {
    /// Maps the segment of the process `pid`: its file of number `fd`, which carries `token`. Those
    /// who ask for the same one share the mapping, which goes when the last of them drops it.
    ///
    /// # Errors
    /// The process is gone, belongs to another user, or its file is not such a segment.
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
                PeerError::NotASegment { pid, fd, what: "its first bytes are not ours" }
            }
            WrongContent::Version(theirs) => {
                PeerError::OtherVersion { pid, theirs, ours: crate::format_version::FORMAT_VERSION }
            }
            WrongContent::Token => PeerError::WrongToken { pid },
        })?;
        let peer = Self { pid, mapping, process, has_ended: AtomicBool::new(false) };
        // Alive now means that `/proc/<pid>` was the folder of this process all the time, so
        // `process` is its handle.
        if peer.is_alive() { Ok(peer) } else { Err(PeerError::NoSuchProcess { pid }) }
    }

    /// The id of the process, as this process sees it.
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Whether the process still runs. One system call, no waiting.
    pub fn is_alive(&self) -> bool {
        let is_alive = self.process.is_alive();
        if !is_alive {
            self.has_ended.store(true, Ordering::Relaxed);
        }
        is_alive
    }

    /// Whether somebody has seen the process's end. No system call: an [`EndWatch`] sees it soon.
    ///
    /// [`EndWatch`]: crate::EndWatch
    pub fn has_ended(&self) -> bool {
        self.has_ended.load(Ordering::Relaxed)
    }

    pub(crate) fn process(&self) -> &ProcessHandle {
        &self.process
    }

    /// The subscription of this entry in the process. Whether there is one shows in use: entries
    /// come and go.
    pub fn subscription(self: &Arc<Self>, entry: EntryId) -> PeerSubscription {
        PeerSubscription { peer: Arc::clone(self), entry }
    }

    fn layout(&self) -> &Layout {
        self.mapping.layout()
    }

    /// Rings at the place that a word of shared memory names, to be called after a message was put
    /// where the other side looks. Whether the word names one.
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

/// The file, after all checks that can be made without mapping it. It is looked at before it is
/// opened, because opening has effects on some kinds of files, and the number is a stranger's.
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
        return Err(wrong("it is no memory"));
    }
    if status.st_uid != rustix::process::geteuid().as_raw() {
        return Err(PeerError::OtherUser { pid, uid: status.st_uid });
    }
    // Without the seals it could shrink under the mapping, and every access would be a signal.
    let seals = rustix::fs::fcntl_get_seals(&file).map_err(|_| wrong("it cannot be sealed"))?;
    if !seals.contains(SealFlags::SHRINK | SealFlags::GROW) {
        return Err(wrong("its size is not sealed"));
    }
    if u64::try_from(status.st_size) != Ok(size_bytes as u64) {
        return Err(wrong("its size is not that of a segment"));
    }
    Ok(file)
}

/// A subscription of another process, as a publisher of this one sees it.
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

    /// Wakes the subscription, to be called after sending. Whether there is a place to ring: none
    /// before it is added to an executor, and after it or its executor is gone.
    ///
    /// Never blocks; at most one system call, none if the subscription's executor does not sleep.
    pub fn ring(&self) -> bool {
        // The fence between what was sent and the look at the place is in here.
        let Some((number, slot)) = self.entry().place(self.entry.generation()) else {
            return false;
        };
        let Some(doorbell) = self.peer.layout().doorbell_of_number(number) else { return false };
        doorbell.ring(slot);
        true
    }

    /// Says that the memory of a publisher of this process has come into being, and wakes the
    /// subscription to open it.
    pub fn tell_ready(&self) {
        self.entry().count_ready(self.entry.generation());
        self.ring();
    }

    /// Whether the subscription exists, in a process that may have ended.
    pub fn exists(&self) -> bool {
        self.entry().is_open(self.entry.generation())
    }

    /// Whether the subscription hears the publisher of this id by shared memory.
    pub fn is_attached(&self, publisher: NonZeroU64) -> bool {
        self.entry().find(self.entry.generation(), publisher.get()).is_some()
    }

    /// The attachment of the publisher of this id, if the subscription hears it by shared memory.
    pub fn attachment(&self, publisher: NonZeroU64) -> Option<PeerAttachment> {
        let found = self.entry().find(self.entry.generation(), publisher.get())?;
        Some(PeerAttachment { subscription: self.clone(), found })
    }
}

/// That a subscription hears a publisher of this process by shared memory, as the publisher sees
/// it.
#[derive(Debug, Clone)]
pub struct PeerAttachment {
    subscription: PeerSubscription,
    found: Found,
}

impl PeerAttachment {
    /// How often whoever waits for room looks whether the subscription's process was killed.
    const LIFE_CHECK: Duration = Duration::from_millis(100);

    fn attachment(&self) -> &crate::segment::entry::Attachment {
        self.subscription.entry().attachment(self.found.index)
    }

    /// The subscription.
    pub fn subscription(&self) -> &PeerSubscription {
        &self.subscription
    }

    /// Whether the subscription still hears the publisher. One that was attached again is another
    /// attachment.
    pub fn is_attached(&self) -> bool {
        self.attachment().is_attached(self.found)
    }

    /// From the message of this number on (counted from 1, at most 2^48), the publisher serves the
    /// subscription by shared memory alone. To be called before that message is sent. False, and
    /// without effect, if the subscription does not hear the publisher any more.
    pub fn begin(&self, first_number: u64) -> bool {
        self.attachment().begin(self.found, first_number)
    }

    /// The number of messages that the subscription has room for; 0 if nobody is to wait for room.
    pub fn capacity(&self) -> u32 {
        self.found.capacity
    }

    /// The number of messages that the subscription has taken since it attached, modulo 2^32;
    /// `None` if it no longer hears the publisher, or its process was found to have ended: who has
    /// waited for the dead once need not do so again. The number is the other process's word.
    pub fn taken(&self) -> Option<u32> {
        let has_ended = self.subscription.peer.has_ended.load(Ordering::Relaxed);
        if has_ended { None } else { self.attachment().taken(self.found) }
    }

    /// Sleeps until the number of messages taken is not `seen` any more, at most for `timeout`.
    /// Ends also when the subscription no longer hears the publisher, and soon after its process
    /// ended.
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
    fn what_this_process_lacks_is_told_of_its_own_side() {
        let error = PeerError::System { pid: 1, step: "mmap", errno: Errno::NOMEM };
        let why = Obstacle::NoMemory;
        let reason = error.reason(Side::Subscription);
        assert_eq!(reason, Reason::SharedMemoryUnavailable { by: Side::Publisher, why });
        let reason = error.reason(Side::Publisher);
        assert_eq!(reason, Reason::SharedMemoryUnavailable { by: Side::Subscription, why });
    }
}

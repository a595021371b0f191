//! What can go wrong on the shared-memory transport: per operation one type that says cause,
//! numbers and cure.

use std::path::PathBuf;
use std::time::Duration;

use crate::declined::LinkObstacle;
use crate::reason::Obstacle;

/// The shared memory of this host cannot be used by this process; the network transport remains.
#[derive(Debug, Clone, thiserror::Error)]
pub enum UnavailableError {
    /// The folder cannot be made or looked at.
    #[error("shared memory is not available: {folder}: {cause}; is /dev/shm mounted and writable?", folder = .folder.display())]
    Folder {
        /// The folder of this user.
        folder: PathBuf,
        /// What the operating system said.
        cause: String,
    },
    /// The folder exists but is not ours alone: another user may have made it to read or block us.
    #[error("shared memory is not trusted: {folder} {why}; remove it (as its owner or as root) and start again", folder = .folder.display())]
    NotTrusted {
        /// The folder of this user.
        folder: PathBuf,
        /// What is wrong with it.
        why: String,
    },
    /// `/dev/shm` has too little space left to begin with.
    #[error(
        "shared memory is full: {needed_bytes} bytes are needed in /dev/shm and {free_bytes} are free; make it larger \
         (containers: --shm-size) or end what fills it"
    )]
    Full {
        /// What was to be made.
        needed_bytes: u64,
        /// What the file system has left.
        free_bytes: u64,
    },
    /// This process has as many files open as it may (RLIMIT_NOFILE), or nearly.
    #[error(
        "shared memory is not available: this process may have {limit} files open and has nearly all (RLIMIT_NOFILE); raise \
         the limit (ulimit -n, LimitNOFILE= of systemd), or look for what keeps files open in /proc/PID/fd"
    )]
    OpenFilesLimit {
        /// The limit.
        limit: u64,
    },
    /// This process may not make files of the size that is needed (RLIMIT_FSIZE).
    #[error(
        "shared memory is not available: a file of {needed_bytes} bytes is needed in /dev/shm, and this process may make \
         none of more than {limit_bytes} bytes (RLIMIT_FSIZE); raise the limit (ulimit -f, LimitFSIZE= of systemd)"
    )]
    FileSizeLimit {
        /// What was to be made.
        needed_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// Another process makes or removes shared memory, or was stopped while it did.
    #[error(
        "shared memory is not available: another process has locked {folder} for {waited:?}; end the process if it is stopped",
        folder = .folder.display()
    )]
    Locked {
        /// The folder of this user.
        folder: PathBuf,
        /// How long this process has waited.
        waited: Duration,
    },
    /// iceoryx2 refused.
    #[error("shared memory is not available: {what}: {cause}")]
    Refused {
        /// What was to be made.
        what: &'static str,
        /// What iceoryx2 said.
        cause: String,
    },
}

impl UnavailableError {
    /// What the other side is told.
    pub fn obstacle(&self) -> Obstacle {
        match self {
            Self::Folder { .. } => Obstacle::NoDevShm,
            Self::Locked { .. } => Obstacle::Other,
            Self::NotTrusted { .. } => Obstacle::Denied,
            Self::Full { .. } => Obstacle::Full,
            Self::OpenFilesLimit { .. } => Obstacle::OpenFilesLimit,
            Self::FileSizeLimit { .. } => Obstacle::FileSizeLimit,
            Self::Refused { .. } => Obstacle::Other,
        }
    }
}

/// A publisher's shared memory cannot be made.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CreateError {
    /// The host's shared memory cannot be used.
    #[error(transparent)]
    Unavailable(#[from] UnavailableError),
    /// There is already shared memory for this publisher id, and its owner or a reader of it lives.
    #[error(
        "publisher {id:#018x} already has shared memory on this host; ids must be unique among the user's processes"
    )]
    AlreadyExists {
        /// The publisher's id.
        id: u64,
    },
}

/// A subscription cannot be linked to a publisher.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OpenError {
    /// The publisher has made no shared memory yet, or it is gone. Try again when it may have
    /// changed.
    #[error("publisher {id:#018x} has no shared memory (yet, or any more)")]
    NotYet {
        /// The publisher's id.
        id: u64,
    },
    /// The publisher's memory cannot be mapped. It may just be going or growing: try a few times.
    #[error(
        "the shared memory of publisher {id:#018x} cannot be mapped; allow this process more memory and open files"
    )]
    NotMapped {
        /// The publisher's id.
        id: u64,
    },
    /// As many subscriptions as the publisher allows are linked to it.
    #[error(
        "publisher {id:#018x} already serves {max_subscriptions} subscriptions through shared memory; raise the publisher's \
         limit, or let this one use the network"
    )]
    TooMany {
        /// The publisher's id.
        id: u64,
        /// What the publisher allows.
        max_subscriptions: usize,
    },
    /// The shared memory of this id has another format.
    #[error(
        "the shared memory of publisher {id:#018x} has another format ({cause}); build both with the same version of Feros"
    )]
    Incompatible {
        /// The publisher's id.
        id: u64,
        /// What differs.
        cause: String,
    },
    /// The host's shared memory cannot be used.
    #[error(transparent)]
    Unavailable(#[from] UnavailableError),
}

impl OpenError {
    /// What the other side is told; `None`: nothing is in the way but time.
    pub fn obstacle(&self) -> Option<LinkObstacle> {
        match self {
            Self::NotYet { .. } => None,
            Self::NotMapped { .. } => Some(LinkObstacle::Unavailable(Obstacle::NotMapped)),
            Self::TooMany { max_subscriptions, .. } => {
                let limit = u32::try_from(*max_subscriptions).unwrap_or(u32::MAX);
                Some(LinkObstacle::TooManySubscriptions { limit })
            }
            Self::Incompatible { .. } => Some(LinkObstacle::Unavailable(Obstacle::Other)),
            Self::Unavailable(unavailable) => {
                Some(LinkObstacle::Unavailable(unavailable.obstacle()))
            }
        }
    }
}

/// No memory can be lent for a message now. Never the effect of waiting: lending never blocks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoanError {
    /// As many messages as allowed are lent out and not yet sent.
    #[error(
        "all {max_loans} messages that this publisher may lend at once are lent; send or drop one, or raise max_loans"
    )]
    TooManyLoans {
        /// The limit.
        max_loans: usize,
    },
    /// The pool's limit is reached: its messages are lent, queued or held by views.
    #[error(
        "the publisher's pool is exhausted: {used_bytes} of {limit_bytes} bytes are in use by messages that are lent, queued or \
         held by views, and {needed_bytes} more are needed; let views go earlier, or raise pool_limit_bytes"
    )]
    Exhausted {
        /// What this message needs besides.
        needed_bytes: u64,
        /// What the pool has taken from the system.
        used_bytes: u64,
        /// What it may take.
        limit_bytes: u64,
    },
    /// The message is larger than any that goes through shared memory.
    #[error(
        "a message of {size_bytes} bytes is larger than shared memory takes ({max_bytes} bytes)"
    )]
    TooLarge {
        /// The message.
        size_bytes: usize,
        /// The limit.
        max_bytes: usize,
    },
    /// `/dev/shm` is full.
    #[error(
        "/dev/shm is full: {needed_bytes} bytes are needed and {free_bytes} are free; make it larger (containers: --shm-size) or \
         end what fills it"
    )]
    SharedMemoryFull {
        /// What this message needs.
        needed_bytes: u64,
        /// What the file system has left.
        free_bytes: u64,
    },
    /// The pool has to grow, and another process just makes or removes shared memory.
    #[error(
        "the publisher's pool cannot grow now: another process makes or removes shared memory; the next message tries again"
    )]
    Busy,
    /// iceoryx2 refused.
    #[error("shared memory cannot be lent: {cause}")]
    Refused {
        /// What iceoryx2 said.
        cause: String,
    },
}

/// A message could not be given to all receivers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The loan was made for a pool that has been replaced by a larger one, and no memory is left
    /// there to copy it to.
    #[error("the message was lent before the pool grew and cannot be moved: {0}")]
    Moved(#[from] LoanError),
    /// The loan belongs to another publisher.
    #[error("the message was lent by another publisher")]
    Foreign,
    /// iceoryx2 refused; some receivers may have got the message.
    #[error("the message could not be delivered to all receivers: {cause}")]
    Refused {
        /// What iceoryx2 said.
        cause: String,
    },
}

/// Why a sample was not delivered: it is not what this process expects to find in shared memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Written by another version of Feros.
    #[error("a sample has format version {found}, expected {expected}")]
    Version {
        /// In the sample.
        found: u32,
        /// Of this process.
        expected: u32,
    },
    /// Of another message type.
    #[error(
        "a sample is of type {found:#018x}, expected {expected:#018x} (first eight bytes of the type's hash)"
    )]
    TypeHash {
        /// In the sample.
        found: u64,
        /// Of the subscription.
        expected: u64,
    },
    /// Its length does not fit the memory it lies in.
    #[error("a sample claims {claimed_bytes} bytes, but {available_bytes} can be there")]
    Length {
        /// In the sample.
        claimed_bytes: u64,
        /// What its memory has.
        available_bytes: u64,
    },
    /// It lies outside of the publisher's shared memory.
    #[error("a sample lies outside of the publisher's shared memory")]
    Place,
    /// The publisher's shared memory cannot be mapped.
    #[error("the publisher's shared memory cannot be mapped")]
    NotMapped,
    /// It was taken before: each sample has a larger number than the one before it.
    #[error("a sample has number {found} after number {last}")]
    Repeated {
        /// In the sample.
        found: u64,
        /// Of the sample before it.
        last: u64,
    },
}

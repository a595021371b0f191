//! The errors of the shared-memory transport. Each operation has its own error type, which names
//! the cause, the relevant numbers and how to solve the problem.

use std::path::PathBuf;
use std::time::Duration;

use crate::reason::Obstacle;
use crate::reason::declined::ConnectionObstacle;

/// The reason why this process cannot use the shared memory of this host. The network transport can
/// still be used.
#[derive(Debug, Clone, thiserror::Error)]
pub enum UnavailableError {
    /// The folder for shared memory cannot be made or checked.
    #[error("shared memory is not available: {folder}: {cause}; is /dev/shm mounted and writable?", folder = .folder.display())]
    Folder {
        /// The folder of this user.
        folder: PathBuf,
        /// The operating system's error.
        cause: String,
    },
    /// The folder exists, but other users have access to it. Another user may have made it in order
    /// to read or block this user's messages.
    #[error("shared memory is not trusted: {folder} {why}; remove it (as its owner or as root) and start again", folder = .folder.display())]
    NotTrusted {
        /// The folder of this user.
        folder: PathBuf,
        /// The reason why the folder is not trusted.
        why: String,
    },
    /// `/dev/shm` has too little free space for the files that are needed.
    #[error(
        "shared memory is full: {needed_bytes} bytes are needed in /dev/shm and {free_bytes} are free; make it larger \
         (containers: --shm-size) or end the program that fills it"
    )]
    Full {
        /// The size that is needed.
        needed_bytes: u64,
        /// The free space of the file system.
        free_bytes: u64,
    },
    /// This process has reached, or almost reached, its limit on open files (RLIMIT_NOFILE).
    #[error(
        "shared memory is not available: this process may have {limit} files open, and nearly all are in use \
         (RLIMIT_NOFILE); raise the limit (ulimit -n, LimitNOFILE= of systemd), or see in /proc/PID/fd which files are \
         open"
    )]
    OpenFilesLimit {
        /// The limit.
        limit: u64,
    },
    /// This process is not permitted to make files of the required size (RLIMIT_FSIZE).
    #[error(
        "shared memory is not available: a file of {needed_bytes} bytes is needed in /dev/shm, but this process may \
         not make files of more than {limit_bytes} bytes (RLIMIT_FSIZE); raise the limit (ulimit -f, LimitFSIZE= of \
         systemd)"
    )]
    FileSizeLimit {
        /// The required size.
        needed_bytes: u64,
        /// The limit.
        limit_bytes: u64,
    },
    /// Another process is making or removing shared memory, or was stopped while it did so.
    #[error(
        "shared memory is not available: another process has locked {folder} for {}; end the process if it is stopped",
        feros_wording::duration(*.waited),
        folder = .folder.display()
    )]
    Locked {
        /// The folder of this user.
        folder: PathBuf,
        /// The time that this process has waited.
        waited: Duration,
    },
    /// iceoryx2 refused the operation.
    #[error("shared memory is not available: {what}: {cause}")]
    Refused {
        /// The object that iceoryx2 could not make.
        what: &'static str,
        /// iceoryx2's error.
        cause: String,
    },
}

impl UnavailableError {
    /// The obstacle that is announced to the other side.
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

/// The reason why a publisher's shared memory cannot be made.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CreateError {
    /// The host's shared memory cannot be used.
    #[error(transparent)]
    Unavailable(#[from] UnavailableError),
    /// A publisher with this id already has shared memory, and the owner or a reader of that memory
    /// is alive.
    #[error(
        "publisher {id:#018x} already has shared memory on this host; ids must be unique among the user's processes"
    )]
    AlreadyExists {
        /// The publisher's id.
        id: u64,
    },
}

/// The reason why a subscription cannot connect to a publisher.
#[derive(Debug, Clone, thiserror::Error)]
pub enum OpenError {
    /// The publisher's shared memory does not exist yet, or was removed. Try again when that may
    /// have changed.
    #[error("publisher {id:#018x} has no shared memory (not yet, or no longer)")]
    NotYet {
        /// The publisher's id.
        id: u64,
    },
    /// The publisher's memory cannot be mapped. The publisher may be leaving, or its memory may be
    /// growing, so a few more attempts may succeed.
    #[error(
        "the shared memory of publisher {id:#018x} cannot be mapped; allow this process more memory and open files"
    )]
    NotMapped {
        /// The publisher's id.
        id: u64,
    },
    /// The publisher already has the largest number of subscriptions that it allows.
    #[error(
        "publisher {id:#018x} already serves {max_subscriptions} subscriptions through shared memory; raise the \
         publisher's limit, or let this subscription use the network"
    )]
    TooMany {
        /// The publisher's id.
        id: u64,
        /// The number of subscriptions that the publisher allows.
        max_subscriptions: usize,
    },
    /// The shared memory of the publisher with this id has another format.
    #[error(
        "the shared memory of publisher {id:#018x} has another format ({cause}); build both with the same version of Feros"
    )]
    Incompatible {
        /// The publisher's id.
        id: u64,
        /// The difference between the formats.
        cause: String,
    },
    /// The host's shared memory cannot be used.
    #[error(transparent)]
    Unavailable(#[from] UnavailableError),
}

impl OpenError {
    /// The obstacle to announce to the other side. `None` if trying again later may be enough.
    pub fn obstacle(&self) -> Option<ConnectionObstacle> {
        match self {
            Self::NotYet { .. } => None,
            Self::NotMapped { .. } => Some(ConnectionObstacle::Unavailable(Obstacle::NotMapped)),
            Self::TooMany { max_subscriptions, .. } => {
                let limit = u32::try_from(*max_subscriptions).unwrap_or(u32::MAX);
                Some(ConnectionObstacle::TooManySubscriptions { limit })
            }
            Self::Incompatible { .. } => Some(ConnectionObstacle::Unavailable(Obstacle::Other)),
            Self::Unavailable(unavailable) => {
                Some(ConnectionObstacle::Unavailable(unavailable.obstacle()))
            }
        }
    }
}

/// The reason why no memory can be lent for a message now. Lending never blocks, so this is not a
/// timeout.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LoanError {
    /// The largest allowed number of messages has been lent but not sent yet.
    #[error(
        "all {max_loans} messages that this publisher may lend at once are lent; send or drop one, or raise max_loans"
    )]
    TooManyLoans {
        /// The limit.
        max_loans: usize,
    },
    /// The pool has reached its memory limit, and all its messages are lent, queued, or held by
    /// views (which are messages that subscriptions have taken and not dropped yet).
    #[error(
        "the publisher's pool is exhausted: {used_bytes} of {limit_bytes} bytes are in use by messages that are lent, \
         queued or held by views, and {needed_bytes} more are needed; drop views earlier, or raise pool_limit_bytes"
    )]
    Exhausted {
        /// The additional memory that this message needs.
        needed_bytes: u64,
        /// The memory that the pool has taken from the system.
        used_bytes: u64,
        /// The memory that the pool may take.
        limit_bytes: u64,
    },
    /// The message is larger than the limit for shared memory.
    #[error(
        "a message of {size_bytes} bytes is larger than the limit of shared memory ({max_bytes} \
         bytes)"
    )]
    TooLarge {
        /// The size of the message.
        size_bytes: usize,
        /// The limit.
        max_bytes: usize,
    },
    /// `/dev/shm` is full.
    #[error(
        "/dev/shm is full: {needed_bytes} bytes are needed and {free_bytes} are free; make it larger (containers: \
         --shm-size) or end the program that fills it"
    )]
    SharedMemoryFull {
        /// The memory that this message needs.
        needed_bytes: u64,
        /// The free space of the file system.
        free_bytes: u64,
    },
    /// The pool must grow, but another process is making or removing shared memory.
    #[error(
        "the publisher's pool cannot grow now: another process makes or removes shared memory; the next message tries again"
    )]
    Busy,
    /// iceoryx2 refused.
    #[error("shared memory for a message cannot be lent: {cause}")]
    Refused {
        /// iceoryx2's error.
        cause: String,
    },
}

/// The reason why a message could not be sent to all receivers.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SendError {
    /// The loan is from a pool that has been replaced by a larger pool in the meantime, and the
    /// larger pool has no memory left for a copy of the message.
    #[error("the message was lent before the pool grew and cannot be moved: {0}")]
    Moved(#[from] LoanError),
    /// The loan belongs to another publisher.
    #[error("the message was lent by another publisher")]
    Foreign,
    /// iceoryx2 refused the operation. Some receivers may have got the message.
    #[error("the message could not be delivered to all receivers: {cause}")]
    Refused {
        /// iceoryx2's error.
        cause: String,
    },
}

/// The reason why a sample (a message in shared memory) was refused. In each case, it differs from
/// what this process expects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Another version of Feros wrote the sample.
    #[error("a sample has format version {found}, but {expected} is expected")]
    Version {
        /// The version in the sample.
        found: u32,
        /// The version of this process.
        expected: u32,
    },
    /// The sample has another message type.
    #[error(
        "a sample is of type {found:#018x}, but {expected:#018x} is expected (the first eight \
         bytes of the type's hash)"
    )]
    TypeHash {
        /// The type in the sample.
        found: u64,
        /// The type of the subscription.
        expected: u64,
    },
    /// The sample's length exceeds the memory that the sample lies in.
    #[error("a sample claims {claimed_bytes} bytes, but at most {available_bytes} are possible")]
    Length {
        /// The length in the sample.
        claimed_bytes: u64,
        /// The size of the sample's memory.
        available_bytes: u64,
    },
    /// The sample is outside the publisher's shared memory.
    #[error("a sample lies outside of the publisher's shared memory")]
    Place,
    /// The publisher's shared memory cannot be mapped.
    #[error("the publisher's shared memory cannot be mapped; allow this process more memory")]
    NotMapped,
    /// The sample has already been taken. This is known because each new sample has a larger number
    /// than the previous sample.
    #[error("a sample has number {found} after number {last}")]
    Repeated {
        /// The number of the sample.
        found: u64,
        /// The number of the previous sample.
        last: u64,
    },
}

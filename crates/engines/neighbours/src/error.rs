//! The errors of joining and announcing. After each of them, discovery by the network still works.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

/// The reason why this process cannot be a neighbour of other processes on this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JoinError {
    /// What distinguishes this host from others cannot be read.
    Host {
        /// The file or link.
        path: PathBuf,
        /// The operating system's error.
        cause: String,
    },
    /// The folder of the neighbours, or a file in it, cannot be made, checked or written.
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The operating system's error.
        cause: String,
    },
    /// Other users have access to the folder, or could replace it.
    NotTrusted {
        /// The folder.
        folder: PathBuf,
        /// The reason why the folder is not trusted.
        why: String,
    },
    /// The system cannot start the thread that looks at the announcements of others.
    Thread {
        /// The operating system's error.
        cause: String,
    },
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host { path, cause } => write!(
                f,
                "this host cannot be told from others: {} cannot be read: {cause}; is /proc \
                 mounted?",
                path.display()
            ),
            Self::Folder { folder, cause } => write!(
                f,
                "{} cannot be used: {cause}; is /dev/shm mounted and writable, and is space free \
                 in it?",
                folder.display()
            ),
            Self::NotTrusted { folder, why } => write!(
                f,
                "{} is not trusted: it {why}; remove it (as its owner or as root) and start again",
                folder.display()
            ),
            Self::Thread { cause } => write!(
                f,
                "the thread feros-neighbours cannot be started: {cause}; raise the limit on \
                 threads (RLIMIT_NPROC, TasksMax= of systemd)"
            ),
        }
    }
}

impl Error for JoinError {}

/// The reason why an announcement does not reach the neighbours.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AnnounceError {
    /// The participant has not been announced, or has ended.
    NoParticipant {
        /// The participant, in hexadecimal digits.
        participant: String,
    },
    /// The announcement is too large. The neighbourhood has been left.
    TooLarge {
        /// The size of the announcement.
        bytes: usize,
        /// The largest size.
        most_bytes: usize,
    },
    /// The announcement cannot be written. The neighbourhood has been left.
    NotWritten {
        /// What failed, and what to do.
        cause: JoinError,
    },
    /// The neighbourhood was left after an earlier error, which was logged.
    Left,
}

impl fmt::Display for AnnounceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoParticipant { participant } => write!(
                f,
                "participant {participant} has not been announced, or has ended; announce it \
                 before its endpoints"
            ),
            Self::TooLarge { bytes, most_bytes } => write!(
                f,
                "an announcement has {bytes} bytes, and at most {most_bytes} are possible in \
                 shared memory; shorten its user data and its names"
            ),
            Self::NotWritten { cause } => {
                write!(f, "an announcement cannot be written to shared memory: {cause}")
            }
            Self::Left => f.write_str(
                "this process announces nothing in shared memory any longer; an earlier message \
                 gives the cause",
            ),
        }
    }
}

impl Error for AnnounceError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::NotWritten { cause } => Some(cause),
            _ => None,
        }
    }
}

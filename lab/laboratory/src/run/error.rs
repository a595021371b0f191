//! Why a run did not finish.

use std::path::{Path, PathBuf};

use crate::peer_builder::PeerBuildError;

/// Why a run did not finish. The results so far are kept in every case.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Another laboratory is measuring.
    #[error("{}: {by} is running {}; two runs at once would disturb each other. Wait for the other \
             run, or end it",
        path.as_deref().map_or("this machine".into(), |path| path.display().to_string()),
        path.as_deref().map_or("a measurement here", |_| "a measurement into this folder"))]
    Busy {
        /// The locked folder; `None` means the machine.
        path: Option<PathBuf>,
        /// The process that holds the lock.
        by: String,
    },
    /// The folder contains something else.
    #[error("{} holds {what}: choose another folder with --out", path.display())]
    OtherContent {
        /// The folder.
        path: PathBuf,
        /// The other content.
        what: String,
    },
    /// The folder cannot be used.
    #[error("{} cannot be used: {error}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        error: std::io::Error,
    },
    /// No disk space is left.
    #[error("no space is left for {}: the {kept} results so far are kept; free some space and repeat the command to continue",
        path.display())]
    DiskFull {
        /// The folder.
        path: PathBuf,
        /// The number of records that are safe.
        kept: usize,
    },
    /// The user interrupted the run.
    #[error("interrupted after {done} of {of} cells; the same command continues")]
    Interrupted {
        /// The number of cells that are done.
        done: usize,
        /// The number of cells in the plan.
        of: usize,
    },
    /// Every system is missing. The observer has received, for each system, the reason and the
    /// command that installs the system.
    #[error(
        "nothing can be measured: no system of this plan is installed; install one and repeat the \
         command"
    )]
    NothingInstalled,
    /// No program can be built.
    #[error(transparent)]
    PeerBuild(#[from] PeerBuildError),
}

impl RunError {
    pub(super) fn writing(path: &Path, kept: usize, error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => {
                Self::DiskFull { path: path.to_owned(), kept }
            }
            _ => Self::Folder { path: path.to_owned(), error },
        }
    }
}

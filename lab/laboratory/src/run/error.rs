//! Why a run did not come to its end.

use std::path::{Path, PathBuf};

use crate::peer_builder::PeerBuildError;

/// Why a run did not come to its end. What was measured is kept in every case.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Somebody else measures.
    #[error("{}: {by} is running {}; two runs at once would measure each other. Wait for it, or end it",
        path.as_deref().map_or("this machine".into(), |path| path.display().to_string()),
        path.as_deref().map_or("a measurement here", |_| "a measurement into this folder"))]
    Busy {
        /// The folder; `None`: the machine.
        path: Option<PathBuf>,
        /// Who.
        by: String,
    },
    /// The folder holds something else.
    #[error("{} holds {what}: choose another folder with --out", path.display())]
    OtherContent {
        /// The folder.
        path: PathBuf,
        /// What is in it.
        what: String,
    },
    /// The folder cannot be used.
    #[error("{} cannot be used: {error}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// There is no space left.
    #[error("no space is left for {}: what was measured is kept (results: {kept}); make space and give the same command again to continue",
        path.display())]
    DiskFull {
        /// The folder.
        path: PathBuf,
        /// Records that are safe.
        kept: usize,
    },
    /// The user ended it.
    #[error("interrupted after {done} of {of} cells; the same command continues")]
    Interrupted {
        /// Cells that are done.
        done: usize,
        /// Cells of the plan.
        of: usize,
    },
    /// Every system is missing; the observer has been told of each why, and what installs it.
    #[error(
        "nothing can be measured: no system of this plan is installed; install one and give the same command again"
    )]
    NothingInstalled,
    /// Nothing can be built.
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

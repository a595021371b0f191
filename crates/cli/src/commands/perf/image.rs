//! This program as a file of its own, from which the processes that are measured run: the pages of
//! its code are then shared among them alone. Run from the same file as their coordinator, a part
//! of their memory would count as that one's.

use std::fs::{File, OpenOptions};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::Command;

use crate::error::CliError;

/// A copy of this program.
pub(super) struct Image(File);

impl Image {
    /// A copy on the disk, as programs are; it has no name any more, so that it goes with the last
    /// process that uses it.
    pub(super) fn new() -> Result<Self, CliError> {
        let path = std::env::temp_dir().join(format!("feros-perf-{}-program", std::process::id()));
        let failed = |error| {
            let path = path.display();
            CliError::failed(format!(
                "this program cannot be copied to {path}: {error} (TMPDIR names another folder)"
            ))
        };
        let copied =
            OpenOptions::new().write(true).create_new(true).mode(0o700).open(&path).and_then(
                |mut copy| {
                    std::io::copy(&mut File::open("/proc/self/exe")?, &mut copy)?;
                    // A file that is open for writing cannot be executed.
                    drop(copy);
                    File::open(&path)
                },
            );
        let removed = std::fs::remove_file(&path);
        let image = copied.map_err(failed)?;
        removed.map_err(failed)?;
        Ok(Self(image))
    }

    /// A call of it.
    pub(super) fn command(&self) -> Command {
        // The call resolves the name before the new program closes what it inherited.
        Command::new(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}

//! This program as a file of its own, from which the processes that are measured run: the pages of its code are then shared
//! among them alone. Run from the same file as their coordinator, a part of their memory would count as that one's.

use std::fs::File;
use std::os::fd::AsRawFd;
use std::process::Command;

use rustix::fs::{MemfdFlags, memfd_create};

use crate::error::CliError;

/// The name of the file, as the mappings of the processes show it.
pub(super) const NAME: &str = "feros-perf-program";

/// A copy of this program.
pub(super) struct Image(File);

impl Image {
    /// A copy in memory, which goes with the last process that uses it.
    pub(super) fn new() -> Result<Self, CliError> {
        let failed = |error| CliError::failed(format!("this program cannot be copied to memory: {error}"));
        let mut original = File::open("/proc/self/exe").map_err(failed)?;
        let copy = memfd_create(NAME, MemfdFlags::CLOEXEC).map_err(|error| failed(error.into()))?;
        let mut copy = File::from(copy);
        std::io::copy(&mut original, &mut copy).map_err(failed)?;
        // A file that is open for writing cannot be executed.
        let read_only = File::open(format!("/proc/self/fd/{}", copy.as_raw_fd())).map_err(failed)?;
        Ok(Self(read_only))
    }

    /// A call of it.
    pub(super) fn command(&self) -> Command {
        // The call resolves the name before the new program closes what it inherited.
        Command::new(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }
}

//! A handle of a process that refers only to that process, even if another process gets the same id
//! later.
//!
//! The handle is a pidfd. If the system refuses pidfds (under valgrind, because of a filter of
//! system calls, or on Linux before 5.3), the handle is the open folder `/proc/<pid>`, which
//! continues to refer to the same process after it has ended.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// Enough room for the beginning of `/proc/<pid>/stat` up to the state. Before the state, there are
/// only the id and the name, which the kernel limits to 64 bytes.
const STAT_BYTES: usize = 128;

#[derive(Debug)]
pub(crate) enum ProcessHandle {
    /// A pidfd, which becomes readable when the process has ended.
    Pidfd(OwnedFd),
    Folder(OwnedFd),
}

impl ProcessHandle {
    /// Opens a handle of the process. The error is `Errno::SRCH` if there is no such process.
    pub(crate) fn open(pid: u32) -> Result<Self, Errno> {
        let id = i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)?;
        match pidfd_open(id, PidfdFlags::empty()) {
            Ok(handle) => Ok(Self::Pidfd(handle)),
            // If the number is only the id of a thread, the kernel reports that the number is
            // invalid or, in newer versions, that it was not found.
            Err(Errno::SRCH | Errno::INVAL | Errno::NOENT) => Err(Errno::SRCH),
            Err(Errno::NOSYS | Errno::PERM) => Self::open_folder(pid),
            Err(errno) => Err(errno),
        }
    }

    fn open_folder(pid: u32) -> Result<Self, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(format!("/proc/{pid}"), flags, Mode::empty()) {
            Ok(folder) => Ok(Self::Folder(folder)),
            Err(Errno::NOENT) => Err(Errno::SRCH),
            Err(errno) => Err(errno),
        }
    }

    /// The descriptor that becomes readable when the process has ended, if the system provides one.
    pub(crate) fn pidfd(&self) -> Option<&OwnedFd> {
        match self {
            Self::Pidfd(handle) => Some(handle),
            Self::Folder(_) => None,
        }
    }

    /// Whether the process is still running. Never waits. If the check itself fails, the process
    /// counts as running, because it would do harm to mistake a live process for a dead process.
    pub(crate) fn is_alive(&self) -> bool {
        match self {
            Self::Pidfd(handle) => {
                let mut ended = [PollFd::new(handle, PollFlags::IN)];
                let now = Timespec { tv_sec: 0, tv_nsec: 0 };
                !matches!(poll(&mut ended, Some(&now)), Ok(1..))
            }
            Self::Folder(folder) => {
                !matches!(state_in(folder), Err(Errno::SRCH | Errno::NOENT) | Ok(b'Z' | b'X'))
            }
        }
    }
}

/// Reads the letter that represents the state of the process.
fn state_in(folder: &OwnedFd) -> Result<u8, Errno> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, "stat", flags, Mode::empty())?;
    let mut text = [0; STAT_BYTES];
    let length = rustix::io::read(&file, &mut text)?;
    // The name may contain parentheses and spaces, so it ends at the last parenthesis.
    let name_end = text[..length].iter().rposition(|byte| *byte == b')').ok_or(Errno::IO)?;
    text[..length].get(name_end + 2).copied().ok_or(Errno::IO)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::process::Command;

    use super::*;

    #[test]
    fn both_kinds_see_a_process_end_before_its_parent_waits_for_it() {
        for open in [ProcessHandle::open, ProcessHandle::open_folder] {
            let mut child = Command::new("sleep").arg("60").spawn().unwrap();
            let handle = open(child.id()).unwrap();
            assert!(handle.is_alive());
            child.kill().unwrap();
            feros_test_support::eventually(|| match handle.is_alive() {
                true => Err("its end is seen"),
                false => Ok(()),
            });
            child.wait().unwrap();
            assert!(!handle.is_alive());
        }
    }

    #[test]
    fn both_kinds_refuse_what_is_no_process() {
        let mut child = Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        for open in [ProcessHandle::open, ProcessHandle::open_folder] {
            assert_eq!(open(child.id()).unwrap_err(), Errno::SRCH);
            assert_eq!(open(0).unwrap_err(), Errno::SRCH);
        }
    }
}

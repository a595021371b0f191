//! A file in `/dev/shm` that gets its memory and its content before it gets its name. So a process
//! that maps the file can touch all of it, even if the file system fills up in the meantime.
//!
//! In a tmpfs, `ftruncate` gives a file a length but no memory. The kernel takes the memory only at
//! the first access, and raises SIGBUS when no memory is left. `fallocate` and copying take the
//! memory at once, and fail with an error.

use std::ops::Range;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, FallocateFlags, MemfdFlags, Mode, OFlags, SeekFrom};
use rustix::io::Errno;

use super::populate::SHM;
use crate::mapped_file::MappedFile;

/// A file without a name. It disappears when it is closed, unless it has been given a name.
pub(super) struct UnnamedFile(OwnedFd);

impl UnnamedFile {
    /// Makes a file of zeros that has no memory yet.
    pub(super) fn new(size_bytes: usize) -> Result<Self, Errno> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = rustix::fs::open(SHM, flags, Mode::RUSR | Mode::WUSR)?;
        rustix::fs::ftruncate(&file, size_bytes as u64)?;
        Ok(Self(file))
    }

    /// Allocates the memory of this range. After an error, nothing has been allocated.
    pub(super) fn allocate(&self, range: Range<usize>) -> Result<(), Errno> {
        let (start, length) = (range.start as u64, range.len() as u64);
        rustix::io::retry_on_intr(|| {
            rustix::fs::fallocate(&self.0, FallocateFlags::empty(), start, length)
        })
    }

    /// Copies the written parts of the draft into the file. The rest of the file does not change.
    pub(super) fn copy_from(&self, draft: &Draft) -> Result<(), Errno> {
        let mut end = 0;
        while let Some(written) = draft.next_written(end)? {
            rustix::fs::seek(&self.0, SeekFrom::Start(written.start))?;
            let mut from = written.start;
            while from < written.end {
                // The call advances `from`. The kernel copies at most 2 GiB at once.
                let left = usize::try_from(written.end - from).unwrap_or(usize::MAX);
                if rustix::fs::sendfile(&self.0, &draft.file, Some(&mut from), left)? == 0 {
                    return Err(Errno::IO);
                }
            }
            end = written.end;
        }
        Ok(())
    }

    pub(super) fn map(&self, size_bytes: usize) -> Result<MappedFile, Errno> {
        MappedFile::new(&self.0, size_bytes)
    }

    /// Gives the file its name, unless another file already has that name. Other processes see
    /// either the finished file or no file.
    pub(super) fn publish(&self, path: &Path) -> Result<(), Errno> {
        let unnamed = format!("/proc/self/fd/{}", self.0.as_raw_fd());
        rustix::fs::linkat(CWD, unnamed, CWD, path, AtFlags::SYMLINK_FOLLOW)
    }
}

/// Private memory of this process in which the content of a file is made. A full file system does
/// not affect this memory, and it shows which parts have been written.
pub(super) struct Draft {
    file: OwnedFd,
    mapping: MappedFile,
}

impl Draft {
    pub(super) fn new(size_bytes: usize) -> Result<Self, Errno> {
        let file = rustix::fs::memfd_create("feros-draft", MemfdFlags::CLOEXEC)?;
        rustix::fs::ftruncate(&file, size_bytes as u64)?;
        let mapping = MappedFile::new(&file, size_bytes)?;
        Ok(Self { file, mapping })
    }

    pub(super) fn mapping(&self) -> &MappedFile {
        &self.mapping
    }

    /// The first range of written pages at or after `start`.
    fn next_written(&self, start: u64) -> Result<Option<Range<u64>>, Errno> {
        let seek = |to| rustix::fs::seek(&self.file, to);
        match seek(SeekFrom::Data(start)) {
            Ok(start) => Ok(Some(start..seek(SeekFrom::Hole(start))?)),
            Err(Errno::NXIO) => Ok(None), // no more written pages
            Err(error) => Err(error),
        }
    }
}

//! Maps shared memory as a [`Layout`]. This file contains all unsafe code of the process segment.

#![allow(unsafe_code)]

use std::os::fd::BorrowedFd;

use rustix::io::Errno;

use super::layout::{Layout, SEGMENT_BYTES};
use crate::mapped_file::MappedFile;
use crate::page::SMALLEST_PAGE_BYTES;

/// A mapped segment. Dropping this value unmaps it.
#[derive(Debug)]
pub(crate) struct Mapping(MappedFile);

impl Mapping {
    /// Maps a file of at least [`SEGMENT_BYTES`]. The file must be sealed against shrinking;
    /// otherwise a later access could raise SIGBUS.
    pub(crate) fn new(file: BorrowedFd<'_>) -> Result<Self, Errno> {
        MappedFile::new(file, SEGMENT_BYTES).map(Self)
    }

    pub(crate) fn layout(&self) -> &Layout {
        const { assert!(align_of::<Layout>() <= SMALLEST_PAGE_BYTES) };
        // SAFETY: the memory is mapped while `self` exists. It is large enough, and aligned because
        // it begins at a page. `Layout` consists of atomics: any content is valid for them, and a
        // concurrent change by another process is not a data race.
        unsafe { self.0.start().cast().as_ref() }
    }
}

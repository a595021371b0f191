//! The trace file of a process. It consists of a head and of the blocks that each
//! [`write`](fn@crate::write) adds.
//!
//! ```text
//! head      FEROSTRC, version u32, process u32, CLOCK_MONOTONIC u64, nanoseconds since 1970 u64, boot id, program
//! block     kind u8, length of the content u32, FNV-1a of the content u32, content
//!   1 names    count, each: number, kind u8, gid 16 bytes, topic
//!   2 thread   number, name, events overwritten, count of gids, gids, count of events, each: time since the event before,
//!              point u8, path u8, endpoint, index of the publisher's gid, stamp and number less those of the event before
//!   3 end      threads refused: all that was recorded until then is in the file
//! ```
//!
//! Numbers of fixed size are little-endian. All other numbers are LEB128, with zigzag for signed
//! numbers. The length of a string precedes the string. If the name of an endpoint is known, it is
//! in the file before the first block with events of that endpoint. If a process is killed, its
//! file contains the head and the blocks that were written until then. The last block is then
//! incomplete, or is not an `end` block.
//!
//! The file of a program that writes while it runs has a limited size. When the file reaches half
//! of the limit, `4711.ferostrace` is renamed to `4711.before.ferostrace`, which replaces an
//! earlier file with that name, and a new file is started. The renamed file keeps its inode, so a
//! reader that follows the file can find it again.

mod encode;

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::clock::{boot_id, now_nanos};
use crate::endpoint::endpoints_of;
use crate::event::{Event, ThreadEvents};
use encode::Encoder;
use format::{END, MAGIC, NAMES, THREAD};

/// The version of the file format.
pub const FORMAT: u32 = 1;
/// The extension of the file names.
pub const FILE_EXTENSION: &str = "ferostrace";

/// The constants for programs that read the files. The documentation of the module `file` describes
/// the format.
pub mod format {
    /// The first bytes of a file.
    pub const MAGIC: &[u8; 8] = b"FEROSTRC";
    /// The kind of a block with the names of endpoints.
    pub const NAMES: u8 = 1;
    /// The kind of a block with the events of a thread.
    pub const THREAD: u8 = 2;
    /// The kind of the block that marks the file as complete.
    pub const END: u8 = 3;

    /// The largest size of a block's content, in bytes.
    pub const LARGEST_BLOCK: usize = 1 << 20;

    /// The FNV-1a checksum. It detects data that a disk has damaged, and incomplete copies.
    pub fn checksum(bytes: &[u8]) -> u32 {
        bytes
            .iter()
            .fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
    }
}

/// The reason why a trace was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The folder cannot be created.
    #[error("the folder {folder} for traces cannot be created: {source}", folder = folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file cannot be created or written.
    #[error("the trace {file} cannot be written: {source}", file = file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
}

/// The trace file of this process.
pub(crate) struct TraceFile {
    path: PathBuf,
    file: File,
    /// The size of the file's content.
    bytes: u64,
    /// The size in bytes at which a new file is started.
    most_bytes: Option<u64>,
    /// The endpoints whose names are in the file.
    named: BTreeSet<u32>,
}

/// The limit on the second number in a file name. A file name needs this number if an earlier
/// process had the same process id.
const MOST_NAMESAKES: u32 = 10_000;
/// The largest number of events in a block. Even with the names of their endpoints, they take far
/// fewer bytes than [`LARGEST_BLOCK`](format::LARGEST_BLOCK).
const EVENTS_OF_BLOCK: usize = 1024;
/// The limit on the bytes that are passed to the system in one call.
const BYTES_AT_ONCE: usize = 1 << 20;

impl TraceFile {
    pub(crate) fn create(folder: &Path) -> Result<Self, WriteError> {
        make_folder(folder)?;
        let (path, file) = create_new(folder)?;
        let (bytes, named) = (0, BTreeSet::new());
        let mut created = Self { path, file, bytes, most_bytes: None, named };
        created.write(&head())?;
        Ok(created)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Limits this file and the previous file to this many bytes in total.
    pub(crate) fn bound(&mut self, bytes: u64) {
        self.most_bytes = Some(bytes / 2);
    }

    /// Writes events. After an error, the file still consists of whole blocks.
    pub(crate) fn append(&mut self, threads: &[ThreadEvents]) -> Result<(), WriteError> {
        self.append_then(threads, None)
    }

    /// Writes events, and marks the file as complete. Unless the file is full, the last events and
    /// the mark go to the system in one call, so that a process that ends meanwhile leaves both or
    /// neither.
    pub(crate) fn complete(
        &mut self,
        threads: &[ThreadEvents],
        refused_threads: u64,
    ) -> Result<(), WriteError> {
        let mut end = Encoder::default();
        end.block(END, |content| content.number(refused_threads));
        self.append_then(threads, Some(end.into_bytes()))
    }

    fn append_then(
        &mut self,
        threads: &[ThreadEvents],
        last: Option<Vec<u8>>,
    ) -> Result<(), WriteError> {
        let written = self.append_blocks(threads, last);
        if written.is_err() {
            self.named.clear(); // some names may be in a block that was not written
        }
        written
    }

    fn append_blocks(
        &mut self,
        threads: &[ThreadEvents],
        last: Option<Vec<u8>>,
    ) -> Result<(), WriteError> {
        // If the file no longer exists, for example because a user emptied the folder, a new one is
        // needed.
        if self.most_bytes.is_some() && !threads.is_empty() && self.is_removed() {
            self.begin_anew()?;
        }
        let mut waiting = Vec::new();
        for thread in threads {
            let parts = thread.events.len().div_ceil(EVENTS_OF_BLOCK).max(1);
            for part in 0..parts {
                let begin = part * EVENTS_OF_BLOCK;
                let end = thread.events.len().min(begin + EVENTS_OF_BLOCK);
                let events = &thread.events[begin..end];
                let overwritten = if part == 0 { thread.overwritten } else { 0 };
                let mut blocks = self.blocks(thread, events, overwritten);
                if self.is_full(waiting.len() + blocks.len()) {
                    self.write(&waiting)?;
                    waiting.clear();
                    self.begin_anew()?;
                    blocks = self.blocks(thread, events, overwritten);
                }
                waiting.append(&mut blocks);
                if waiting.len() >= BYTES_AT_ONCE {
                    self.write(&waiting)?;
                    waiting.clear();
                }
            }
        }
        if let Some(mut last) = last {
            if self.is_full(waiting.len() + last.len()) {
                self.write(&waiting)?;
                waiting.clear();
                self.begin_anew()?;
            }
            waiting.append(&mut last);
        }
        self.write(&waiting)
    }

    /// The blocks for the events of a thread. If the file does not contain the names of all
    /// endpoints in these events, the first block contains the missing names.
    fn blocks(&mut self, thread: &ThreadEvents, events: &[Event], overwritten: u64) -> Vec<u8> {
        let concerned: BTreeSet<u32> = events.iter().map(|event| event.endpoint).collect();
        let names = endpoints_of(&concerned.difference(&self.named).copied().collect());
        self.named.extend(names.iter().map(|name| name.number));
        let mut blocks = Encoder::default();
        if !names.is_empty() {
            blocks.block(NAMES, |content| content.names(&names));
        }
        blocks.block(THREAD, |content| content.thread(thread, events, overwritten));
        blocks.into_bytes()
    }

    fn is_full(&self, more: usize) -> bool {
        self.most_bytes.is_some_and(|most| self.bytes + more as u64 > most)
    }

    fn is_removed(&self) -> bool {
        self.file.metadata().is_ok_and(|metadata| metadata.nlink() == 0)
    }

    /// Renames the present file, and starts a new file.
    fn begin_anew(&mut self) -> Result<(), WriteError> {
        let (path, folder) = (self.path.clone(), self.path.parent().unwrap_or(Path::new(".")));
        make_folder(folder)?;
        let at_file = |source| WriteError::File { file: path.clone(), source };
        let before = path.with_extension(format!("before.{FILE_EXTENSION}"));
        match std::fs::rename(&path, before) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(at_file(error)),
            _ => {}
        }
        self.file = new_file(&path).map_err(at_file)?;
        self.bytes = 0;
        self.named.clear();
        self.write(&head())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        let written = self.file.write_all(bytes);
        if written.is_ok() {
            self.bytes += bytes.len() as u64;
        } else {
            // An incomplete block would make all following blocks unreadable. If truncating also
            // fails, readers report where the file is damaged.
            let _ = self.file.set_len(self.bytes);
        }
        written.map_err(|source| WriteError::File { file: self.path.clone(), source })
    }
}

fn make_folder(folder: &Path) -> Result<(), WriteError> {
    let at_folder = |source| WriteError::Folder { folder: folder.to_owned(), source };
    std::fs::create_dir_all(folder).map_err(at_folder)
}

fn new_file(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create_new(true).open(path)
}

fn create_new(folder: &Path) -> Result<(PathBuf, File), WriteError> {
    let process = std::process::id();
    for namesake in 1.. {
        let name = match namesake {
            1 => format!("{process}.{FILE_EXTENSION}"),
            _ => format!("{process}-{namesake}.{FILE_EXTENSION}"),
        };
        let path = folder.join(name);
        match new_file(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists && namesake < MOST_NAMESAKES => {}
            Err(source) => return Err(WriteError::File { file: path, source }),
        }
    }
    unreachable!("the last name returns")
}

fn head() -> Vec<u8> {
    let mut head = Encoder::default();
    head.raw(MAGIC);
    head.raw(&FORMAT.to_le_bytes());
    head.raw(&std::process::id().to_le_bytes());
    head.raw(&now_nanos().to_le_bytes());
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    head.raw(&u64::try_from(since_epoch.as_nanos()).unwrap_or(u64::MAX).to_le_bytes());
    head.text(&boot_id().unwrap_or_default());
    let program = std::env::args_os().next().map(PathBuf::from);
    let program = program.as_deref().and_then(Path::file_name).unwrap_or_default();
    head.text(&program.to_string_lossy());
    head.into_bytes()
}

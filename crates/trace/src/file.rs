//! A process's file: a head, then a few blocks with each [`write`](fn@crate::write).
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
//! Numbers of fixed size are little endian, all others are LEB128, signed ones zigzag; texts have
//! their length before them. A process that was killed leaves the head and what it had written: the
//! last block is not `end`, or only begun.

mod encode;

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::clock::now_nanos;
use crate::endpoint::EndpointName;
use crate::event::ThreadEvents;
use encode::Encoder;
use format::{END, MAGIC, NAMES, THREAD};

/// The version of the files.
pub const FORMAT: u32 = 1;
/// What their names end with.
pub const FILE_EXTENSION: &str = "ferostrace";

/// What a reader of the files has to know; the page of the module `file` says how they are made up.
pub mod format {
    /// What they begin with.
    pub const MAGIC: &[u8; 8] = b"FEROSTRC";
    /// The kind of a block with the names of endpoints.
    pub const NAMES: u8 = 1;
    /// The kind of a block with events of a thread.
    pub const THREAD: u8 = 2;
    /// The kind of the block that says that all was written.
    pub const END: u8 = 3;

    /// FNV-1a: finds what a disk or a careless copy has damaged.
    pub fn checksum(bytes: &[u8]) -> u32 {
        bytes
            .iter()
            .fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
    }
}

/// Why a trace was not written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The folder cannot be made.
    #[error("the folder {folder} for traces cannot be made: {source}", folder = folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// The file cannot be made or written.
    #[error("the trace {file} cannot be written: {source}", file = file.display())]
    File {
        /// The file.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
}

/// The file of this process.
pub(crate) struct TraceFile {
    path: PathBuf,
    file: File,
}

/// A process that ended may have had the same number: then this one's file has a number besides.
const MOST_NAMESAKES: u32 = 10_000;

impl TraceFile {
    pub(crate) fn create(folder: &Path) -> Result<Self, WriteError> {
        let at_folder = |source| WriteError::Folder { folder: folder.to_owned(), source };
        std::fs::create_dir_all(folder).map_err(at_folder)?;
        let (path, file) = create_new(folder)?;
        let mut created = Self { path, file };
        created.write(&head())?;
        Ok(created)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn append(
        &mut self,
        names: &[EndpointName],
        threads: &[ThreadEvents],
        refused_threads: u64,
    ) -> Result<(), WriteError> {
        let mut blocks = Encoder::default();
        blocks.block(NAMES, |content| content.names(names));
        for thread in threads {
            blocks.block(THREAD, |content| content.thread(thread));
        }
        blocks.block(END, |content| content.number(refused_threads));
        self.write(blocks.bytes())
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        let path = &self.path;
        self.file.write_all(bytes).map_err(|source| WriteError::File { file: path.clone(), source })
    }
}

fn create_new(folder: &Path) -> Result<(PathBuf, File), WriteError> {
    let process = std::process::id();
    for namesake in 1.. {
        let name = match namesake {
            1 => format!("{process}.{FILE_EXTENSION}"),
            _ => format!("{process}-{namesake}.{FILE_EXTENSION}"),
        };
        let path = folder.join(name);
        match OpenOptions::new().append(true).create_new(true).open(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error)
                if error.kind() == std::io::ErrorKind::AlreadyExists
                    && namesake < MOST_NAMESAKES => {}
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
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    head.text(boot.trim());
    let program = std::env::args_os().next().map(PathBuf::from);
    let program = program.as_deref().and_then(Path::file_name).unwrap_or_default();
    head.text(&program.to_string_lossy());
    head.bytes().to_vec()
}

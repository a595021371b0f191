//! One growing file. It may be incomplete at its end, may have been replaced by a new file, or may
//! not be a trace at all.

use std::collections::HashMap;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use feros_trace::format::{LARGEST_BLOCK, MAGIC, THREAD};
use feros_trace::{EndpointName, Event};

use crate::blocks::{Bad, Block, BlockHead, Input};
use crate::read::{Process, ReadError};

/// The longest possible head.
const LONGEST_HEAD: u64 = 1024;
/// The limit on blocks per reading, including skipped blocks.
const MOST_BLOCKS: usize = 20_000;
/// The limit on memory for the names of a file's endpoints, in bytes.
const MOST_NAME_BYTES: usize = 512 << 10;
/// The memory that a name takes besides its topic, in bytes.
const NAME_BYTES: usize = 96;

/// A file that a program may be writing to.
#[derive(Debug)]
pub struct GrowingFile {
    path: PathBuf,
    boot: String,
    /// The first bytes of the file. If they have changed, it is a new file.
    head: Vec<u8>,
    /// The position up to which the file has been read.
    read: u64,
    endpoints: HashMap<u32, Arc<EndpointName>>,
    name_bytes: usize,
}

impl GrowingFile {
    /// A file that has not been read yet. `boot` is the boot id that the file must have, since
    /// clocks of different boots cannot be compared; the path is for error messages.
    pub fn new(path: &Path, boot: &str) -> Self {
        Self {
            path: path.to_owned(),
            boot: boot.to_owned(),
            head: Vec::new(),
            read: 0,
            endpoints: HashMap::new(),
            name_bytes: 0,
        }
    }

    /// Passes the events since the last call, with their endpoints, to `tell`; events of unknown
    /// endpoints are left out. The source has `bytes` bytes now, of which at most `budget` are
    /// read; the first call reads the last ones.
    ///
    /// # Errors
    /// If the file cannot be read, has another version, comes from another boot of the host, or is
    /// damaged. An incomplete last block is not an error.
    pub fn read(
        &mut self,
        source: &mut (impl Read + Seek),
        bytes: u64,
        budget: u64,
        mut tell: impl FnMut(Event, &Arc<EndpointName>),
    ) -> Result<(), ReadError> {
        let path = self.path.clone();
        let io = |source| ReadError::Io { file: path.clone(), source };
        if !self.is_same(source, bytes).map_err(io)? {
            *self = Self::new(&self.path, &self.boot);
            if !self.begin(source, bytes)? {
                return Ok(());
            }
        }
        let mut left = budget;
        for _ in 0..MOST_BLOCKS {
            source.seek(SeekFrom::Start(self.read)).map_err(io)?;
            let Some(head) =
                take(source, BlockHead::SIZE as u64).map_err(io)?.first_chunk().copied()
            else {
                break;
            };
            let head = BlockHead::new(head);
            let length = u64::from(head.length);
            if length > LARGEST_BLOCK as u64 {
                return Err(self.damaged(Bad { at: self.at(), what: "a block is too large" }));
            }
            let end = self.read + BlockHead::SIZE as u64 + length;
            if end > bytes {
                break; // the block is still being written
            }
            let is_old = bytes - self.read > budget;
            if !(head.kind == THREAD && is_old) {
                if length > left && left < budget {
                    break; // read by the next call
                }
                left = left.saturating_sub(length);
                let content = take(source, length).map_err(io)?;
                let block = head.read(&content, self.at()).map_err(|bad| self.damaged(bad))?;
                self.pass_on(block, &mut tell);
            }
            self.read = end;
        }
        Ok(())
    }

    /// The position up to which the file has been read: its end, or the beginning of a block that
    /// is still being written or is left for the next call.
    pub fn read_bytes(&self) -> u64 {
        self.read
    }

    /// Whether the file begins with the same bytes as before, and is not shorter than the part
    /// already read.
    fn is_same(&self, source: &mut (impl Read + Seek), bytes: u64) -> std::io::Result<bool> {
        if self.head.is_empty() || bytes < self.read {
            return Ok(false);
        }
        source.seek(SeekFrom::Start(0))?;
        Ok(take(source, self.head.len() as u64)? == self.head)
    }

    /// Reads the head; returns whether it is complete.
    fn begin(&mut self, source: &mut (impl Read + Seek), bytes: u64) -> Result<bool, ReadError> {
        let io = |source| ReadError::Io { file: self.path.clone(), source };
        source.seek(SeekFrom::Start(0)).map_err(io)?;
        let first = take(source, LONGEST_HEAD.min(bytes)).map_err(io)?;
        let mut input = Input::new(&first);
        match Process::head(&self.path, &mut input) {
            Ok(process) if process.boot != self.boot => {
                Err(ReadError::OtherClock { file: self.path.clone() })
            }
            Ok(_) => {
                self.head = first[..input.at()].to_vec();
                self.read = self.head.len() as u64;
                Ok(true)
            }
            // The head is still being written.
            Err(ReadError::NotATrace { .. }) if MAGIC.starts_with(&first) => Ok(false),
            Err(ReadError::Damaged { .. }) if bytes < LONGEST_HEAD => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn pass_on(&mut self, block: Block, tell: &mut impl FnMut(Event, &Arc<EndpointName>)) {
        match block {
            Block::Names(names) => {
                for name in names {
                    self.name_bytes += NAME_BYTES + name.topic.len();
                    if self.name_bytes <= MOST_NAME_BYTES {
                        self.endpoints.insert(name.number, Arc::new(name));
                    }
                }
            }
            Block::Thread(thread) => {
                for event in thread.events {
                    if let Some(endpoint) = self.endpoints.get(&event.endpoint) {
                        tell(event, endpoint);
                    }
                }
            }
            Block::End { .. } => {}
        }
    }

    fn at(&self) -> usize {
        usize::try_from(self.read).unwrap_or(usize::MAX)
    }

    fn damaged(&self, Bad { at, what }: Bad) -> ReadError {
        ReadError::Damaged { file: self.path.clone(), at, what }
    }
}

/// Reads this many bytes, or fewer at the end of the file.
fn take(source: &mut impl Read, count: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(count).read_to_end(&mut bytes)?;
    Ok(bytes)
}

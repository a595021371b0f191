//! Reads the whole file of a process.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use feros_trace::format::MAGIC;
use feros_trace::{EndpointName, FORMAT, ThreadEvents};

use crate::blocks::{Bad, Block, Input};

/// The largest file that is read as a whole: a hundred times the default limit for a process.
const MOST_BYTES: u64 = 8 << 30;

/// The records of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// The process's file.
    pub file: PathBuf,
    /// The process's number.
    pub process: u32,
    /// The name of its executable.
    pub program: String,
    /// The boot id of the host when the process ran: clocks of different boots cannot be compared.
    pub boot: String,
    /// The time when the file was made, on CLOCK_MONOTONIC.
    pub began_nanos: u64,
    /// The time when the file was made, in nanoseconds since 1970.
    pub began_unix_nanos: u64,
    /// The process's endpoints and the endpoints that they match, by their numbers in events.
    pub endpoints: HashMap<u32, EndpointName>,
    /// The process's threads.
    pub threads: Vec<ThreadEvents>,
    /// The number of threads that were not traced because there were too many.
    pub refused_threads: u64,
    /// Whether the process has written all its events: false if the process was killed, or ended
    /// without ending its context.
    pub is_complete: bool,
}

/// The reason why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system cannot read the file.
    #[error("{file} cannot be read: {source}", file = file.display())]
    Io {
        /// The file or folder.
        file: PathBuf,
        /// The system's error.
        source: std::io::Error,
    },
    /// The file is not a trace.
    #[error("{file} is not a trace of Feros: it does not begin with FEROSTRC", file = file.display())]
    NotATrace {
        /// The file.
        file: PathBuf,
    },
    /// Another version of Feros wrote it.
    #[error("{file} has version {found} of the format, but this program reads version {FORMAT}: use the `feros` of the \
             version that wrote it, or trace again", file = file.display())]
    Version {
        /// The file.
        file: PathBuf,
        /// Its version.
        found: u32,
    },
    /// The file's bytes are not those of a trace.
    #[error("{file} is damaged at byte {at}: {what}; trace again, or take it out of the folder", file = file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// The position of the damage.
        at: usize,
        /// The kind of damage.
        what: &'static str,
    },
    /// The file's times cannot be compared with the present time.
    #[error("{file} comes from another host, or from this host before its last start: take it out \
             of the folder", file = file.display())]
    OtherClock {
        /// The file.
        file: PathBuf,
    },
}

impl Process {
    /// Reads a process's file.
    ///
    /// # Errors
    /// If the file cannot be read or has another version; see [`ReadError`]. The file of a killed
    /// process is not an error.
    pub fn read(file: &Path) -> Result<Self, ReadError> {
        let bytes = feros_files::read(file, MOST_BYTES)
            .map_err(|source| ReadError::Io { file: file.to_owned(), source })?;
        Self::parse(file, &bytes)
    }

    /// Reads a process's file from its bytes, like [`read`](Self::read).
    ///
    /// # Errors
    /// If the bytes are not a file of this version.
    pub fn parse(file: &Path, bytes: &[u8]) -> Result<Self, ReadError> {
        let mut input = Input::new(bytes);
        let mut process = Self::head(file, &mut input)?;
        let damaged = |Bad { at, what }| ReadError::Damaged { file: file.to_owned(), at, what };
        process.blocks(&mut input).map_err(damaged)?;
        Ok(process)
    }

    /// The head of a file.
    pub(crate) fn head(file: &Path, input: &mut Input<'_>) -> Result<Self, ReadError> {
        let owned = || file.to_owned();
        if !input.take(MAGIC.len()).is_ok_and(|magic| magic == MAGIC) {
            return Err(ReadError::NotATrace { file: owned() });
        }
        let damaged = |Bad { at, what }| ReadError::Damaged { file: owned(), at, what };
        let found = u32::from_le_bytes(input.array().map_err(damaged)?);
        if found != FORMAT {
            return Err(ReadError::Version { file: owned(), found });
        }
        Self::facts(file, input).map_err(damaged)
    }

    fn facts(file: &Path, input: &mut Input<'_>) -> Result<Self, Bad> {
        Ok(Self {
            file: file.to_owned(),
            process: u32::from_le_bytes(input.array()?),
            began_nanos: u64::from_le_bytes(input.array()?),
            began_unix_nanos: u64::from_le_bytes(input.array()?),
            boot: input.text()?,
            program: input.text()?,
            endpoints: HashMap::new(),
            threads: Vec::new(),
            refused_threads: 0,
            is_complete: false,
        })
    }

    fn blocks(&mut self, input: &mut Input<'_>) -> Result<(), Bad> {
        while !input.is_empty() {
            self.is_complete = false;
            let Some(block) = input.block() else {
                return Ok(()); // the process was killed while it wrote
            };
            match block? {
                Block::Names(names) => {
                    self.endpoints.extend(names.into_iter().map(|name| (name.number, name)));
                }
                Block::Thread(thread) => self.add(thread),
                Block::End { refused_threads } => {
                    self.refused_threads = refused_threads;
                    self.is_complete = true;
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, more: ThreadEvents) {
        let is_it =
            |known: &&mut ThreadEvents| known.thread == more.thread && known.name == more.name;
        match self.threads.iter_mut().find(is_it) {
            Some(known) => {
                known.overwritten = known.overwritten.saturating_add(more.overwritten);
                known.events.extend(more.events);
            }
            None => self.threads.push(more),
        }
    }
}

//! Reading a process's file at once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use feros_trace::format::MAGIC;
use feros_trace::{EndpointName, FORMAT, ThreadEvents};

use crate::blocks::{Bad, Block, Input};

/// The longest file that is read at once: a hundred times what a process keeps by itself.
const MOST_BYTES: u64 = 8 << 30;

/// What one process has recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its file.
    pub file: PathBuf,
    /// Its number.
    pub process: u32,
    /// The name of its executable.
    pub program: String,
    /// Which start of the host it belongs to: clocks of others cannot be compared.
    pub boot: String,
    /// When the file was made, CLOCK_MONOTONIC.
    pub began_nanos: u64,
    /// The same moment in nanoseconds since 1970.
    pub began_unix_nanos: u64,
    /// Its endpoints, and other sides of their matches, by their numbers in events.
    pub endpoints: HashMap<u32, EndpointName>,
    /// Its threads.
    pub threads: Vec<ThreadEvents>,
    /// Threads that were not traced because there were too many.
    pub refused_threads: u64,
    /// Whether it has written all that it recorded: not if it was killed, or ended without ending
    /// its context.
    pub is_complete: bool,
}

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The system does not give it.
    #[error("{file} cannot be read: {source}", file = file.display())]
    Io {
        /// The file or folder.
        file: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// It is something else.
    #[error("{file} is no trace of Feros: it does not begin with FEROSTRC", file = file.display())]
    NotATrace {
        /// The file.
        file: PathBuf,
    },
    /// Another version of Feros wrote it.
    #[error("{file} has version {found} of the format, this program reads version {FORMAT}: use the `feros` of the version \
             that wrote it, or trace again", file = file.display())]
    Version {
        /// The file.
        file: PathBuf,
        /// Its version.
        found: u32,
    },
    /// Its bytes are not what a process writes.
    #[error("{file} is damaged at byte {at}: {what}; trace again, or take it out of the folder", file = file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Where.
        at: usize,
        /// What is wrong.
        what: &'static str,
    },
    /// Its times cannot be compared with those of now.
    #[error("{file} is of another host, or of this one before its last start: take it out of the folder", file = file.display())]
    OtherClock {
        /// The file.
        file: PathBuf,
    },
}

impl Process {
    /// Reads a process's file.
    ///
    /// # Errors
    /// When it cannot be read, or is no file of this version; see [`ReadError`]. That a process was
    /// killed is none.
    pub fn read(file: &Path) -> Result<Self, ReadError> {
        let bytes = feros_files::read(file, MOST_BYTES)
            .map_err(|source| ReadError::Io { file: file.to_owned(), source })?;
        Self::parse(file, &bytes)
    }

    /// As [`read`](Self::read), of a file's bytes.
    ///
    /// # Errors
    /// When they are no file of this version.
    pub fn parse(file: &Path, bytes: &[u8]) -> Result<Self, ReadError> {
        let mut input = Input::new(bytes);
        let mut process = Self::head(file, &mut input)?;
        let damaged = |Bad { at, what }| ReadError::Damaged { file: file.to_owned(), at, what };
        process.blocks(&mut input).map_err(damaged)?;
        Ok(process)
    }

    /// What a file begins with.
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
                return Ok(()); // it was killed while it wrote
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

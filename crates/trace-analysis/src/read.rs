//! Reading a process's file. It may come from anybody: every length is checked before anything is
//! allocated for it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use feros_trace::format::{END, MAGIC, NAMES, THREAD, checksum};
use feros_trace::{EndpointName, Event, FORMAT, Kind, MessageId, Point, ThreadEvents, Transport};

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
}

impl Process {
    /// Reads a process's file.
    ///
    /// # Errors
    /// When it cannot be read, or is no file of this version; see [`ReadError`]. That a process was
    /// killed is none.
    pub fn read(file: &Path) -> Result<Self, ReadError> {
        let bytes = std::fs::read(file)
            .map_err(|source| ReadError::Io { file: file.to_owned(), source })?;
        Self::parse(file, &bytes)
    }

    /// As [`read`](Self::read), of a file's bytes.
    ///
    /// # Errors
    /// When they are no file of this version.
    pub fn parse(file: &Path, bytes: &[u8]) -> Result<Self, ReadError> {
        let owned = || file.to_owned();
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            return Err(ReadError::NotATrace { file: owned() });
        };
        let mut input = Input { rest, all: bytes.len() };
        let damaged = |Bad { at, what }| ReadError::Damaged { file: owned(), at, what };
        let found = u32::from_le_bytes(input.array().map_err(damaged)?);
        if found != FORMAT {
            return Err(ReadError::Version { file: owned(), found });
        }
        let mut process = Self::head(file, &mut input).map_err(damaged)?;
        process.blocks(&mut input).map_err(damaged)?;
        Ok(process)
    }

    fn head(file: &Path, input: &mut Input<'_>) -> Result<Self, Bad> {
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
        while !input.rest.is_empty() {
            self.is_complete = false;
            let Some((kind, sum, mut content)) = input.block() else {
                return Ok(()); // it was killed while it wrote
            };
            if checksum(content.rest) != sum {
                return Err(content.bad("the checksum is another one"));
            }
            match kind {
                NAMES => self.names(&mut content)?,
                THREAD => self.thread(&mut content)?,
                END => {
                    self.refused_threads = content.number()?;
                    self.is_complete = true;
                }
                _ => return Err(content.bad("there is no such kind of block")),
            }
            if !content.rest.is_empty() {
                return Err(content.bad("the block is longer than what it holds"));
            }
        }
        Ok(())
    }

    fn names(&mut self, input: &mut Input<'_>) -> Result<(), Bad> {
        for _ in 0..input.number()? {
            let number = input.small()?;
            let kind = match input.byte()? {
                kind if kind == Kind::Publisher as u8 => Kind::Publisher,
                kind if kind == Kind::Subscription as u8 => Kind::Subscription,
                _ => return Err(input.bad("there is no such kind of endpoint")),
            };
            let name = EndpointName { number, kind, gid: input.array()?, topic: input.text()? };
            self.endpoints.insert(number, name);
        }
        Ok(())
    }

    fn thread(&mut self, input: &mut Input<'_>) -> Result<(), Bad> {
        let (thread, name, overwritten) = (input.number()?, input.text()?, input.number()?);
        let mut gids = Vec::new();
        for _ in 0..input.number()? {
            gids.push(input.array::<16>()?);
        }
        let known =
            self.threads.iter().position(|known| known.thread == thread && known.name == name);
        let index = known.unwrap_or_else(|| {
            self.threads.push(ThreadEvents { thread, name, events: Vec::new(), overwritten: 0 });
            self.threads.len() - 1
        });
        let thread = &mut self.threads[index];
        thread.overwritten = thread.overwritten.saturating_add(overwritten);
        let (mut at_nanos, mut stamp, mut number) = (0_u64, 0_i64, 0_u64);
        for _ in 0..input.number()? {
            at_nanos = at_nanos.wrapping_add(input.signed()? as u64);
            let point = Point::from_number(input.byte()?)
                .ok_or_else(|| input.bad("there is no such point"))?;
            let transport = match input.byte()? {
                0 => None,
                transport => Some(
                    Transport::from_number(transport)
                        .ok_or_else(|| input.bad("there is no such transport"))?,
                ),
            };
            let endpoint = input.small()?;
            let gid = usize::try_from(input.number()?).ok().and_then(|index| gids.get(index));
            let publisher = *gid.ok_or_else(|| input.bad("there is no such gid"))?;
            stamp = stamp.wrapping_add(input.signed()?);
            number = number.wrapping_add(input.signed()? as u64);
            let message = MessageId { publisher, stamp, number };
            thread.events.push(Event { at_nanos, point, transport, message, endpoint });
        }
        Ok(())
    }
}

/// Where something is wrong.
struct Bad {
    at: usize,
    what: &'static str,
}

/// The rest of a file, or of a block.
struct Input<'a> {
    rest: &'a [u8],
    /// Where the rest ends, counted from the file's beginning.
    all: usize,
}

impl<'a> Input<'a> {
    fn bad(&self, what: &'static str) -> Bad {
        Bad { at: self.all - self.rest.len(), what }
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Bad> {
        let (taken, rest) =
            self.rest.split_at_checked(count).ok_or_else(|| self.bad("it ends there"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Bad> {
        let bytes = self.take(N)?;
        Ok(std::array::from_fn(|at| bytes[at]))
    }

    fn byte(&mut self) -> Result<u8, Bad> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn number(&mut self) -> Result<u64, Bad> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if part << shift >> shift != part {
                return Err(self.bad("a number has more than 64 bits"));
            }
            number |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(self.bad("a number has more than 64 bits"))
    }

    fn small(&mut self) -> Result<u32, Bad> {
        let number = self.number()?;
        u32::try_from(number).map_err(|_| self.bad("a number has more than 32 bits"))
    }

    fn signed(&mut self) -> Result<i64, Bad> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn text(&mut self) -> Result<String, Bad> {
        let length = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        let bytes = self.take(length)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| self.bad("a text is not UTF-8"))
    }

    /// Kind, checksum and content of the next block; `None` if the file ends within it.
    fn block(&mut self) -> Option<(u8, u32, Input<'a>)> {
        let kind = self.byte().ok()?;
        let length = usize::try_from(u32::from_le_bytes(self.array().ok()?)).ok()?;
        let sum = u32::from_le_bytes(self.array().ok()?);
        let rest = self.take(length).ok()?;
        Some((kind, sum, Input { rest, all: self.all - self.rest.len() }))
    }
}

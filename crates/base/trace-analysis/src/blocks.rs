//! Reads blocks from a file's bytes. The bytes are untrusted: every length is checked before memory
//! is allocated for it.

use feros_trace::format::{END, NAMES, THREAD, checksum};
use feros_trace::{EndpointName, Event, Kind, MessageId, Point, ThreadEvents, Transport};

/// The position and kind of an error.
pub(crate) struct Bad {
    pub(crate) at: usize,
    pub(crate) what: &'static str,
}

/// The content of a block.
pub(crate) enum Block {
    Names(Vec<EndpointName>),
    Thread(ThreadEvents),
    End { refused_threads: u64 },
}

/// The rest of a file, or of a block.
pub(crate) struct Input<'a> {
    rest: &'a [u8],
    /// The position of the end, counted from the file's beginning.
    all: usize,
}

impl<'a> Input<'a> {
    /// The bytes of a file.
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, all: bytes.len() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// The present position, counted from the file's beginning.
    pub(crate) fn at(&self) -> usize {
        self.all - self.rest.len()
    }

    fn bad(&self, what: &'static str) -> Bad {
        Bad { at: self.at(), what }
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], Bad> {
        let (taken, rest) =
            self.rest.split_at_checked(count).ok_or_else(|| self.bad("the file ends there"))?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Bad> {
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

    pub(crate) fn text(&mut self) -> Result<String, Bad> {
        let length = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        let bytes = self.take(length)?;
        String::from_utf8(bytes.to_vec()).map_err(|_| self.bad("a string is not UTF-8"))
    }

    /// The next block; `None` if the file ends before the block does.
    pub(crate) fn block(&mut self) -> Option<Result<Block, Bad>> {
        let (begin, input) = (self.at(), &mut *self);
        let head = BlockHead::new(input.array().ok()?);
        let content = input.take(usize::try_from(head.length).ok()?).ok()?;
        Some(head.read(content, begin))
    }

    fn names(&mut self) -> Result<Vec<EndpointName>, Bad> {
        let mut names = Vec::new();
        for _ in 0..self.number()? {
            let number = self.small()?;
            let kind = match self.byte()? {
                kind if kind == Kind::Publisher as u8 => Kind::Publisher,
                kind if kind == Kind::Subscription as u8 => Kind::Subscription,
                _ => return Err(self.bad("the kind of endpoint is unknown")),
            };
            names.push(EndpointName { number, kind, gid: self.array()?, topic: self.text()? });
        }
        Ok(names)
    }

    fn thread(&mut self) -> Result<ThreadEvents, Bad> {
        let (thread, name, overwritten) = (self.number()?, self.text()?, self.number()?);
        let mut gids = Vec::new();
        for _ in 0..self.number()? {
            gids.push(self.array::<16>()?);
        }
        let mut events = Vec::new();
        let (mut at_nanos, mut stamp, mut number) = (0_u64, 0_i64, 0_u64);
        for _ in 0..self.number()? {
            at_nanos = at_nanos.wrapping_add(self.signed()? as u64);
            let point = Point::from_number(self.byte()?)
                .ok_or_else(|| self.bad("the trace point is unknown"))?;
            let transport = match self.byte()? {
                0 => None,
                transport => Some(
                    Transport::from_number(transport)
                        .ok_or_else(|| self.bad("the transport is unknown"))?,
                ),
            };
            let endpoint = self.small()?;
            let gid = usize::try_from(self.number()?).ok().and_then(|index| gids.get(index));
            let publisher = *gid.ok_or_else(|| self.bad("the index of a gid is out of range"))?;
            stamp = stamp.wrapping_add(self.signed()?);
            number = number.wrapping_add(self.signed()? as u64);
            let message = MessageId { publisher, stamp, number };
            events.push(Event { at_nanos, point, transport, message, endpoint });
        }
        Ok(ThreadEvents { thread, name, events, overwritten })
    }
}

/// The number of bytes of a block before its content.
pub(crate) struct BlockHead {
    pub(crate) kind: u8,
    pub(crate) length: u32,
    sum: u32,
}

impl BlockHead {
    /// The size of the head.
    pub(crate) const SIZE: usize = 9;

    pub(crate) fn new(bytes: [u8; Self::SIZE]) -> Self {
        let [kind, length @ .., a, b, c, d] = bytes;
        Self { kind, length: u32::from_le_bytes(length), sum: u32::from_le_bytes([a, b, c, d]) }
    }

    /// Reads a block from its content, which begins at this byte of the file.
    pub(crate) fn read(&self, content: &[u8], begin: usize) -> Result<Block, Bad> {
        let mut input = Input { rest: content, all: begin + Self::SIZE + content.len() };
        if checksum(content) != self.sum {
            return Err(input.bad("the checksum differs"));
        }
        let block = match self.kind {
            NAMES => Block::Names(input.names()?),
            THREAD => Block::Thread(input.thread()?),
            END => Block::End { refused_threads: input.number()? },
            _ => return Err(input.bad("the kind of block is unknown")),
        };
        if !input.is_empty() {
            return Err(input.bad("the block is longer than its content"));
        }
        Ok(block)
    }
}

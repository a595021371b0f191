//! A chunk of a file: its head, and its records, unpacked and checked. The readers of `mcap` trust
//! the sizes that a chunk states (its linear reader overflows if they are wrong), so this module
//! reads chunks itself.

use std::collections::BTreeMap;
use std::io::{BufRead, Read};

use mcap::McapError;
use mcap::records::{ChunkIndex, MessageIndexEntry, op};

use super::form::RECORD_HEAD;
use crate::unpacking::{most_unpacked, too_far};

/// The longest name of a compression that is accepted.
const MAX_COMPRESSION_NAME: u32 = 64;
/// The size of the head's fixed part: two time stamps, a size, a checksum, and the length of the
/// compression's name.
const FIXED_HEAD: usize = 32;
/// The size of the shortest head: the fixed part and the length of the records.
pub(super) const SHORTEST: u64 = FIXED_HEAD as u64 + 8;

/// At most this many bytes are reserved before unpacking shows how many are needed.
const AT_ONCE_BYTES: usize = 4 << 20;

/// The head of a chunk.
pub(super) struct ChunkHead {
    /// The chunk as the index of a file describes it, without the positions of messages.
    pub(super) index: ChunkIndex,
    /// The CRC32 of the records; 0 if the chunk has no checksum.
    checksum: u32,
}

impl ChunkHead {
    /// Reads the head of the chunk that begins at `position` and has `length` bytes after its
    /// opcode and length. `file` must be positioned after these two, and is positioned after the
    /// head on return.
    pub(super) fn read(
        file: &mut impl Read,
        position: u64,
        length: u64,
    ) -> Result<Self, McapError> {
        let mut head = [0; FIXED_HEAD];
        if length < SHORTEST {
            return Err(McapError::UnexpectedEof);
        }
        file.read_exact(&mut head)?;
        let number = |at: usize| head[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
        let short = |at: usize| head[at..at + 4].try_into().map_or(0, u32::from_le_bytes);
        let name_length = short(28);
        if name_length > MAX_COMPRESSION_NAME || length < SHORTEST + u64::from(name_length) {
            return Err(McapError::BadChunkLength {
                header: name_length.into(),
                available: length,
            });
        }
        let mut name = vec![0; name_length as usize];
        file.read_exact(&mut name)?;
        let mut compressed_size = [0; 8];
        file.read_exact(&mut compressed_size)?;
        // Without this check, a record that reaches beyond its chunk would be read.
        let records = length - SHORTEST - u64::from(name_length);
        let compressed_size = u64::from_le_bytes(compressed_size);
        if compressed_size != records {
            return Err(McapError::BadChunkLength { header: compressed_size, available: records });
        }
        // Both sizes of uncompressed records are the same, whatever the head states.
        let uncompressed_size = if name.is_empty() { compressed_size } else { number(16) };
        let index = ChunkIndex {
            message_start_time: number(0),
            message_end_time: number(8),
            chunk_start_offset: position,
            chunk_length: RECORD_HEAD + length,
            message_index_offsets: BTreeMap::new(),
            message_index_length: 0,
            compression: String::from_utf8_lossy(&name).into_owned(),
            compressed_size,
            uncompressed_size,
        };
        Ok(Self { index, checksum: short(24) })
    }

    /// The position of the chunk's record.
    pub(super) fn position(&self) -> u64 {
        self.index.chunk_start_offset
    }

    /// The position of the packed records.
    pub(super) fn records_position(&self) -> u64 {
        self.position() + self.index.chunk_length - self.index.compressed_size
    }

    /// The size to which the records unpack. A few bytes can unpack to any number of bytes, so more
    /// than `limit` bytes, or too high a ratio, is an error.
    pub(super) fn unpacked_bytes(&self, limit: usize) -> Result<usize, McapError> {
        let size = self.index.uncompressed_size;
        let packed_bytes = self.index.compressed_size;
        if size > most_unpacked(packed_bytes, usize::MAX) as u64 {
            return Err(McapError::DecompressionError(too_far(packed_bytes, size)));
        }
        let size_bytes = usize::try_from(size).ok().filter(|size| *size <= limit);
        size_bytes.ok_or(McapError::ChunkTooLarge(size))
    }

    /// Reads and unpacks the records, at which `file` stands.
    pub(super) fn records(
        &self,
        file: &mut impl BufRead,
        limit: usize,
    ) -> Result<Vec<u8>, McapError> {
        let size_bytes = self.unpacked_bytes(limit)?;
        let size = self.index.uncompressed_size;
        let packed = file.take(self.index.compressed_size);
        let unpacker: Box<dyn Read> = match self.index.compression.as_str() {
            "" => Box::new(packed),
            "zstd" => Box::new(zstd::Decoder::with_buffer(packed)?),
            "lz4" => Box::new(lz4::Decoder::new(packed)?),
            other => return Err(McapError::UnsupportedCompression(other.to_owned())),
        };
        // The size that a chunk states may be wrong.
        let mut records = Vec::with_capacity(size_bytes.min(AT_ONCE_BYTES));
        unpacker.take(size + 1).read_to_end(&mut records).map_err(unpacking)?;
        if records.len() != size_bytes {
            let problem =
                format!("the chunk states {size} bytes, but does not unpack to this size");
            return Err(McapError::DecompressionError(problem));
        }
        if self.checksum != 0 {
            let calculated = crc32fast::hash(&records);
            if self.checksum != calculated {
                return Err(McapError::BadChunkCrc { saved: self.checksum, calculated });
            }
        }
        Ok(records)
    }
}

/// Distinguishes errors of the system from errors in the packed bytes, since unpackers return both
/// as one type.
fn unpacking(error: std::io::Error) -> McapError {
    match error.raw_os_error() {
        Some(_) => McapError::Io(error),
        None => McapError::DecompressionError(error.to_string()),
    }
}

/// The contents of a chunk's records.
pub(super) struct ChunkContents {
    /// The times and positions of messages, by channel.
    pub(super) entries: BTreeMap<u16, Vec<MessageIndexEntry>>,
    /// The schemas and channels, each as its opcode and body.
    pub(super) definitions: Vec<(u8, Vec<u8>)>,
}

impl ChunkContents {
    /// Collects the contents of unpacked records.
    pub(super) fn of(records: &[u8]) -> Result<Self, McapError> {
        let mut contents = Self { entries: BTreeMap::new(), definitions: Vec::new() };
        each_record(records, |offset, opcode, body| {
            if let Some((channel, log_time)) = message_of(opcode, body) {
                let entry = MessageIndexEntry { log_time, offset };
                contents.entries.entry(channel).or_default().push(entry);
            } else if let op::SCHEMA | op::CHANNEL = opcode {
                contents.definitions.push((opcode, body.to_vec()));
            }
        })?;
        Ok(contents)
    }

    /// The log time of the last message in unpacked records; `None` if there are no messages.
    pub(super) fn last_time(records: &[u8]) -> Result<Option<u64>, McapError> {
        let mut last = None;
        each_record(records, |_, opcode, body| {
            last = last.max(message_of(opcode, body).map(|(_, log_time)| log_time));
        })?;
        Ok(last)
    }
}

/// Calls `take` with the offset, opcode and body of each record.
fn each_record(records: &[u8], mut take: impl FnMut(u64, u8, &[u8])) -> Result<(), McapError> {
    let mut rest = records;
    while let [opcode, after @ ..] = rest {
        let offset = (records.len() - rest.len()) as u64;
        let (length, after) = after.split_first_chunk().ok_or(McapError::UnexpectedEoc)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok();
        let split = length.and_then(|length| after.split_at_checked(length));
        let (body, others) = split.ok_or(McapError::UnexpectedEoc)?;
        take(offset, *opcode, body);
        rest = others;
    }
    Ok(())
}

/// The channel and log time, if the record is a message.
fn message_of(opcode: u8, body: &[u8]) -> Option<(u16, u64)> {
    match (opcode, body) {
        (op::MESSAGE, [a, b, _, _, _, _, time @ ..]) if time.len() >= 16 => {
            let log_time = time[..8].try_into().map_or(0, u64::from_le_bytes);
            Some((u16::from_le_bytes([*a, *b]), log_time))
        }
        _ => None,
    }
}

//! Scans an MCAP file without an index from its start to the end of its intact part. Killed
//! recorders and full disks leave such files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek};

use mcap::records::{MessageIndexEntry, MetadataIndex, Record, Statistics, op};
use mcap::{MAGIC, McapError, Summary};

use super::chunk::{ChunkContents, ChunkHead};
use super::definitions::Definitions;
use super::{METADATA_KEY, METADATA_NAME, RECORD_HEAD};
use crate::error::ReadError;
use crate::interrupt::Interrupt;
use crate::unpacking::Source;

/// The content of an MCAP file.
pub(super) struct Scan {
    /// The summary that would stand at the end of the file.
    pub(super) summary: Summary,
    /// The profile from the header.
    pub(super) profile: String,
    /// The end of the intact part.
    pub(super) intact_end: u64,
    /// The entries, by channel, of the message index of the last chunk, if the file ends before
    /// this index is complete.
    pub(super) missing_index: BTreeMap<u16, Vec<MessageIndexEntry>>,
    /// Whether there are messages outside of chunks, which no index covers.
    pub(super) has_loose_messages: bool,
    /// The bag's metadata, if the file contains it.
    pub(super) bag_metadata: Option<String>,
    /// The damage, if any.
    pub(super) damage: Option<String>,
}

/// Scans a file.
pub(super) fn scan(source: &Source, limit: usize) -> Result<Scan, ReadError> {
    let (path, file) = (source.path(), source.open()?);
    let size = file.metadata().map_err(|error| ReadError::io(path, &error))?.len();
    let mut scanner = Scanner {
        file: BufReader::with_capacity(256 << 10, file),
        size,
        limit,
        interrupt: &source.interrupt,
        definitions: Definitions::default(),
        statistics: Statistics::default(),
        is_after_chunk: false,
        scan: Scan {
            summary: Summary::default(),
            profile: String::new(),
            intact_end: MAGIC.len() as u64,
            missing_index: BTreeMap::new(),
            has_loose_messages: false,
            bag_metadata: None,
            damage: None,
        },
    };
    let ended = scanner.run();
    source.interrupt.check(path)?;
    match ended {
        Ok(()) => {}
        Err(McapError::BadMagic) => {
            let reason = "it does not begin like an MCAP file";
            return Err(ReadError::malformed(path, reason));
        }
        Err(error @ McapError::Io(_)) => return Err(ReadError::mcap(path, limit, &error)),
        // The part before the error is intact. If a chunk was skipped earlier, that damage stays,
        // since it explains more than an end that is cut off.
        Err(error) => drop(scanner.scan.damage.get_or_insert(error.to_string())),
    }
    Ok(scanner.finish())
}

struct Scanner<'a> {
    file: BufReader<File>,
    size: u64,
    limit: usize,
    interrupt: &'a Interrupt,
    definitions: Definitions,
    statistics: Statistics,
    /// Whether a message index that follows belongs to the last chunk of the summary.
    is_after_chunk: bool,
    scan: Scan,
}

impl Scanner<'_> {
    fn run(&mut self) -> Result<(), McapError> {
        let mut magic = [0; 8];
        if self.size < MAGIC.len() as u64 {
            return Err(McapError::BadMagic);
        }
        self.file.read_exact(&mut magic)?;
        if magic != *MAGIC {
            return Err(McapError::BadMagic);
        }
        let mut position = MAGIC.len() as u64;
        while !self.interrupt.is_set() {
            if position + RECORD_HEAD > self.size {
                return Err(McapError::UnexpectedEof);
            }
            self.go_to(position)?;
            let mut head = [0; RECORD_HEAD as usize];
            self.file.read_exact(&mut head)?;
            let [opcode, length @ ..] = head;
            let length = u64::from_le_bytes(length);
            if opcode == op::DATA_END || opcode == op::FOOTER {
                return Ok(());
            }
            let is_known = opcode != 0;
            if !is_known || length > self.size - position - RECORD_HEAD {
                return Err(McapError::UnexpectedEof);
            }
            self.record(opcode, position, length)?;
            position += RECORD_HEAD + length;
            self.scan.intact_end = position;
        }
        Ok(())
    }

    /// Goes to a position, and keeps the buffer if the position is in it.
    fn go_to(&mut self, position: u64) -> Result<(), McapError> {
        let here = self.file.stream_position()?;
        let way = i64::try_from(position).unwrap_or(i64::MAX).saturating_sub_unsigned(here);
        Ok(self.file.seek_relative(way)?)
    }

    fn record(&mut self, opcode: u8, position: u64, length: u64) -> Result<(), McapError> {
        if opcode != op::MESSAGE_INDEX && opcode != op::CHUNK {
            // Any other record after a chunk ends the chunk's message index.
            self.scan.missing_index.clear();
            self.is_after_chunk = false;
        }
        match opcode {
            op::CHUNK => self.chunk(position, length),
            op::MESSAGE => {
                let mut head = [0; 14];
                if length < 22 {
                    return Err(McapError::UnexpectedEof);
                }
                self.file.read_exact(&mut head)?;
                let channel = u16::from_le_bytes([head[0], head[1]]);
                let time = head[6..14].try_into().map_or(0, u64::from_le_bytes);
                self.scan.has_loose_messages = true;
                self.count(channel, time);
                Ok(())
            }
            op::MESSAGE_INDEX => {
                let mut channel = [0; 2];
                if length < 2 {
                    return Err(McapError::UnexpectedEof);
                }
                self.file.read_exact(&mut channel)?;
                let channel = u16::from_le_bytes(channel);
                self.scan.missing_index.remove(&channel);
                let last = self.scan.summary.chunk_indexes.last_mut();
                if let Some(index) = last.filter(|_| self.is_after_chunk) {
                    index.message_index_offsets.insert(channel, position);
                    index.message_index_length += RECORD_HEAD + length;
                }
                Ok(())
            }
            op::HEADER | op::SCHEMA | op::CHANNEL | op::METADATA | op::ATTACHMENT => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                if length > self.limit {
                    return Err(McapError::RecordTooLarge { opcode, len: length as u64 });
                }
                let mut body = vec![0; length];
                self.file.read_exact(&mut body)?;
                self.small_record(opcode, position, &body)
            }
            _ => Ok(()),
        }
    }

    fn small_record(&mut self, opcode: u8, position: u64, body: &[u8]) -> Result<(), McapError> {
        // `mcap` assumes that an attachment ends after its head.
        if opcode == op::ATTACHMENT && !has_attachment_head(body) {
            return Err(McapError::UnexpectedEof);
        }
        let record = mcap::parse_record(opcode, body)?.into_owned();
        let Some(record) = self.definitions.add(record) else { return Ok(()) };
        match record {
            Record::Header(header) => self.scan.profile = header.profile,
            Record::Metadata(mut metadata) => {
                let length = RECORD_HEAD + body.len() as u64;
                let name = metadata.name.clone();
                self.scan.summary.metadata_indexes.push(MetadataIndex {
                    offset: position,
                    length,
                    name,
                });
                self.statistics.metadata_count += 1;
                if metadata.name == METADATA_NAME {
                    self.scan.bag_metadata = metadata.metadata.remove(METADATA_KEY);
                }
            }
            Record::Attachment { header, data, .. } => {
                self.statistics.attachment_count += 1;
                self.scan.summary.attachment_indexes.push(mcap::records::AttachmentIndex {
                    offset: position,
                    length: RECORD_HEAD + body.len() as u64,
                    log_time: header.log_time,
                    create_time: header.create_time,
                    data_size: data.len() as u64,
                    name: header.name,
                    media_type: header.media_type,
                });
            }
            _ => {}
        }
        Ok(())
    }

    fn count(&mut self, channel: u16, time: u64) {
        let statistics = &mut self.statistics;
        let is_first = statistics.message_count == 0;
        statistics.message_count += 1;
        *statistics.channel_message_counts.entry(channel).or_default() += 1;
        let start = if is_first { time } else { statistics.message_start_time.min(time) };
        statistics.message_start_time = start;
        statistics.message_end_time = statistics.message_end_time.max(time);
    }

    /// Reads a chunk's head and its records. A chunk with a wrong checksum is skipped and reported.
    fn chunk(&mut self, position: u64, length: u64) -> Result<(), McapError> {
        let head = ChunkHead::read(&mut self.file, position, length)?;
        let records = head.records(&mut self.file, self.limit);
        match records.and_then(|records| ChunkContents::of(&records)) {
            Ok(ChunkContents { entries, definitions }) => {
                for (opcode, body) in definitions {
                    self.small_record(opcode, position, &body)?;
                }
                for (channel, entries) in &entries {
                    entries.iter().for_each(|entry| self.count(*channel, entry.log_time));
                }
                self.scan.summary.chunk_indexes.push(head.index);
                self.scan.missing_index = entries;
                self.is_after_chunk = true;
                Ok(())
            }
            Err(error @ McapError::Io(_)) => Err(error),
            Err(error) => {
                let damage = format!("the chunk at byte {position} is left out: {error}");
                self.scan.damage.get_or_insert(damage);
                self.scan.missing_index.clear();
                self.is_after_chunk = false;
                Ok(())
            }
        }
    }

    fn finish(mut self) -> Scan {
        let summary = &mut self.scan.summary;
        self.definitions.finish(summary);
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        self.statistics.schema_count = u16::try_from(summary.schemas.len()).unwrap_or(u16::MAX);
        self.statistics.channel_count = count(summary.channels.len());
        self.statistics.chunk_count = count(summary.chunk_indexes.len());
        summary.stats = Some(self.statistics);
        self.scan
    }
}

/// Whether the body is long enough for an attachment's times, name, media type, length and
/// checksum.
fn has_attachment_head(body: &[u8]) -> bool {
    let text_end = |at: usize| {
        let length = body.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))?;
        at.checked_add(4)?.checked_add(usize::try_from(length).ok()?)
    };
    let head_end = text_end(16).and_then(text_end).and_then(|end| end.checked_add(8 + 4));
    head_end.is_some_and(|end| end <= body.len())
}

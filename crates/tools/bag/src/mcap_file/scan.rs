//! Scans an MCAP file without an index from its start to the end of its intact part. Killed
//! recorders and full disks leave such files.
//!
//! Chunks are unpacked, to find damage, and topics that are new. Hundreds of chunks of a few bytes
//! each can unpack to any number of bytes together. Beyond a limit, the scan leaves chunks packed,
//! and believes the message index behind each.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, Read, Seek};

use mcap::records::{MessageIndexEntry, MetadataIndex, Record, Statistics, op};
use mcap::{MAGIC, McapError, Summary};

use super::chunk::{ChunkContents, ChunkHead};
use super::definitions::Definitions;
use super::form::{METADATA_KEY, METADATA_NAME, RECORD_HEAD};
use crate::error::ReadError;
use crate::interrupt::Interrupt;
use crate::unpacking::{Source, counted_packed, most_of_file, not_counted};

/// The size of a message index without its entries: a channel and a length.
const MESSAGE_INDEX_HEAD: u64 = 2 + 4;
/// The size of an entry of a message index: a time and a position.
const MESSAGE_INDEX_ENTRY: u64 = 8 + 8;

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
    /// The reason why messages were counted in packed chunks, if this is so.
    pub(super) unchecked: Option<String>,
    /// The number of bytes to which chunks were unpacked.
    pub(super) unpacked_bytes: u64,
}

/// Scans a file. Chunks of more than `limit` bytes are damage.
pub(super) fn scan(source: &Source, limit: usize) -> Result<Scan, ReadError> {
    scan_within(source, limit, most_of_file(source.packed_bytes()?))
}

/// Scans a file, and unpacks at most `most_bytes` plus the last chunk.
fn scan_within(source: &Source, limit: usize, most_bytes: u64) -> Result<Scan, ReadError> {
    let (path, file) = (source.path(), source.open()?);
    let size = file.metadata().map_err(|error| ReadError::io(path, &error))?.len();
    let mut scanner = Scanner {
        file: BufReader::with_capacity(256 << 10, file),
        size,
        limit,
        most_bytes,
        interrupt: &source.interrupt,
        definitions: Definitions::default(),
        statistics: Statistics::default(),
        is_after_chunk: false,
        packed: None,
        counted_packed: 0,
        scan: Scan {
            summary: Summary::default(),
            profile: String::new(),
            intact_end: MAGIC.len() as u64,
            missing_index: BTreeMap::new(),
            has_loose_messages: false,
            bag_metadata: None,
            damage: None,
            unchecked: None,
            unpacked_bytes: 0,
        },
    };
    let ended = scanner.run();
    source.interrupt.check(path)?;
    // The last chunk of a file without an end may lack a part of its message index.
    let ended = scanner.unpack_last().and(ended);
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
    most_bytes: u64,
    interrupt: &'a Interrupt,
    definitions: Definitions,
    statistics: Statistics,
    /// Whether a message index that follows belongs to the last chunk of the summary.
    is_after_chunk: bool,
    /// The chunk before, if it stays packed.
    packed: Option<PackedChunk>,
    /// The number of chunks whose messages were counted in their message indexes.
    counted_packed: u64,
    scan: Scan,
}

/// A chunk that stays packed, with the counts of the message index behind it.
struct PackedChunk {
    head: ChunkHead,
    /// The number of messages, by channel.
    counts: BTreeMap<u16, u64>,
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
                self.end_packed();
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
            self.end_packed();
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
                self.count(channel, 1, (time, time));
                Ok(())
            }
            op::MESSAGE_INDEX => self.message_index(position, length),
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

    fn message_index(&mut self, position: u64, length: u64) -> Result<(), McapError> {
        let mut channel = [0; 2];
        if length < 2 {
            return Err(McapError::UnexpectedEof);
        }
        self.file.read_exact(&mut channel)?;
        let channel = u16::from_le_bytes(channel);
        self.scan.missing_index.remove(&channel);
        let last = self.scan.summary.chunk_indexes.last_mut();
        let index = match &mut self.packed {
            Some(PackedChunk { head, counts }) => {
                let entries = length.saturating_sub(MESSAGE_INDEX_HEAD) / MESSAGE_INDEX_ENTRY;
                *counts.entry(channel).or_default() += entries;
                Some(&mut head.index)
            }
            None => last.filter(|_| self.is_after_chunk),
        };
        if let Some(index) = index {
            index.message_index_offsets.insert(channel, position);
            index.message_index_length += RECORD_HEAD + length;
        }
        Ok(())
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

    /// Adds messages of a channel, from the first of these times to the second.
    fn count(&mut self, channel: u16, messages: u64, (start, end): (u64, u64)) {
        if messages == 0 {
            return;
        }
        let statistics = &mut self.statistics;
        let is_first = statistics.message_count == 0;
        statistics.message_count += messages;
        *statistics.channel_message_counts.entry(channel).or_default() += messages;
        let earliest = if is_first { start } else { statistics.message_start_time.min(start) };
        statistics.message_start_time = earliest;
        statistics.message_end_time = statistics.message_end_time.max(end);
    }

    /// Reads a chunk's head, and its records unless too many bytes have been unpacked before.
    fn chunk(&mut self, position: u64, length: u64) -> Result<(), McapError> {
        let head = ChunkHead::read(&mut self.file, position, length)?;
        self.end_packed();
        match head.unpacked_bytes(self.limit) {
            Ok(bytes)
                if self.scan.unpacked_bytes.saturating_add(bytes as u64) > self.most_bytes =>
            {
                self.scan.missing_index.clear();
                self.is_after_chunk = false;
                self.packed = Some(PackedChunk { head, counts: BTreeMap::new() });
                Ok(())
            }
            _ => self.unpack(head),
        }
    }

    /// Unpacks a chunk, at whose records the file stands. A chunk with a wrong checksum is skipped
    /// and reported.
    fn unpack(&mut self, head: ChunkHead) -> Result<(), McapError> {
        let bytes = head.unpacked_bytes(self.limit).unwrap_or(0);
        self.scan.unpacked_bytes = self.scan.unpacked_bytes.saturating_add(bytes as u64);
        let records = head.records(&mut self.file, self.limit);
        match records.and_then(|records| ChunkContents::of(&records)) {
            Ok(ChunkContents { entries, definitions }) => {
                for (opcode, body) in definitions {
                    self.small_record(opcode, head.position(), &body)?;
                }
                for (channel, entries) in &entries {
                    let times = entries.iter().map(|entry| entry.log_time);
                    times.for_each(|time| self.count(*channel, 1, (time, time)));
                }
                self.scan.summary.chunk_indexes.push(head.index);
                self.scan.missing_index = entries;
                self.is_after_chunk = true;
                Ok(())
            }
            Err(error @ McapError::Io(_)) => Err(error),
            Err(error) => {
                self.leave_out(&head, &error);
                Ok(())
            }
        }
    }

    fn leave_out(&mut self, head: &ChunkHead, reason: &impl std::fmt::Display) {
        let damage = format!("the chunk at byte {} is left out: {reason}", head.position());
        self.scan.damage.get_or_insert(damage);
        self.scan.missing_index.clear();
        self.is_after_chunk = false;
    }

    /// Adds the chunk that stayed packed according to its message index, which has ended.
    fn end_packed(&mut self) {
        let Some(PackedChunk { head, counts }) = self.packed.take() else { return };
        let is_known = counts.keys().all(|channel| self.definitions.has_channel(*channel));
        if counts.is_empty() || !is_known {
            self.leave_out(&head, &not_counted(self.most_bytes));
            return;
        }
        let (start, end) = (head.index.message_start_time, head.index.message_end_time);
        for (channel, messages) in counts {
            self.count(channel, messages, (start, end.max(start)));
        }
        self.counted_packed += 1;
        self.scan.summary.chunk_indexes.push(head.index);
    }

    /// Unpacks the chunk that stayed packed, if nothing follows it but its message index.
    fn unpack_last(&mut self) -> Result<(), McapError> {
        let Some(PackedChunk { head, .. }) = self.packed.take() else { return Ok(()) };
        let has_index = head.index.message_index_offsets.clone();
        self.go_to(head.records_position())?;
        self.unpack(head)?;
        self.scan.missing_index.retain(|channel, _| !has_index.contains_key(channel));
        Ok(())
    }

    fn finish(mut self) -> Scan {
        let summary = &mut self.scan.summary;
        self.definitions.finish(summary);
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        self.statistics.schema_count = u16::try_from(summary.schemas.len()).unwrap_or(u16::MAX);
        self.statistics.channel_count = count(summary.channels.len());
        self.statistics.chunk_count = count(summary.chunk_indexes.len());
        summary.stats = Some(self.statistics);
        let chunks = self.counted_packed;
        self.scan.unchecked = (chunks > 0).then(|| counted_packed(chunks, self.most_bytes));
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use mcap::records::MessageHeader;

    use super::*;

    /// The bytes of each message, a little less than a chunk unpacks to.
    const MESSAGE_BYTES: u64 = 10_000;
    /// A limit on unpacked bytes: three chunks, and a half.
    const MOST_BYTES: u64 = 35_000;

    /// A file with 20 packed chunks, each with a message of zeros.
    fn chunks(has_message_indexes: bool, topic_of: impl Fn(u32) -> &'static str) -> Vec<u8> {
        let options = mcap::WriteOptions::new()
            .profile("ros2")
            .compression(Some(mcap::Compression::Zstd))
            .emit_message_indexes(has_message_indexes);
        let mut writer = options.create(std::io::Cursor::new(Vec::<u8>::new())).unwrap();
        for number in 0..20 {
            let topic = topic_of(number);
            let channel_id = writer.add_channel(0, topic, "cdr", &BTreeMap::new()).unwrap();
            let log_time = 5 + u64::from(number);
            let header = MessageHeader { channel_id, sequence: number, log_time, publish_time: 5 };
            writer.write_to_known_channel(&header, &[0; MESSAGE_BYTES as usize]).unwrap();
            writer.flush().unwrap();
        }
        writer.finish().unwrap();
        writer.into_inner().into_inner()
    }

    fn scanned(bytes: &[u8], most_bytes: u64) -> Scan {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a_0.mcap");
        std::fs::write(&path, bytes).unwrap();
        let source = Source::new(&path, &Interrupt::default());
        scan_within(&source, 1 << 20, most_bytes).unwrap()
    }

    fn message_count(scan: &Scan) -> u64 {
        scan.summary.stats.as_ref().unwrap().message_count
    }

    #[test]
    fn chunks_beyond_the_limit_stay_packed_and_are_counted() {
        let bytes = chunks(true, |number| if number % 2 == 0 || number > 2 { "/a" } else { "/b" });
        let whole = scanned(&bytes, u64::MAX);
        assert!(whole.unpacked_bytes > 20 * MESSAGE_BYTES && whole.unchecked.is_none());
        assert_eq!(message_count(&whole), 20);
        let part = scanned(&bytes, MOST_BYTES);
        let unpacked = part.unpacked_bytes;
        assert!((3 * MESSAGE_BYTES..=MOST_BYTES).contains(&unpacked), "{unpacked}");
        assert_eq!(part.summary.stats, whole.summary.stats);
        assert_eq!(part.summary.chunk_indexes, whole.summary.chunk_indexes);
        assert_eq!(part.intact_end, whole.intact_end);
        assert_eq!(part.damage, None);
        let said = part.unchecked.unwrap();
        assert!(said.contains("more than 35000 bytes") && said.contains(" 17 chunks "), "{said}");
    }

    #[test]
    fn the_last_chunk_of_a_file_without_an_end_is_unpacked() {
        let bytes = chunks(true, |_| "/a");
        let whole = scanned(&bytes, u64::MAX);
        let last = whole.summary.chunk_indexes.last().unwrap();
        let index = usize::try_from(*last.message_index_offsets.values().next().unwrap()).unwrap();
        let index_bytes = usize::try_from(last.message_index_length).unwrap();
        for (end, missing) in [(index, 1), (index + 5, 1), (index + index_bytes, 0)] {
            let part = scanned(&bytes[..end], MOST_BYTES);
            assert_eq!(message_count(&part), 20, "cut at {end}");
            assert_eq!(part.missing_index.len(), missing, "cut at {end}");
            assert_eq!(part.summary.chunk_indexes.len(), 20, "cut at {end}");
            assert!(part.unpacked_bytes < MOST_BYTES + 2 * MESSAGE_BYTES);
            assert!(part.unchecked.unwrap().contains(" 16 chunks "));
        }
    }

    #[test]
    fn chunks_beyond_the_limit_that_no_index_explains_are_left_out() {
        let count = |has_indexes, topic_of: fn(u32) -> &'static str| {
            let part = scanned(&chunks(has_indexes, topic_of), MOST_BYTES);
            assert!(part.unpacked_bytes <= MOST_BYTES);
            let damage = part.damage.clone().unwrap();
            assert!(damage.contains("is left out: with the chunks before it"), "{damage}");
            assert!(damage.contains("`mcap recover`"), "{damage}");
            message_count(&part)
        };
        assert_eq!(count(false, |_| "/a"), 3, "without message indexes");
        assert_eq!(count(true, |number| if number < 10 { "/a" } else { "/b" }), 10, "a new topic");
    }

    #[test]
    fn a_chunk_that_may_not_be_unpacked_counts_for_nothing() {
        let mut bytes = chunks(true, |_| "/a");
        let whole = scanned(&bytes, u64::MAX);
        // The size follows two time stamps in the chunk's head.
        let head = &whole.summary.chunk_indexes[0];
        let size = usize::try_from(head.chunk_start_offset + RECORD_HEAD).unwrap() + 16;
        bytes[size..size + 8].copy_from_slice(&u64::MAX.to_le_bytes());
        let part = scanned(&bytes, MOST_BYTES);
        assert!(part.damage.unwrap().contains("the limit is 256 times the packed size"));
        assert!((3 * MESSAGE_BYTES..=MOST_BYTES).contains(&part.unpacked_bytes));
    }
}

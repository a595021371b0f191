//! Looks through an MCAP file that has no index, from its start to where it is intact: what killed
//! recorders and full disks leave.

use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;
use std::sync::Arc;

use mcap::records::{ChunkIndex, MessageIndexEntry, MetadataIndex, Record, Statistics, op};
use mcap::sans_io::linear_reader::{LinearReadEvent, LinearReader, LinearReaderOptions};
use mcap::{Channel, MAGIC, McapError, Schema, Summary};

use super::{METADATA_KEY, METADATA_NAME};
use crate::error::ReadError;

/// Opcode and length before each record.
const RECORD_HEAD: u64 = 9;
/// The longest name of a compression that is looked at.
const MAX_COMPRESSION_NAME: u32 = 64;

/// What an MCAP file has.
pub(super) struct Scan {
    /// As it would stand at the end of the file.
    pub(super) summary: Summary,
    /// What the header says.
    pub(super) profile: String,
    /// The end of what is intact.
    pub(super) intact_end: u64,
    /// The entries of the last chunk by channel, if the file ends before all of them.
    pub(super) missing_index: BTreeMap<u16, Vec<MessageIndexEntry>>,
    /// Whether messages are outside of chunks, where no index tells them.
    pub(super) has_loose_messages: bool,
    /// The bag's metadata, if it is inside.
    pub(super) bag_metadata: Option<String>,
    /// What is not intact.
    pub(super) damage: Option<String>,
}

/// Looks through a file.
pub(super) fn scan(path: &Path, limit: usize) -> Result<Scan, ReadError> {
    let file = File::open(path).map_err(|error| ReadError::io(path, &error))?;
    let size = file.metadata().map_err(|error| ReadError::io(path, &error))?.len();
    let mut scanner = Scanner {
        file: BufReader::with_capacity(256 << 10, file),
        size,
        limit,
        schemas: HashMap::new(),
        channels: HashMap::new(),
        statistics: Statistics::default(),
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
    match scanner.run() {
        Ok(()) => {}
        Err(McapError::BadMagic) => {
            let reason = "it does not begin as an MCAP file does";
            return Err(ReadError::malformed(path, reason));
        }
        // What comes before is intact.
        Err(error @ McapError::Io(_)) => return Err(ReadError::mcap(path, limit, &error)),
        Err(error) => scanner.scan.damage = Some(error.to_string()),
    }
    Ok(scanner.finish())
}

struct Scanner {
    file: BufReader<File>,
    size: u64,
    limit: usize,
    schemas: HashMap<u16, Arc<Schema<'static>>>,
    channels: HashMap<u16, Arc<Channel<'static>>>,
    statistics: Statistics,
    scan: Scan,
}

impl Scanner {
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
        loop {
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
    }

    /// Goes to a place; what is buffered of it is not read again.
    fn go_to(&mut self, position: u64) -> Result<(), McapError> {
        let here = self.file.stream_position()?;
        let way = i64::try_from(position).unwrap_or(i64::MAX).saturating_sub_unsigned(here);
        Ok(self.file.seek_relative(way)?)
    }

    fn record(&mut self, opcode: u8, position: u64, length: u64) -> Result<(), McapError> {
        if opcode != op::MESSAGE_INDEX && opcode != op::CHUNK {
            // Whatever follows a chunk ends its index.
            self.scan.missing_index.clear();
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
                if let Some(index) = self.scan.summary.chunk_indexes.last_mut() {
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
        // `mcap` takes for granted that an attachment ends after its head.
        if opcode == op::ATTACHMENT && !has_attachment_head(body) {
            return Err(McapError::UnexpectedEof);
        }
        match mcap::parse_record(opcode, body)?.into_owned() {
            Record::Header(header) => self.scan.profile = header.profile,
            // What is announced again is the same; of what differs, the first counts.
            Record::Schema { header, data } => {
                let (id, name, encoding) = (header.id, header.name, header.encoding);
                let schema = Schema { id, name, encoding, data };
                self.schemas.entry(id).or_insert_with(|| Arc::new(schema));
            }
            Record::Channel(channel) => {
                let id = channel.id;
                let schema = self.schemas.get(&channel.schema_id).cloned();
                let channel = Channel {
                    id,
                    topic: channel.topic,
                    schema,
                    message_encoding: channel.message_encoding,
                    metadata: channel.metadata,
                };
                self.channels.entry(id).or_insert_with(|| Arc::new(channel));
            }
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

    /// Reads a chunk's head and its records. A chunk whose checksum is wrong is left out, and said.
    fn chunk(&mut self, position: u64, length: u64) -> Result<(), McapError> {
        let index = self.chunk_index(position, length)?;
        self.go_to(position)?;
        // A few bytes can unpack to any number of records.
        let records = if index.uncompressed_size > self.limit as u64 {
            Err(McapError::ChunkTooLarge(index.uncompressed_size))
        } else {
            self.chunk_records(RECORD_HEAD + length)
        };
        match records {
            Ok((entries, records)) => {
                for (opcode, body) in records {
                    self.small_record(opcode, position, &body)?;
                }
                for (channel, entries) in &entries {
                    entries.iter().for_each(|entry| self.count(*channel, entry.log_time));
                }
                self.scan.summary.chunk_indexes.push(index);
                self.scan.missing_index = entries;
                Ok(())
            }
            Err(error @ McapError::Io(_)) => Err(error),
            Err(error) => {
                let damage = format!("the chunk at byte {position} is left out: {error}");
                self.scan.damage.get_or_insert(damage);
                self.scan.missing_index.clear();
                Ok(())
            }
        }
    }

    fn chunk_index(&mut self, position: u64, length: u64) -> Result<ChunkIndex, McapError> {
        let mut head = [0; 32];
        if length < 40 {
            return Err(McapError::UnexpectedEof);
        }
        self.file.read_exact(&mut head)?;
        let number = |at: usize| head[at..at + 8].try_into().map_or(0, u64::from_le_bytes);
        let name_length = head[28..32].try_into().map_or(0, u32::from_le_bytes);
        if name_length > MAX_COMPRESSION_NAME || length < 40 + u64::from(name_length) {
            return Err(McapError::BadChunkLength {
                header: name_length.into(),
                available: length,
            });
        }
        let mut name = vec![0; name_length as usize];
        self.file.read_exact(&mut name)?;
        let mut compressed_size = [0; 8];
        self.file.read_exact(&mut compressed_size)?;
        // A record that reached beyond its chunk would be read as if it did not.
        let records = length - 40 - u64::from(name_length);
        let compressed = u64::from_le_bytes(compressed_size);
        if compressed != records {
            return Err(McapError::BadChunkLength { header: compressed, available: records });
        }
        Ok(ChunkIndex {
            message_start_time: number(0),
            message_end_time: number(8),
            chunk_start_offset: position,
            chunk_length: RECORD_HEAD + length,
            message_index_offsets: BTreeMap::new(),
            message_index_length: 0,
            compression: String::from_utf8_lossy(&name).into_owned(),
            compressed_size: compressed,
            uncompressed_size: number(16),
        })
    }

    /// The entries of a chunk's messages, and its schemas and channels.
    #[expect(clippy::type_complexity, reason = "two results of one walk, used at once")]
    fn chunk_records(
        &mut self,
        mut left: u64,
    ) -> Result<(BTreeMap<u16, Vec<MessageIndexEntry>>, Vec<(u8, Vec<u8>)>), McapError> {
        let options = LinearReaderOptions::default()
            .with_skip_start_magic(true)
            .with_skip_end_magic(true)
            .with_validate_chunk_crcs(true)
            .with_record_length_limit(self.limit);
        let mut reader = LinearReader::new_with_options(options);
        let mut entries: BTreeMap<u16, Vec<MessageIndexEntry>> = BTreeMap::new();
        let (mut records, mut offset) = (Vec::new(), 0);
        while let Some(event) = reader.next_event() {
            match event? {
                LinearReadEvent::ReadRequest(needed) => {
                    let bytes = needed.min(usize::try_from(left).unwrap_or(usize::MAX));
                    let read = self.file.read(reader.insert(bytes))?;
                    reader.notify_read(read);
                    left -= read as u64;
                }
                LinearReadEvent::Record { opcode, data } => {
                    match (opcode, data) {
                        (op::MESSAGE, [a, b, _, _, _, _, time @ ..]) if time.len() >= 16 => {
                            let log_time = time[..8].try_into().map_or(0, u64::from_le_bytes);
                            let channel = u16::from_le_bytes([*a, *b]);
                            let entry = MessageIndexEntry { log_time, offset };
                            entries.entry(channel).or_default().push(entry);
                        }
                        (op::SCHEMA | op::CHANNEL, data) => records.push((opcode, data.to_vec())),
                        _ => {}
                    }
                    offset += RECORD_HEAD + data.len() as u64;
                }
            }
        }
        Ok((entries, records))
    }

    fn finish(mut self) -> Scan {
        let summary = &mut self.scan.summary;
        summary.schemas = self.schemas;
        summary.channels = self.channels;
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        self.statistics.schema_count = u16::try_from(summary.schemas.len()).unwrap_or(u16::MAX);
        self.statistics.channel_count = count(summary.channels.len());
        self.statistics.chunk_count = count(summary.chunk_indexes.len());
        summary.stats = Some(self.statistics);
        self.scan
    }
}

/// Whether there is room for an attachment's two times, name, media type, length and checksum.
fn has_attachment_head(body: &[u8]) -> bool {
    let text_end = |at: usize| {
        let length = body.get(at..)?.first_chunk().map(|bytes| u32::from_le_bytes(*bytes))?;
        at.checked_add(4)?.checked_add(usize::try_from(length).ok()?)
    };
    let head_end = text_end(16).and_then(text_end).and_then(|end| end.checked_add(8 + 4));
    head_end.is_some_and(|end| end <= body.len())
}

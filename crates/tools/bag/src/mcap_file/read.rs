//! Reads an MCAP file: topics and counts come from its index, messages in order of time.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;

use mcap::records::{Header, Record, op};
use mcap::sans_io::indexed_reader::ReadOrder;
use mcap::sans_io::linear_reader::{LinearReadEvent, LinearReader, LinearReaderOptions};
use mcap::{MAGIC, McapError, Summary};

use super::form::{METADATA_KEY, METADATA_NAME, PROFILE, from_mcap_time, topic_of};
use super::indexed::{IndexedWalk, without_compression};
use super::scan;
use super::summary::read_summary;
use crate::error::ReadError;
use crate::interrupt::Interrupt;
use crate::message::{BagMessage, BagTopic, MessageFilter};
use crate::metadata::{BagMetadata, TimeRange};
use crate::unpacking::{Source, most_unpacked};
use crate::yaml::Node;

/// The longest header that is read: a profile and the name of a library.
const MAX_HEADER_BYTES: u64 = 64 << 10;

/// An open file.
pub(crate) struct McapFile {
    source: Source,
    /// The limit on the bytes of chunks that are held at once.
    pub(crate) limit: usize,
    summary: Summary,
    topics: HashMap<u16, Arc<BagTopic>>,
    /// The position at which the messages outside of chunks end; `None` if the index covers all
    /// messages.
    loose_end: Option<u64>,
    /// The number of bytes of the chunks that have to be held at once to order all messages.
    pub(crate) overlapping_bytes: u64,
    pub(crate) has_index: bool,
    pub(crate) damage: Option<String>,
    /// The reason why some messages were counted without unpacking them, if this is so.
    pub(crate) unchecked: Option<String>,
    pub(crate) bag_metadata: Option<BagMetadata>,
}

/// Returns the number of messages according to a file's index; `None` if it has no index.
pub(super) fn has_index(source: &Source, limit: usize) -> Result<Option<u64>, ReadError> {
    let mut file = source.open()?;
    let summary = read_summary(&mut file, limit).unwrap_or_default();
    let statistics = summary.and_then(|summary| summary.stats);
    Ok(statistics.map(|statistics| statistics.message_count))
}

impl McapFile {
    /// Opens a file. A file without an index is scanned.
    pub(crate) fn open(source: Source, limit: usize) -> Result<Self, ReadError> {
        let mut file = source.open()?;
        let path = source.path();
        let size = file.metadata().map_err(|error| ReadError::io(path, &error))?.len();
        let limit = most_unpacked(size, limit);
        let profile =
            read_profile(&mut file).map_err(|error| ReadError::mcap(path, limit, &error))?;
        if !profile.is_empty() && profile != PROFILE {
            return Err(ReadError::OtherProfile { path: path.to_owned(), profile });
        }
        // An unusable index counts as a missing one.
        if let Ok(Some(summary)) = read_summary(&mut file, limit)
            && is_usable(&summary)
        {
            let bag_metadata = read_bag_metadata(&mut file, &summary, limit);
            return Ok(Self::new(source, limit, summary, None, bag_metadata));
        }
        let scanned = scan::scan(&source, limit)?;
        let loose_end = scanned.has_loose_messages.then_some(scanned.intact_end);
        let metadata = scanned.bag_metadata.as_deref().and_then(parse_bag_metadata);
        let mut opened = Self::new(source, limit, scanned.summary, loose_end, metadata);
        let cut_off = || (!has_end(&mut file)).then(|| "its end is cut off".to_owned());
        (opened.has_index, opened.damage) = (false, scanned.damage.or_else(cut_off));
        opened.unchecked = scanned.unchecked;
        Ok(opened)
    }

    fn new(
        source: Source,
        limit: usize,
        mut summary: Summary,
        loose_end: Option<u64>,
        bag_metadata: Option<BagMetadata>,
    ) -> Self {
        without_compression(&mut summary);
        let topics = summary.channels.iter();
        let topics = topics.map(|(id, channel)| (*id, Arc::new(topic_of(channel)))).collect();
        let overlapping_bytes = overlapping_bytes(&summary);
        Self {
            source,
            limit,
            summary,
            topics,
            loose_end,
            overlapping_bytes,
            has_index: true,
            damage: None,
            unchecked: None,
            bag_metadata,
        }
    }

    /// The topics with the number of their messages, by name.
    pub(crate) fn topics(&self) -> Vec<(Arc<BagTopic>, u64)> {
        let counts = self.summary.stats.as_ref().map(|stats| &stats.channel_message_counts);
        let count = |id| counts.and_then(|counts| counts.get(id)).copied().unwrap_or(0);
        let topics = self.topics.iter().map(|(id, topic)| (topic.clone(), count(id)));
        let mut topics: Vec<_> = topics.collect();
        topics.sort_by(|a, b| a.0.metadata.name.cmp(&b.0.metadata.name));
        topics
    }

    pub(crate) fn message_count(&self) -> u64 {
        self.summary.stats.as_ref().map_or(0, |statistics| statistics.message_count)
    }

    pub(crate) fn time(&self) -> Option<TimeRange> {
        let statistics = self.summary.stats.as_ref()?;
        (statistics.message_count > 0).then(|| TimeRange {
            start: from_mcap_time(statistics.message_start_time),
            end: from_mcap_time(statistics.message_end_time),
        })
    }

    /// Whether ordering the messages takes more memory than a reader may hold.
    pub(crate) fn is_beyond_order(&self) -> bool {
        self.overlapping_bytes > self.limit as u64
    }

    /// The messages that pass a filter, in the order of time, or in that of the file if
    /// [`McapFile::is_beyond_order`] is true.
    pub(crate) fn messages(&self, filter: &MessageFilter) -> Result<McapMessages, ReadError> {
        let file = self.source.open()?;
        let io = |error| ReadError::io(self.source.path(), &error);
        let size = file.metadata().map_err(io)?.len();
        let wanted: BTreeSet<String> = self
            .topics
            .values()
            .map(|topic| topic.metadata.name.clone())
            .filter(|name| filter.has_topic(name))
            .collect();
        let walk = if wanted.is_empty() { Walk::Nothing } else { self.indexed(&wanted, filter)? };
        Ok(McapMessages {
            source: self.source.clone(),
            file,
            size,
            limit: self.limit,
            topics: self.topics.clone(),
            filter: MessageFilter { topics: Some(wanted), ..filter.clone() },
            walk,
            loose_end: self.loose_end,
        })
    }

    fn indexed(
        &self,
        wanted: &BTreeSet<String>,
        filter: &MessageFilter,
    ) -> Result<Walk, ReadError> {
        let order = if self.is_beyond_order() { ReadOrder::File } else { ReadOrder::LogTime };
        IndexedWalk::new(&self.summary, wanted, filter, order, self.limit)
            .map(Walk::Indexed)
            .map_err(|error| ReadError::mcap(self.source.path(), self.limit, &error))
    }
}

/// The messages of a file, one after the other.
pub(crate) struct McapMessages {
    source: Source,
    file: File,
    size: u64,
    limit: usize,
    topics: HashMap<u16, Arc<BagTopic>>,
    filter: MessageFilter,
    walk: Walk,
    /// The position at which the messages outside of chunks end. These are read after the messages
    /// in chunks.
    loose_end: Option<u64>,
}

enum Walk {
    /// Through the messages in chunks.
    Indexed(IndexedWalk),
    /// Through the messages outside of chunks, in the order of the file, up to its intact end.
    Linear {
        reader: Box<LinearReader>,
        left: u64,
    },
    Nothing,
}

impl McapMessages {
    /// The next message; `None` at the end and after an error.
    pub(crate) fn next_message(&mut self) -> Option<Result<BagMessage, ReadError>> {
        loop {
            let next = match &mut self.walk {
                Walk::Nothing => return None,
                Walk::Indexed(walk) => {
                    let interrupt = &self.source.interrupt;
                    next_indexed(walk, &mut self.file, self.size, &self.topics, interrupt)
                }
                Walk::Linear { reader, left } => {
                    next_linear(reader, left, &mut self.file, &self.topics, &self.filter)
                }
            };
            let path = self.source.path();
            let next = self
                .source
                .interrupt
                .check(path)
                .and_then(|()| next.map_err(|error| ReadError::mcap(path, self.limit, &error)));
            match (&next, self.loose_end.take()) {
                (Ok(Some(_)), loose_end) => self.loose_end = loose_end,
                (Ok(None), Some(end)) => {
                    if let Err(error) = self.begin_loose(end) {
                        return Some(Err(error));
                    }
                    continue;
                }
                (Ok(None) | Err(_), _) => self.walk = Walk::Nothing,
            }
            return next.transpose();
        }
    }

    /// Continues with the messages outside of chunks.
    fn begin_loose(&mut self, end: u64) -> Result<(), ReadError> {
        self.walk = Walk::Nothing;
        self.file.rewind().map_err(|error| ReadError::io(self.source.path(), &error))?;
        let options = LinearReaderOptions::default()
            .with_skip_end_magic(true)
            .with_emit_chunks(true)
            .with_record_length_limit(self.limit);
        let reader = Box::new(LinearReader::new_with_options(options));
        self.walk = Walk::Linear { reader, left: end };
        Ok(())
    }
}

fn next_indexed(
    walk: &mut IndexedWalk,
    file: &mut File,
    size: u64,
    topics: &HashMap<u16, Arc<BagTopic>>,
    interrupt: &Interrupt,
) -> Result<Option<BagMessage>, McapError> {
    while let Some((header, data)) = walk.next_message(file, size, interrupt)? {
        let Some(topic) = topics.get(&header.channel_id) else { continue };
        return Ok(Some(BagMessage {
            topic: topic.clone(),
            log_time: from_mcap_time(header.log_time),
            publish_time: from_mcap_time(header.publish_time),
            sequence: header.sequence,
            data,
        }));
    }
    Ok(None)
}

fn next_linear(
    reader: &mut LinearReader,
    left: &mut u64,
    file: &mut File,
    topics: &HashMap<u16, Arc<BagTopic>>,
    filter: &MessageFilter,
) -> Result<Option<BagMessage>, McapError> {
    /// Records outside of chunks are small, so the file is read in parts that hold many of them.
    const PART: usize = 64 << 10;
    while let Some(event) = reader.next_event() {
        match event? {
            LinearReadEvent::ReadRequest(needed) => {
                let wanted = needed.max(PART);
                let bytes = wanted.min(usize::try_from(*left).unwrap_or(usize::MAX));
                let read = file.read(reader.insert(bytes))?;
                reader.notify_read(read);
                *left -= read as u64;
            }
            LinearReadEvent::Record { opcode: op::MESSAGE, data } => {
                let Record::Message { header, data } = mcap::parse_record(op::MESSAGE, data)?
                else {
                    continue;
                };
                let Some(topic) = topics.get(&header.channel_id) else { continue };
                let log_time = from_mcap_time(header.log_time);
                if filter.has_time(log_time) && filter.has_topic(&topic.metadata.name) {
                    return Ok(Some(BagMessage {
                        topic: topic.clone(),
                        log_time,
                        publish_time: from_mcap_time(header.publish_time),
                        sequence: header.sequence,
                        data: data.into_owned(),
                    }));
                }
            }
            LinearReadEvent::Record { .. } => {}
        }
    }
    Ok(None)
}

/// Returns the largest number of bytes of unpacked chunks that overlap at one time; 0 if no chunks
/// overlap, since a single chunk has its own limit.
fn overlapping_bytes(summary: &Summary) -> u64 {
    // A chunk is held from its first message to its last. At equal times, starts come before ends.
    let mut edges: Vec<(u64, bool, u64)> = Vec::with_capacity(summary.chunk_indexes.len() * 2);
    for chunk in &summary.chunk_indexes {
        let (start, end) = (chunk.message_start_time, chunk.message_end_time);
        edges.push((start, false, chunk.uncompressed_size));
        edges.push((end.max(start), true, chunk.uncompressed_size));
    }
    edges.sort_unstable();
    let (mut bytes, mut chunks, mut most) = (0u64, 0u32, 0);
    for (_, is_end, size) in edges {
        if is_end {
            (bytes, chunks) = (bytes.saturating_sub(size), chunks.saturating_sub(1));
        } else {
            (bytes, chunks) = (bytes.saturating_add(size), chunks.saturating_add(1));
            most = if chunks > 1 { bytes.max(most) } else { most };
        }
    }
    most
}

/// Whether an index covers all messages.
fn is_usable(summary: &Summary) -> bool {
    let Some(statistics) = &summary.stats else { return false };
    let has_chunks = !summary.chunk_indexes.is_empty() || statistics.message_count == 0;
    let knows_channels =
        statistics.channel_message_counts.keys().all(|id| summary.channels.contains_key(id));
    // The indexed reader relies on both sizes of an uncompressed chunk being equal.
    let has_sizes = summary.chunk_indexes.iter().all(|chunk| {
        !chunk.compression.is_empty() || chunk.compressed_size == chunk.uncompressed_size
    });
    has_chunks && knows_channels && has_sizes
}

fn read_profile(file: &mut File) -> Result<String, McapError> {
    let mut head = [0; 17];
    let mut length = 0;
    while length < head.len() {
        match file.read(&mut head[length..])? {
            0 => break,
            read => length += read,
        }
    }
    if length < MAGIC.len() || head[..8] != *MAGIC {
        return Err(McapError::BadMagic);
    }
    let body_length = head[9..17].try_into().map_or(0, u64::from_le_bytes);
    if length < head.len() || head[8] != op::HEADER || body_length > MAX_HEADER_BYTES {
        return Ok(String::new());
    }
    let mut body = Vec::new();
    file.take(body_length).read_to_end(&mut body)?;
    match mcap::parse_record(op::HEADER, &body) {
        Ok(Record::Header(Header { profile, .. })) => Ok(profile),
        _ => Ok(String::new()),
    }
}

/// Whether a file ends with the magic of a completed file.
fn has_end(file: &mut File) -> bool {
    let mut magic = [0; MAGIC.len()];
    let from_end = -i64::try_from(magic.len()).expect("a few bytes");
    let read = file.seek(SeekFrom::End(from_end)).and_then(|_| file.read_exact(&mut magic));
    read.is_ok() && magic == *MAGIC
}

/// The bag's metadata inside the file; `None` if it is unreadable, since it can be rebuilt.
fn read_bag_metadata(file: &mut File, summary: &Summary, limit: usize) -> Option<BagMetadata> {
    let size = file.metadata().ok()?.len();
    let index = summary.metadata_indexes.iter().rev().find(|index| index.name == METADATA_NAME)?;
    let end = index.offset.checked_add(index.length)?;
    if end > size || index.length > limit as u64 || index.length < 9 {
        return None;
    }
    let mut record = vec![0; usize::try_from(index.length).ok()?];
    file.seek(SeekFrom::Start(index.offset)).ok()?;
    file.read_exact(&mut record).ok()?;
    match mcap::parse_record(op::METADATA, &record[9..]) {
        Ok(Record::Metadata(metadata)) => parse_bag_metadata(metadata.metadata.get(METADATA_KEY)?),
        _ => None,
    }
}

fn parse_bag_metadata(text: &str) -> Option<BagMetadata> {
    let is_whole =
        matches!(Node::parse(text), Ok(node) if node.get("rosbag2_bagfile_information").is_some());
    let text = if is_whole {
        text.to_owned()
    } else {
        let lines: String = text.lines().map(|line| format!("  {line}\n")).collect();
        format!("rosbag2_bagfile_information:\n{lines}")
    };
    BagMetadata::from_yaml(&text).ok()
}

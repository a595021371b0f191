//! Reads the messages of a file with the help of its index, in the order of time or of the file.
//! `mcap` orders the messages. This module reads and unpacks the chunks, since an index may state
//! wrong sizes and times; with wrong times, more chunks would be held at once than the index
//! states.

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use mcap::records::{MessageHeader, op};
use mcap::sans_io::indexed_reader::{
    IndexedReadEvent, IndexedReader, IndexedReaderOptions, ReadOrder,
};
use mcap::{McapError, Summary};

use super::chunk::{ChunkContents, ChunkHead, SHORTEST};
use super::form::{RECORD_HEAD, to_mcap_time};
use crate::interrupt::Interrupt;
use crate::message::MessageFilter;

/// Makes the index describe all chunks as uncompressed: this module unpacks them, and each chunk's
/// head names its compression.
pub(super) fn without_compression(summary: &mut Summary) {
    for chunk in &mut summary.chunk_indexes {
        chunk.compression.clear();
        chunk.compressed_size = chunk.uncompressed_size;
    }
}

/// A walk through the chunks of a file.
pub(super) struct IndexedWalk {
    reader: Box<IndexedReader>,
    limit: usize,
    /// The time until which each chunk is held, by the chunk's position in the file.
    ends: HashMap<u64, u64>,
    /// Bytes of chunks that are held for longer than the index states.
    late_bytes: u64,
}

impl IndexedWalk {
    /// Begins a walk; the index must be [`without_compression`].
    pub(super) fn new(
        summary: &Summary,
        topics: &BTreeSet<String>,
        filter: &MessageFilter,
        order: ReadOrder,
        limit: usize,
    ) -> Result<Self, McapError> {
        let mut options = IndexedReaderOptions::new()
            .with_order(order)
            .with_record_length_limit(limit)
            .include_topics(topics.clone());
        if let Some(start) = filter.start {
            options = options.log_time_on_or_after(to_mcap_time(start));
        }
        if let Some(end) = filter.end {
            options = options.log_time_before(to_mcap_time(end).saturating_add(1));
        }
        let end = |chunk: &mcap::records::ChunkIndex| match order {
            // In the order of the file, a chunk is held until its last message, whatever its time.
            ReadOrder::File => u64::MAX,
            _ => chunk.message_end_time,
        };
        let chunks = summary.chunk_indexes.iter();
        Ok(Self {
            reader: Box::new(IndexedReader::new_with_options(summary, options)?),
            limit,
            ends: chunks.map(|chunk| (chunk.chunk_start_offset, end(chunk))).collect(),
            late_bytes: 0,
        })
    }

    /// Returns the next message of a file of `size` bytes; `None` at the end and after an
    /// interrupt, for which callers check.
    pub(super) fn next_message(
        &mut self,
        file: &mut File,
        size: u64,
        interrupt: &Interrupt,
    ) -> Result<Option<(MessageHeader, Vec<u8>)>, McapError> {
        loop {
            if interrupt.is_set() {
                return Ok(None);
            }
            let offset = match self.reader.next_event() {
                None => return Ok(None),
                Some(event) => match event? {
                    IndexedReadEvent::ReadChunkRequest { offset, .. } => offset,
                    IndexedReadEvent::Message { header, data } => {
                        return Ok(Some((header, data.to_vec())));
                    }
                },
            };
            let position = offset
                .checked_sub(RECORD_HEAD + SHORTEST)
                .ok_or(McapError::BadChunkStartOffset(offset))?;
            let records = read_chunk(file, position, size, self.limit)?;
            self.count_late(position, &records)?;
            self.reader.insert_chunk_record_data(offset, &records)?;
        }
    }

    /// Adds a chunk to `late_bytes` if it has messages later than the index states.
    fn count_late(&mut self, position: u64, records: &[u8]) -> Result<(), McapError> {
        let end = self.ends.get(&position).copied().unwrap_or(0);
        if ChunkContents::last_time(records)?.is_some_and(|last| last > end) {
            self.late_bytes = self.late_bytes.saturating_add(records.len() as u64);
        }
        match self.late_bytes <= self.limit as u64 {
            true => Ok(()),
            false => Err(McapError::ChunkTooLarge(self.late_bytes)),
        }
    }
}

/// Reads and unpacks the chunk whose record begins at `position`.
fn read_chunk(
    file: &mut File,
    position: u64,
    size: u64,
    limit: usize,
) -> Result<Vec<u8>, McapError> {
    file.seek(SeekFrom::Start(position))?;
    let mut file = BufReader::new(file);
    let mut head = [0; RECORD_HEAD as usize];
    file.read_exact(&mut head)?;
    let [opcode, length @ ..] = head;
    let length = u64::from_le_bytes(length);
    // Nothing is allocated for a length that reaches beyond the end of the file.
    let is_there = length <= size.saturating_sub(position + RECORD_HEAD);
    if opcode != op::CHUNK || !is_there {
        return Err(McapError::BadChunkStartOffset(position));
    }
    ChunkHead::read(&mut file, position, length)?.records(&mut file, limit)
}

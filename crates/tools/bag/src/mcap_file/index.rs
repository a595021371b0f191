//! Writes an index to the end of an MCAP file that lacks one. The file is changed where it is:
//! bytes after the last intact record are cut off, and nothing before them is copied.

use std::collections::BTreeMap;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use mcap::records::{ChunkIndex, MessageIndexEntry, Statistics, op};
use mcap::{MAGIC, Summary};

use super::read::has_index;
use super::scan::{Scan, scan};
use crate::error::ReadError;
use crate::interrupt::Interrupt;
use crate::unpacking::Source;

/// The result of writing an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Reindexed {
    /// The number of messages in the file.
    pub(crate) message_count: u64,
    /// Whether the file was changed.
    pub(crate) was_changed: bool,
    /// The number of bytes of incomplete records that were cut off.
    pub(crate) cut_bytes: u64,
    /// Other damage.
    pub(crate) damage: Option<String>,
}

/// Writes the index of a file that has no index.
pub(crate) fn reindex(
    path: &Path,
    limit: usize,
    interrupt: &Interrupt,
) -> Result<Reindexed, ReadError> {
    let source = Source::new(path, interrupt);
    if let Some(message_count) = has_index(&source, limit)? {
        return Ok(Reindexed { message_count, was_changed: false, cut_bytes: 0, damage: None });
    }
    let mut scan = scan(&source, limit)?;
    let size = std::fs::metadata(path).map_err(|error| ReadError::io(path, &error))?.len();
    append(path, &mut scan).map_err(|error| ReadError::io(path, &error))?;
    Ok(Reindexed {
        message_count: scan.summary.stats.map_or(0, |statistics| statistics.message_count),
        was_changed: true,
        cut_bytes: size.saturating_sub(scan.intact_end),
        damage: scan.damage,
    })
}

fn append(path: &Path, scan: &mut Scan) -> io::Result<()> {
    let mut file = feros_files::open_for_writing(path)?;
    file.set_len(scan.intact_end)?;
    let mut start = scan.intact_end;
    let mut end = Vec::new();
    for (channel, entries) in std::mem::take(&mut scan.missing_index) {
        let record = record(op::MESSAGE_INDEX, &message_index(channel, &entries));
        if let Some(index) = scan.summary.chunk_indexes.last_mut() {
            index.message_index_offsets.insert(channel, start);
            index.message_index_length += record.len() as u64;
        }
        start += record.len() as u64;
        end.extend(record);
    }
    let data_end = record(op::DATA_END, &[0; 4]);
    start += data_end.len() as u64;
    end.extend(data_end);
    end.extend(summary_section(&scan.summary, start));
    file.seek(SeekFrom::Start(scan.intact_end))?;
    let written = file.write_all(&end).and_then(|()| file.flush());
    if written.is_err() {
        // The file then has no index, and no part of an index either.
        file.set_len(scan.intact_end)?;
    }
    written
}

/// The summary, its offsets, the footer and the magic at the end; `start` is their position in the
/// file.
fn summary_section(summary: &Summary, start: u64) -> Vec<u8> {
    let mut schemas: Vec<_> = summary.schemas.values().collect();
    schemas.sort_by_key(|schema| schema.id);
    let mut channels: Vec<_> = summary.channels.values().collect();
    channels.sort_by_key(|channel| channel.id);
    let schemas = schemas.iter().map(|schema| {
        let head = [schema.id.to_le_bytes().to_vec(), text(&schema.name), text(&schema.encoding)];
        [head.concat(), sized(&schema.data)].concat()
    });
    let channels = channels.iter().map(|channel| {
        let schema_id = channel.schema.as_ref().map_or(0, |schema| schema.id);
        [
            channel.id.to_le_bytes().to_vec(),
            schema_id.to_le_bytes().to_vec(),
            text(&channel.topic),
            text(&channel.message_encoding),
            text_map(&channel.metadata),
        ]
        .concat()
    });
    let metadata = summary.metadata_indexes.iter().map(|index| {
        let place = [index.offset.to_le_bytes(), index.length.to_le_bytes()].concat();
        [place, text(&index.name)].concat()
    });
    let attachments = summary.attachment_indexes.iter().map(|index| {
        let numbers =
            [index.offset, index.length, index.log_time, index.create_time, index.data_size];
        let numbers: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        [numbers, text(&index.name), text(&index.media_type)].concat()
    });
    let groups: [(u8, Vec<Vec<u8>>); 6] = [
        (op::SCHEMA, schemas.collect()),
        (op::CHANNEL, channels.collect()),
        (op::STATISTICS, summary.stats.iter().map(statistics).collect()),
        (op::CHUNK_INDEX, summary.chunk_indexes.iter().map(chunk_index).collect()),
        (op::ATTACHMENT_INDEX, attachments.collect()),
        (op::METADATA_INDEX, metadata.collect()),
    ];
    let (mut out, mut offsets) = (Vec::new(), Vec::new());
    for (opcode, bodies) in groups.iter().filter(|(_, bodies)| !bodies.is_empty()) {
        let group_start = start + out.len() as u64;
        bodies.iter().for_each(|body| out.extend(record(*opcode, body)));
        let length = start + out.len() as u64 - group_start;
        let numbers = [group_start.to_le_bytes(), length.to_le_bytes()].concat();
        offsets.push([vec![*opcode], numbers].concat());
    }
    let offsets_start = start + out.len() as u64;
    offsets.iter().for_each(|body| out.extend(record(op::SUMMARY_OFFSET, body)));
    // 0 means that the summary has no checksum.
    let footer = [&start.to_le_bytes()[..], &offsets_start.to_le_bytes(), &[0; 4]].concat();
    out.extend(record(op::FOOTER, &footer));
    out.extend(MAGIC);
    out
}

fn record(opcode: u8, body: &[u8]) -> Vec<u8> {
    [&[opcode][..], &(body.len() as u64).to_le_bytes(), body].concat()
}

#[expect(clippy::cast_possible_truncation, reason = "the lengths were read from 32 bits of a file")]
fn sized(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as u32).to_le_bytes()[..], bytes].concat()
}

fn text(text: &str) -> Vec<u8> {
    sized(text.as_bytes())
}

fn text_map(map: &BTreeMap<String, String>) -> Vec<u8> {
    sized(
        &map.iter().flat_map(|(key, value)| [text(key), text(value)].concat()).collect::<Vec<_>>(),
    )
}

fn number_map(map: &BTreeMap<u16, u64>) -> Vec<u8> {
    let pair = |(key, value): (&u16, &u64)| [&key.to_le_bytes()[..], &value.to_le_bytes()].concat();
    sized(&map.iter().flat_map(pair).collect::<Vec<_>>())
}

fn message_index(channel: u16, entries: &[MessageIndexEntry]) -> Vec<u8> {
    let entry = |entry: &MessageIndexEntry| {
        [entry.log_time.to_le_bytes(), entry.offset.to_le_bytes()].concat()
    };
    [&channel.to_le_bytes()[..], &sized(&entries.iter().flat_map(entry).collect::<Vec<_>>())]
        .concat()
}

fn statistics(statistics: &Statistics) -> Vec<u8> {
    [
        &statistics.message_count.to_le_bytes()[..],
        &statistics.schema_count.to_le_bytes(),
        &statistics.channel_count.to_le_bytes(),
        &statistics.attachment_count.to_le_bytes(),
        &statistics.metadata_count.to_le_bytes(),
        &statistics.chunk_count.to_le_bytes(),
        &statistics.message_start_time.to_le_bytes(),
        &statistics.message_end_time.to_le_bytes(),
        &number_map(&statistics.channel_message_counts),
    ]
    .concat()
}

fn chunk_index(index: &ChunkIndex) -> Vec<u8> {
    [
        &index.message_start_time.to_le_bytes()[..],
        &index.message_end_time.to_le_bytes(),
        &index.chunk_start_offset.to_le_bytes(),
        &index.chunk_length.to_le_bytes(),
        &number_map(&index.message_index_offsets),
        &index.message_index_length.to_le_bytes(),
        &text(&index.compression),
        &index.compressed_size.to_le_bytes(),
        &index.uncompressed_size.to_le_bytes(),
    ]
    .concat()
}

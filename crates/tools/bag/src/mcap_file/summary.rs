//! Reads the index at the end of a file. A hostile summary makes the summary reader of `mcap`
//! unpack chunks and overflow, so this module reads the records one by one.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};

use mcap::records::{Record, op};
use mcap::{MAGIC, McapError, Summary};

use super::definitions::Definitions;
use super::form::RECORD_HEAD;

/// The size of the footer's body: the start of the summary, the start of its offsets, and a
/// checksum.
const FOOTER_BODY: usize = 8 + 8 + 4;
/// The size of a file's end: the footer and the magic after it.
const END: usize = RECORD_HEAD as usize + FOOTER_BODY + MAGIC.len();

/// Reads the index of a file; `None` if the file has no index. Records of more than `limit` bytes
/// are errors.
pub(super) fn read_summary(file: &mut File, limit: usize) -> Result<Option<Summary>, McapError> {
    let size = file.metadata()?.len();
    let footer_at = size.checked_sub(END as u64).ok_or(McapError::UnexpectedEof)?;
    let mut end = [0; END];
    file.seek(SeekFrom::Start(footer_at))?;
    file.read_exact(&mut end)?;
    if end[END - MAGIC.len()..] != *MAGIC {
        return Err(McapError::BadMagic);
    }
    let start = end[RECORD_HEAD as usize..][..8].try_into().map_or(0, u64::from_le_bytes);
    if start == 0 {
        return Ok(None);
    }
    if end[0] != op::FOOTER || start > footer_at {
        return Err(McapError::BadFooter);
    }
    file.seek(SeekFrom::Start(start))?;
    let mut section = BufReader::new(file).take(footer_at - start);
    let (mut summary, mut definitions) = (Summary::default(), Definitions::default());
    while let Some((opcode, body)) = next_record(&mut section, limit)? {
        // Other records do not belong in a summary.
        if !matches!(
            opcode,
            op::SCHEMA
                | op::CHANNEL
                | op::CHUNK_INDEX
                | op::ATTACHMENT_INDEX
                | op::METADATA_INDEX
                | op::STATISTICS
        ) {
            continue;
        }
        match definitions.add(mcap::parse_record(opcode, &body)?.into_owned()) {
            Some(Record::ChunkIndex(index)) => summary.chunk_indexes.push(index),
            Some(Record::AttachmentIndex(index)) => summary.attachment_indexes.push(index),
            Some(Record::MetadataIndex(index)) => summary.metadata_indexes.push(index),
            Some(Record::Statistics(statistics)) => summary.stats = Some(statistics),
            _ => {}
        }
    }
    definitions.finish(&mut summary);
    Ok(Some(summary))
}

fn next_record(
    section: &mut std::io::Take<impl Read>,
    limit: usize,
) -> Result<Option<(u8, Vec<u8>)>, McapError> {
    if section.limit() == 0 {
        return Ok(None);
    }
    let mut head = [0; RECORD_HEAD as usize];
    section.read_exact(&mut head)?;
    let [opcode, length @ ..] = head;
    let length = u64::from_le_bytes(length);
    // Nothing is allocated for a length that reaches beyond the end of the section.
    if length > section.limit() {
        return Err(McapError::UnexpectedEof);
    }
    let body_bytes = usize::try_from(length).ok().filter(|length| *length <= limit);
    let body_bytes = body_bytes.ok_or(McapError::RecordTooLarge { opcode, len: length })?;
    let mut body = vec![0; body_bytes];
    section.read_exact(&mut body)?;
    Ok(Some((opcode, body)))
}

//! Writes one MCAP file: chunks of messages, and the index at the end of the file. A chunk that has
//! ended stays readable even if the process dies.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mcap::records::{MessageHeader, Metadata};
use mcap::{McapError, WriteOptions};

use super::form::{HASH_KEY, METADATA_KEY, METADATA_NAME, PROFILE, QOS_KEY, to_mcap_time};
use super::index;
use crate::interrupt::Interrupt;
use crate::message::BagTopic;
use crate::qos;
use crate::unpacking::DEFAULT_MAX_CHUNK_BYTES;

/// How the chunks of a file are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Compression {
    /// No compression: writing is as fast as the disk.
    #[default]
    None,
    /// zstd at this level, from 1 (fast) to 22; 0 selects its default.
    Zstd {
        /// The level.
        level: u32,
    },
    /// LZ4.
    Lz4,
}

/// The options for writing MCAP files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct McapOptions {
    /// How chunks are compressed.
    pub compression: Compression,
    /// The bytes of messages after which a chunk ends: a killed recorder loses at most this many.
    pub chunk_bytes: u64,
    /// Whether chunks have a checksum.
    pub checksums: bool,
}

impl Default for McapOptions {
    /// Returns options for uncompressed chunks of 1 MiB with checksums.
    fn default() -> Self {
        Self { compression: Compression::None, chunk_bytes: 1 << 20, checksums: true }
    }
}

/// Bytes that are buffered before they go to the system; a larger write goes there directly,
/// without a copy.
const BUFFER_BYTES: usize = 64 << 10;

/// A file that counts the bytes written so far.
struct Output {
    inner: BufWriter<File>,
    position: u64,
    size: Arc<AtomicU64>,
}

impl Output {
    fn advance(&mut self, bytes: usize) {
        self.position += bytes as u64;
        self.size.fetch_max(self.position, Ordering::Relaxed);
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        self.advance(written);
        Ok(written)
    }

    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.inner.write_all(bytes)?;
        self.advance(bytes.len());
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        // `mcap` asks for the position for each chunk; that needs no flush of the buffer.
        if let SeekFrom::Current(0) = to {
            return Ok(self.position);
        }
        self.position = self.inner.seek(to)?;
        Ok(self.position)
    }
}

/// A file that is being written.
pub(crate) struct McapFileWriter {
    path: PathBuf,
    /// `None` once the file has ended.
    writer: Option<mcap::Writer<Output>>,
    size: Arc<AtomicU64>,
}

impl McapFileWriter {
    /// Creates the file, which must not exist.
    pub(crate) fn create(path: &Path, options: &McapOptions) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).read(true).create_new(true).open(path)?;
        let size = Arc::<AtomicU64>::default();
        let inner = BufWriter::with_capacity(BUFFER_BYTES, file);
        let output = Output { inner, position: 0, size: size.clone() };
        let (compression, level) = match options.compression {
            Compression::None => (None, 0),
            Compression::Zstd { level } => (Some(mcap::Compression::Zstd), level),
            Compression::Lz4 => (Some(mcap::Compression::Lz4), 0),
        };
        let mut writer = WriteOptions::new()
            .profile(PROFILE)
            .library(concat!("feros-bag ", env!("CARGO_PKG_VERSION")))
            .compression(compression)
            .compression_level(level)
            .compression_threads(0)
            .chunk_size(Some(options.chunk_bytes))
            .calculate_chunk_crcs(options.checksums)
            // Chunks have their own checksums, so the data section needs no checksum.
            .calculate_data_section_crc(false)
            .create(output)
            .map_err(into_io)?;
        // The header is written at once: a file that is empty after a kill would not be a bag.
        writer.flush().map_err(into_io)?;
        Ok(Self { path: path.to_owned(), writer: Some(writer), size })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The number of bytes written.
    pub(crate) fn size(&self) -> u64 {
        self.size.load(Ordering::Relaxed)
    }

    fn writer(&mut self) -> io::Result<&mut mcap::Writer<Output>> {
        self.writer.as_mut().ok_or_else(|| io::Error::other("the file has ended"))
    }

    /// Adds a topic; returns the number of its channel in the file.
    pub(crate) fn add_topic(&mut self, topic: &BagTopic) -> io::Result<u16> {
        let metadata = &topic.metadata;
        let mut profiles = String::new();
        qos::write_profiles(&mut profiles, &metadata.offered_qos_profiles, "");
        let described: BTreeMap<String, String> = [
            (QOS_KEY.to_owned(), profiles),
            (HASH_KEY.to_owned(), metadata.type_description_hash.clone()),
        ]
        .into();
        let schema = &topic.schema;
        let writer = self.writer()?;
        let schema_id = writer
            .add_schema(&metadata.type_name, &schema.encoding, schema.text.as_bytes())
            .map_err(into_io)?;
        let format = &metadata.serialization_format;
        writer.add_channel(schema_id, &metadata.name, format, &described).map_err(into_io)
    }

    /// Writes a message of a topic that was added.
    pub(crate) fn write(
        &mut self,
        channel_id: u16,
        sequence: u32,
        log_time: i64,
        publish_time: i64,
        data: &[u8],
    ) -> io::Result<()> {
        let header = MessageHeader {
            channel_id,
            sequence,
            log_time: to_mcap_time(log_time),
            publish_time: to_mcap_time(publish_time),
        };
        self.writer()?.write_to_known_channel(&header, data).map_err(into_io)
    }

    /// Ends the current chunk, so that it is in the file even if the process dies.
    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.writer()?.flush().map_err(into_io)
    }

    /// Writes the bag's metadata and the index into the file.
    pub(crate) fn finish(&mut self, bag_metadata: &str) -> io::Result<()> {
        let metadata = Metadata {
            name: METADATA_NAME.to_owned(),
            metadata: [(METADATA_KEY.to_owned(), bag_metadata.to_owned())].into(),
        };
        let writer = self.writer()?;
        writer.write_metadata(&metadata).map_err(into_io)?;
        writer.finish().map_err(into_io)?;
        if let Some(writer) = self.writer.take() {
            writer.into_inner().inner.flush()?;
        }
        Ok(())
    }

    /// Ends the writing of a file that is to be removed: nothing more is written.
    pub(crate) fn abandon(mut self) {
        if let Some(writer) = self.writer.take() {
            let _ = writer.into_inner().inner.into_parts();
        }
    }

    /// Ends the file after an error: cuts off an incomplete chunk, and writes the index if the disk
    /// has room for it. Returns the number of messages in the index, or 0 if no index was written.
    pub(crate) fn salvage(&mut self) -> u64 {
        if let Some(writer) = self.writer.take() {
            // The buffer holds a part of an incomplete chunk.
            let _ = writer.into_inner().inner.into_parts();
        }
        match index::reindex(&self.path, DEFAULT_MAX_CHUNK_BYTES, &Interrupt::default()) {
            Ok(reindexed) => reindexed.message_count,
            Err(_) => 0,
        }
    }
}

/// Returns the system's error if the error contains one.
fn into_io(error: McapError) -> io::Error {
    match error {
        McapError::Io(error) => error,
        other => io::Error::other(other.to_string()),
    }
}

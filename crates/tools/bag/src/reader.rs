//! Reads bags: a folder with files of one storage, or a single such file, whole or damaged.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::ReadError;
use crate::interrupt::Interrupt;
use crate::mcap_file::{McapFile, McapMessages};
use crate::message::{BagMessage, BagTopic, MessageFilter};
use crate::metadata::{BagMetadata, FileInformation, METADATA_FILE, TimeRange, TopicInformation};
use crate::sqlite_file::{SqliteFile, SqliteMessages};
use crate::storage::{Storage, stem};
use crate::unpacking::{DEFAULT_MAX_CHUNK_BYTES, Source, most_unpacked, too_far};

/// The limit on bytes of `metadata.yaml`.
const MAX_METADATA_BYTES: u64 = 64 << 20;

/// The options of a reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReaderOptions {
    /// The limit on a chunk or message that is held at once, in bytes; it bounds the memory that a
    /// bag can demand.
    pub max_chunk_bytes: usize,
    /// Whether the files are those that `metadata.yaml` names. If false, all bag files of the
    /// folder are read.
    pub use_metadata_file: bool,
    /// The storage that the bag must have; `None` for any storage.
    pub storage: Option<Storage>,
    /// A flag that stops opening and reading.
    pub interrupt: Interrupt,
}

impl Default for ReaderOptions {
    /// Returns options with chunks of up to 1 GiB, and with the files that `metadata.yaml` names.
    fn default() -> Self {
        Self {
            max_chunk_bytes: DEFAULT_MAX_CHUNK_BYTES,
            use_metadata_file: true,
            storage: None,
            interrupt: Interrupt::default(),
        }
    }
}

/// An open bag. Its metadata comes from its files, so it is correct even if the recorder was killed
/// before it could write `metadata.yaml`.
pub struct BagReader {
    path: PathBuf,
    limit: usize,
    interrupt: Interrupt,
    metadata: BagMetadata,
    files: Vec<OpenFile>,
    topics: Vec<Arc<BagTopic>>,
    warnings: Vec<String>,
}

struct OpenFile {
    time: Option<TimeRange>,
    content: Content,
}

enum Content {
    Mcap(Box<McapFile>),
    Sqlite(SqliteFile),
}

impl BagReader {
    /// Opens a bag: its folder, or one of its files.
    ///
    /// # Errors
    /// When there is no bag, or one of its files does not belong to ROS 2.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        Self::open_with(path.as_ref(), &ReaderOptions::default())
    }

    /// Like [`BagReader::open`], but with options that the caller chooses.
    ///
    /// # Errors
    /// The errors of [`BagReader::open`]; and [`ReadError::OtherStorage`] if the bag does not have
    /// the storage that the options name.
    pub fn open_with(path: &Path, options: &ReaderOptions) -> Result<Self, ReadError> {
        let named = if options.use_metadata_file { read_metadata_file(path)? } else { None };
        let paths = files_of(path, named.as_ref())?;
        refuse_other_storages(&paths, options.storage)?;
        let mut reader = Self {
            path: path.to_owned(),
            limit: options.max_chunk_bytes,
            interrupt: options.interrupt.clone(),
            metadata: BagMetadata {
                time: None,
                message_count: 0,
                topics: Vec::new(),
                files: Vec::new(),
                ..named.clone().unwrap_or_default()
            },
            files: Vec::new(),
            topics: Vec::new(),
            warnings: Vec::new(),
        };
        let mut counts = BTreeMap::new();
        for path in &paths {
            reader.open_file(path, named.is_some(), &mut counts)?;
        }
        reader.metadata.topics = counts
            .into_iter()
            .map(|(_, (topic, message_count))| TopicInformation {
                topic: topic.metadata.clone(),
                message_count,
            })
            .collect();
        Ok(reader)
    }

    fn open_file(
        &mut self,
        path: &Path,
        is_described: bool,
        counts: &mut BTreeMap<(String, String), (Arc<BagTopic>, u64)>,
    ) -> Result<(), ReadError> {
        let is_packed = path.extension().is_some_and(|extension| extension == "zstd");
        let storage = Storage::of(path).unwrap_or(Storage::Mcap);
        let (content, topics, message_count, time) = if storage == Storage::Sqlite3 {
            let file = SqliteFile::open(path, is_packed, self.limit, &self.interrupt)?;
            let (topics, count, time) = (file.topics(), file.message_count(), file.time);
            (Content::Sqlite(file), topics, count, time)
        } else {
            let source = match is_packed {
                true => Source::unpack(path, &self.interrupt)?,
                false => Source::new(path, &self.interrupt),
            };
            let mut file = McapFile::open(source, self.limit)?;
            if let Some(damage) = &file.damage {
                self.warnings.push(format!(
                    "{} was not closed properly ({damage}): only its intact part is read",
                    path.display()
                ));
            }
            if let Some(reason) = &file.unchecked {
                self.warnings.push(format!("{}: {reason}", path.display()));
            }
            if file.is_beyond_order() {
                self.warnings.push(format!(
                    "{} has chunks that overlap in time and have {} bytes, more than the {} bytes that a reader holds \
                     at once: its messages are read in the order of the file. `feros bag slice` makes a smaller \
                     recording",
                    path.display(),
                    file.overlapping_bytes,
                    file.limit
                ));
            }
            let inner = file.bag_metadata.take();
            if let Some(inner) = inner.filter(|_| !is_described) {
                self.metadata.custom_data.extend(inner.custom_data);
                self.metadata.ros_distro = inner.ros_distro;
            }
            let (topics, count, time) = (file.topics(), file.message_count(), file.time());
            (Content::Mcap(Box::new(file)), topics, count, time)
        };
        self.metadata.storage_identifier = storage.name().to_owned();
        for (topic, count) in topics {
            let key = (topic.metadata.name.clone(), topic.metadata.type_name.clone());
            let known = counts.entry(key).or_insert_with(|| {
                self.topics.push(topic.clone());
                (topic, 0)
            });
            known.1 += count;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        self.metadata.files.push(FileInformation { path: name, time, message_count });
        self.metadata.message_count += message_count;
        self.metadata.time = TimeRange::joined(self.metadata.time, time);
        self.files.push(OpenFile { time, content });
        Ok(())
    }

    /// The bag's folder or file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The bag's metadata, according to its files.
    pub fn metadata(&self) -> &BagMetadata {
        &self.metadata
    }

    /// The topics. A name may appear several times, with different types.
    pub fn topics(&self) -> &[Arc<BagTopic>] {
        &self.topics
    }

    /// Returns the flag with which another thread can stop the reading.
    pub fn interrupt(&self) -> &Interrupt {
        &self.interrupt
    }

    /// Problems that do not prevent reading, such as a file without its end.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Whether every file has its index. Without one, opening reads the whole file.
    pub fn is_indexed(&self) -> bool {
        self.files.iter().all(|file| match &file.content {
            Content::Mcap(file) => file.has_index,
            Content::Sqlite(_) => true,
        })
    }

    /// The size of the files in bytes.
    pub fn size_bytes(&self) -> u64 {
        let files = self.metadata.files.iter().map(|file| match self.path.is_dir() {
            true => self.path.join(&file.path),
            false => self.path.clone(),
        });
        files.filter_map(|path| Some(std::fs::metadata(path).ok()?.len())).sum()
    }

    /// The messages that pass a filter, file after file, and those of each file in order of time.
    /// If the chunks of a file that overlap in time exceed `max_chunk_bytes`, the messages of this
    /// file come as they are stored, and [`BagReader::warnings`] has an entry for the file.
    ///
    /// # Errors
    /// When the first file cannot be read; the iterator returns later errors.
    pub fn messages(&self, filter: &MessageFilter) -> Result<BagMessages<'_>, ReadError> {
        let is_compressed = self.metadata.compression_mode.eq_ignore_ascii_case("message");
        if is_compressed && self.metadata.compression_format != "zstd" {
            let format = self.metadata.compression_format.clone();
            return Err(ReadError::UnknownCompression { path: self.path.clone(), format });
        }
        let mut messages = BagMessages {
            reader: self,
            filter: filter.clone(),
            next_file: 0,
            current: None,
            is_compressed,
        };
        messages.advance()?;
        Ok(messages)
    }
}

/// The messages of a bag. The iterator ends after an error.
pub struct BagMessages<'a> {
    reader: &'a BagReader,
    filter: MessageFilter,
    next_file: usize,
    current: Option<FileMessages>,
    is_compressed: bool,
}

enum FileMessages {
    Mcap(McapMessages),
    Sqlite(SqliteMessages),
}

impl BagMessages<'_> {
    /// Goes to the next file with messages in the time range.
    fn advance(&mut self) -> Result<(), ReadError> {
        self.current = None;
        while let Some(file) = self.reader.files.get(self.next_file) {
            self.next_file += 1;
            let overlaps = file.time.is_some_and(|time| {
                self.filter.start.is_none_or(|start| time.end >= start)
                    && self.filter.end.is_none_or(|end| time.start <= end)
            });
            if overlaps {
                self.current = Some(match &file.content {
                    Content::Mcap(file) => FileMessages::Mcap(file.messages(&self.filter)?),
                    Content::Sqlite(file) => FileMessages::Sqlite(file.messages(&self.filter)?),
                });
                return Ok(());
            }
        }
        Ok(())
    }

    fn unpacked(&self, mut message: BagMessage) -> Result<BagMessage, ReadError> {
        if self.is_compressed {
            let (path, packed) = (&self.reader.path, message.data.len() as u64);
            let limit = most_unpacked(packed, self.reader.limit);
            let decoder = zstd::stream::Decoder::new(&message.data[..]);
            let mut data = Vec::new();
            decoder
                .and_then(|decoder| decoder.take(limit as u64 + 1).read_to_end(&mut data))
                .map_err(|error| ReadError::malformed(path, error))?;
            let bytes = data.len() as u64;
            if data.len() > self.reader.limit {
                let (path, limit) = (path.clone(), self.reader.limit);
                return Err(ReadError::TooLarge { path, bytes, limit });
            }
            if data.len() > limit {
                return Err(ReadError::malformed(path, too_far(packed, bytes)));
            }
            message.data = data;
        }
        Ok(message)
    }
}

impl Iterator for BagMessages<'_> {
    type Item = Result<BagMessage, ReadError>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let next = match self.current.as_mut()? {
                FileMessages::Mcap(messages) => messages.next_message(),
                FileMessages::Sqlite(messages) => messages.next_message(),
            };
            match next {
                Some(Ok(message)) => return Some(self.unpacked(message)),
                Some(Err(error)) => {
                    self.current = None;
                    return Some(Err(error));
                }
                None => {
                    if let Err(error) = self.advance() {
                        return Some(Err(error));
                    }
                }
            }
        }
    }
}

/// Whether the name is that of a bag's file.
fn is_bag_file(path: &Path) -> bool {
    Storage::of(path).is_some()
}

/// Refuses files that do not have the storage that the caller named. rosbag2 opens each file with
/// the plugin of that storage, which then fails.
fn refuse_other_storages(paths: &[PathBuf], named: Option<Storage>) -> Result<(), ReadError> {
    let Some(named) = named else { return Ok(()) };
    let other = paths.iter().find_map(|path| {
        let found = Storage::of(path).filter(|found| *found != named)?;
        Some(ReadError::OtherStorage { path: path.clone(), found, named })
    });
    other.map_or(Ok(()), Err)
}

/// Returns the content of `metadata.yaml`; `None` if the file does not exist.
fn read_metadata_file(folder: &Path) -> Result<Option<BagMetadata>, ReadError> {
    let Some(text) = metadata_text(folder)? else { return Ok(None) };
    BagMetadata::from_yaml(&text)
        .map(Some)
        .map_err(|source| ReadError::Metadata { path: folder.join(METADATA_FILE), source })
}

/// Returns the text of `metadata.yaml`; `None` if the file does not exist.
pub(crate) fn metadata_text(folder: &Path) -> Result<Option<String>, ReadError> {
    let path = folder.join(METADATA_FILE);
    if !path.exists() {
        return Ok(None);
    }
    feros_files::read_to_string(&path, MAX_METADATA_BYTES)
        .map(Some)
        .map_err(|error| ReadError::io(&path, &error))
}

/// The files of a bag, in the order in which they were written.
fn files_of(path: &Path, named: Option<&BagMetadata>) -> Result<Vec<PathBuf>, ReadError> {
    const OF_ROS1: &str = "it is a bag of ROS 1; `rosbags-convert` of the package rosbags (PyPI) \
                           converts it to ROS 2";
    let not_a_bag =
        |reason: &str| ReadError::NotABag { path: path.to_owned(), reason: reason.into() };
    if path.is_file() {
        return match is_bag_file(path) {
            true => Ok(vec![path.to_owned()]),
            false if is_of_ros1(path) => Err(not_a_bag(OF_ROS1)),
            false => Err(not_a_bag("its name ends neither with .mcap nor with .db3")),
        };
    }
    let Ok(entries) = std::fs::read_dir(path) else {
        return Err(not_a_bag(match path.exists() {
            true => "it is neither a folder nor a regular file",
            false => "there is no such folder or file",
        }));
    };
    let paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    let mut listed: Vec<PathBuf> = paths.iter().filter(|path| is_bag_file(path)).cloned().collect();
    listed.sort_by_key(|path| (number_in(path), path.clone()));
    if let Some(named) = named {
        // Only files in the folder itself are accepted, since the metadata may be hostile.
        let names = named.files.iter().filter_map(|file| Path::new(&file.path).file_name());
        let in_order: Vec<PathBuf> = names.map(|name| path.join(name)).collect();
        if !in_order.is_empty() {
            if let Some(missing) = in_order.iter().find(|file| !listed.contains(file)) {
                let reason = format!("its file {} is missing", missing.display());
                return Err(not_a_bag(&reason));
            }
            return Ok(in_order);
        }
    }
    if listed.is_empty() {
        let is_it = |path: &&PathBuf| {
            path.extension().is_some_and(|extension| extension == "bag") && is_of_ros1(path)
        };
        return Err(match paths.iter().find(is_it) {
            Some(file) => ReadError::NotABag { path: file.clone(), reason: OF_ROS1.into() },
            None => not_a_bag("it contains no .mcap or .db3 file"),
        });
    }
    Ok(listed)
}

/// Whether a file begins like a ROS 1 bag.
fn is_of_ros1(path: &Path) -> bool {
    const BEGIN: &[u8] = b"#ROSBAG V";
    let mut begin = [0; BEGIN.len()];
    let read = feros_files::open(path).and_then(|mut file| file.read_exact(&mut begin));
    read.is_ok() && begin == BEGIN
}

/// The number at the end of a bag file's name.
fn number_in(path: &Path) -> u64 {
    let name = stem(path);
    let stem = name.rsplit_once('.').map_or(&*name, |(stem, _)| stem);
    stem.rsplit_once('_').and_then(|(_, number)| number.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_come_in_the_order_of_their_numbers() {
        let number = |name: &str| number_in(Path::new(name));
        assert_eq!(number("bag_2.mcap"), 2);
        assert_eq!(number("a/my_bag_10.db3.zstd"), 10);
        assert_eq!(number("bag.mcap"), 0);
    }
}

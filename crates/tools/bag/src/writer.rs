//! Writes bags: a folder of MCAP files, split by size and time, with `metadata.yaml`.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use crate::error::WriteError;
use crate::interrupt::Interrupt;
use crate::mcap_file::{McapFile, McapFileWriter, McapOptions};
use crate::message::BagTopic;
use crate::metadata::{
    BagMetadata, FileInformation, METADATA_FILE, TimeRange, TopicInformation, UNKNOWN_DISTRO,
};
use crate::unpacking::{DEFAULT_MAX_CHUNK_BYTES, Source};

/// The options for writing a bag.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WriterOptions {
    /// The options for the files of the bag.
    pub storage: McapOptions,
    /// The size of a file, in bytes, after which the next one begins; 0 means never.
    pub max_file_bytes: u64,
    /// The time range of a file's messages after which the next file begins; zero means never.
    pub max_file_duration: Duration,
    /// Custom entries for the metadata.
    pub custom_data: BTreeMap<String, String>,
    /// The ROS distribution that the metadata names; `unknown` by default.
    pub ros_distro: String,
}

impl Default for WriterOptions {
    /// Returns options for a single file without compression.
    fn default() -> Self {
        Self {
            storage: McapOptions::default(),
            max_file_bytes: 0,
            max_file_duration: Duration::ZERO,
            custom_data: BTreeMap::new(),
            ros_distro: UNKNOWN_DISTRO.to_owned(),
        }
    }
}

/// The number of a topic in a bag that is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TopicId(usize);

/// A bag that is being written. It ends with [`BagWriter::finish`], or when it is dropped.
pub struct BagWriter {
    folder: PathBuf,
    /// The folders that this writer created: that of the bag, and its missing parents.
    created: Vec<PathBuf>,
    name: String,
    options: WriterOptions,
    /// `None` once the bag has ended.
    file: Option<McapFileWriter>,
    topics: Vec<WrittenTopic>,
    /// The indexes of `topics` by name and type.
    known: HashMap<(String, String), usize>,
    /// The files; the last one is being written.
    files: Vec<FileInformation>,
    /// The numbers of lost messages by topic.
    lost: BTreeMap<String, u64>,
}

struct WrittenTopic {
    topic: Arc<BagTopic>,
    /// The topic's channel in the file that is being written.
    channel: u16,
    message_count: u64,
}

/// A continuation in another file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Split {
    /// The file that was ended.
    pub closed: PathBuf,
    /// The file that was begun.
    pub opened: PathBuf,
}

impl BagWriter {
    /// Creates a bag in a new folder, along with the folder's missing parents.
    ///
    /// # Errors
    /// When the folder exists already, or the system does not let it be created.
    pub fn create(folder: &Path, options: WriterOptions) -> Result<Self, WriteError> {
        let created = create_folder(folder)?;
        let name = folder
            .file_name()
            .map_or_else(|| "rosbag2".to_owned(), |name| name.to_string_lossy().into_owned());
        let mut writer = Self {
            folder: folder.to_owned(),
            created,
            name,
            options,
            file: None,
            topics: Vec::new(),
            known: HashMap::new(),
            files: Vec::new(),
            lost: BTreeMap::new(),
        };
        if let Err(error) = writer.open_file().and_then(|()| writer.write_metadata()) {
            // What cannot be removed either is only an empty beginning.
            let _ = writer.discard();
            return Err(WriteError::io(folder, &error, 0));
        }
        Ok(writer)
    }

    /// The folder of the bag.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the number of messages that were written.
    pub fn message_count(&self) -> u64 {
        self.files.iter().map(|file| file.message_count).sum()
    }

    /// Adds a topic to the bag; adding it again returns the same number.
    ///
    /// # Errors
    /// When the topic cannot be written, or a file has too many topics.
    pub fn add_topic(&mut self, topic: BagTopic) -> Result<TopicId, WriteError> {
        let key = (topic.metadata.name.clone(), topic.metadata.type_name.clone());
        if let Some(index) = self.known.get(&key) {
            return Ok(TopicId(*index));
        }
        let Some(file) = &mut self.file else { return Err(WriteError::Ended) };
        if self.topics.len() >= usize::from(u16::MAX) {
            let (path, topic) = (file.path().to_owned(), topic.metadata.name);
            return Err(WriteError::TooManyTopics { path, topic });
        }
        match file.add_topic(&topic) {
            Ok(channel) => {
                let topic = Arc::new(topic);
                let index = self.topics.len();
                self.topics.push(WrittenTopic { topic, channel, message_count: 0 });
                self.known.insert(key, index);
                Ok(TopicId(index))
            }
            Err(error) => Err(self.fail(&error)),
        }
    }

    /// Writes a message; times are in nanoseconds since 1970. Returns a split if this message is
    /// the first of another file.
    ///
    /// # Errors
    /// When the message cannot be written. The bag has then ended, and the part written before is
    /// intact.
    ///
    /// # Panics
    /// When the topic belongs to another bag, which has more topics.
    pub fn write(
        &mut self,
        topic: TopicId,
        sequence: u32,
        log_time: i64,
        publish_time: i64,
        data: &[u8],
    ) -> Result<Option<Split>, WriteError> {
        let split = if self.is_full(log_time) { Some(self.split()?) } else { None };
        let Some(file) = &mut self.file else { return Err(WriteError::Ended) };
        let written = &mut self.topics[topic.0];
        if let Err(error) = file.write(written.channel, sequence, log_time, publish_time, data) {
            return Err(self.fail(&error));
        }
        written.message_count += 1;
        if let Some(information) = self.files.last_mut() {
            information.message_count += 1;
            information.time = TimeRange::with(information.time, log_time);
        }
        Ok(split)
    }

    /// Ends the file and begins the next one.
    ///
    /// # Errors
    /// The errors of [`BagWriter::write`].
    pub fn split(&mut self) -> Result<Split, WriteError> {
        let metadata = self.metadata().body();
        let Some(file) = &mut self.file else { return Err(WriteError::Ended) };
        let closed = file.path().to_owned();
        if let Err(error) = file.finish(&metadata) {
            return Err(self.fail(&error));
        }
        if let Err(error) = self.open_file().and_then(|()| self.write_metadata()) {
            return Err(self.fail(&error));
        }
        let opened = self.file.as_ref().map(|file| file.path().to_owned()).unwrap_or_default();
        Ok(Split { closed, opened })
    }

    /// Ensures that all written messages survive in the file even if the process dies.
    ///
    /// # Errors
    /// The errors of [`BagWriter::write`].
    pub fn flush(&mut self) -> Result<(), WriteError> {
        let Some(file) = &mut self.file else { return Err(WriteError::Ended) };
        file.flush().map_err(|error| self.fail(&error))
    }

    /// Adds to the number of lost messages of a topic, which the metadata contains.
    pub fn note_lost(&mut self, topic: &str, count: u64) {
        if count > 0 {
            *self.lost.entry(topic.to_owned()).or_default() += count;
        }
    }

    /// Ends the bag.
    ///
    /// # Errors
    /// The errors of [`BagWriter::write`].
    pub fn finish(mut self) -> Result<BagMetadata, WriteError> {
        self.complete()
    }

    /// Ends the bag as [`BagWriter::finish`] does, but [`BagWriter::discard`] can still remove it.
    ///
    /// # Errors
    /// The errors of [`BagWriter::write`].
    pub fn complete(&mut self) -> Result<BagMetadata, WriteError> {
        self.end()?;
        Ok(self.metadata())
    }

    /// Removes the bag, whether it has ended or not: its files, its folder, and the parents that
    /// [`BagWriter::create`] created, unless something else lies in them.
    ///
    /// # Errors
    /// When the bag's folder is still there, because the system does not let a file be removed, or
    /// the folder contains files that this writer did not write.
    pub fn discard(mut self) -> io::Result<()> {
        if let Some(file) = self.file.take() {
            file.abandon();
        }
        // The last file may have been created without becoming a part of the bag.
        let files = (0..=self.files.len()).map(|number| self.file_name(number));
        for name in files.chain([METADATA_FILE.to_owned()]) {
            if let Err(error) = std::fs::remove_file(self.folder.join(name))
                && error.kind() != io::ErrorKind::NotFound
            {
                return Err(error);
            }
        }
        std::fs::remove_dir(&self.folder)?;
        // A parent that is not empty belongs to others as well by now.
        let mut parents = self.created.iter().rev().skip(1);
        let _ = parents.try_for_each(std::fs::remove_dir);
        Ok(())
    }

    fn end(&mut self) -> Result<(), WriteError> {
        let metadata = self.metadata().body();
        let Some(file) = &mut self.file else { return Err(WriteError::Ended) };
        if let Err(error) = file.finish(&metadata).and_then(|()| self.write_metadata()) {
            return Err(self.fail(&error));
        }
        self.file = None;
        Ok(())
    }

    /// Ends the bag after an error, with its intact part.
    fn fail(&mut self, error: &io::Error) -> WriteError {
        let Some(mut file) = self.file.take() else { return WriteError::Ended };
        file.salvage();
        let path = file.path().to_owned();
        // This counts the messages in the file instead of those that were written, since the last
        // chunk may be gone.
        let source = Source::new(&path, &Interrupt::default());
        if let (Some(information), Ok(salvaged)) =
            (self.files.last_mut(), McapFile::open(source, DEFAULT_MAX_CHUNK_BYTES))
        {
            let gone = information.message_count.saturating_sub(salvaged.message_count());
            information.message_count = salvaged.message_count();
            information.time = salvaged.time();
            self.note_lost("(not written)", gone);
        }
        // A full disk may have no room for the metadata, which `feros bag reindex` can rebuild.
        let _ = self.write_metadata();
        WriteError::io(&path, error, self.message_count())
    }

    fn is_full(&self, log_time: i64) -> bool {
        let (Some(file), Some(information)) = (&self.file, self.files.last()) else { return false };
        let WriterOptions { max_file_bytes, max_file_duration, .. } = self.options;
        let Some(time) = information.time else { return false };
        let age = u128::try_from(log_time.saturating_sub(time.start)).unwrap_or(0);
        (max_file_bytes > 0 && file.size() >= max_file_bytes)
            || (!max_file_duration.is_zero() && age >= max_file_duration.as_nanos())
    }

    fn file_name(&self, number: usize) -> String {
        format!("{}_{number}.mcap", self.name)
    }

    fn open_file(&mut self) -> io::Result<()> {
        let name = self.file_name(self.files.len());
        let mut file = McapFileWriter::create(&self.folder.join(&name), &self.options.storage)?;
        for known in &mut self.topics {
            known.channel = file.add_topic(&known.topic)?;
        }
        self.file = Some(file);
        self.files.push(FileInformation { path: name, time: None, message_count: 0 });
        Ok(())
    }

    fn metadata(&self) -> BagMetadata {
        let topics = self.topics.iter().map(|known| TopicInformation {
            topic: known.topic.metadata.clone(),
            message_count: known.message_count,
        });
        let times = self.files.iter().map(|file| file.time);
        let mut custom_data = self.options.custom_data.clone();
        if !self.lost.is_empty() {
            let total: u64 = self.lost.values().sum();
            custom_data.insert("lost_messages".to_owned(), total.to_string());
            let by_topic = self.lost.iter();
            custom_data.extend(
                by_topic.map(|(topic, lost)| (format!("lost_messages {topic}"), lost.to_string())),
            );
        }
        BagMetadata {
            time: times.fold(None, TimeRange::joined),
            message_count: self.message_count(),
            topics: topics.collect(),
            files: self.files.clone(),
            custom_data,
            ros_distro: self.options.ros_distro.clone(),
            ..BagMetadata::default()
        }
    }

    /// Replaces `metadata.yaml` as a whole, so that readers find either the old or the new file.
    fn write_metadata(&self) -> io::Result<()> {
        replace_file(&self.folder.join(METADATA_FILE), &self.metadata().to_yaml())
    }
}

impl Drop for BagWriter {
    fn drop(&mut self) {
        // A caller that needs the result calls `finish` before.
        let _ = self.end();
    }
}

/// Creates a folder and its missing parents; returns those that this call created, parents first.
fn create_folder(folder: &Path) -> Result<Vec<PathBuf>, WriteError> {
    // The last ancestor of a relative path is empty: the current folder.
    let is_there = |path: &Path| path != folder && path.as_os_str().is_empty() || path.exists();
    let mut missing: Vec<_> = folder.ancestors().take_while(|path| !is_there(path)).collect();
    let mut created: Vec<PathBuf> = Vec::new();
    let exists = || WriteError::Exists { path: folder.to_owned() };
    let mut failure = missing.is_empty().then(exists);
    while failure.is_none()
        && let Some(path) = missing.pop()
    {
        match std::fs::create_dir(path) {
            Ok(()) => created.push(path.to_owned()),
            Err(error) if path == folder && error.kind() == io::ErrorKind::AlreadyExists => {
                failure = Some(exists());
            }
            // Another process created this parent meanwhile.
            Err(_) if path != folder && path.is_dir() => {}
            Err(error) => failure = Some(WriteError::io(path, &error, 0)),
        }
    }
    let Some(failure) = failure else { return Ok(created) };
    created.iter().rev().for_each(|path| drop(std::fs::remove_dir(path)));
    Err(failure)
}

/// Replaces a file as a whole.
pub(crate) fn replace_file(path: &Path, text: &str) -> io::Result<()> {
    let new = path.with_extension("yaml.new");
    let written = feros_files::write(&new, text).and_then(|()| std::fs::rename(&new, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written
}

//! How far the log of another participant was read.

use std::collections::BTreeSet;
use std::fs::{self, File, Metadata};
use std::io;
use std::mem;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::Path;

use crate::folder::FileId;
use crate::format::{self, HEADER_BYTES, Header, MOST_LOG_BYTES, Malformed};
use crate::{Key, Record};

/// How much is read at once. A record is smaller.
const CHUNK_BYTES: u64 = 2 << 20;

/// The state of a file. If it is the same as before, nothing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    id: FileId,
    bytes: u64,
    modified: (i64, i64),
}

impl Stamp {
    fn of(found: &Metadata) -> Self {
        let modified = (found.mtime(), found.mtime_nsec());
        Self { id: FileId::of(found), bytes: found.len(), modified }
    }
}

/// The log of another participant.
#[derive(Debug, Default)]
pub(crate) struct OtherLog {
    /// The file when it was last read completely.
    stamp: Option<Stamp>,
    /// When a glance last saw that it was modified.
    pulsed: Option<(i64, i64)>,
    /// The file that is being read, and its number of earlier announcements.
    source: Option<(FileId, u64)>,
    /// The size up to which it is being read.
    bytes: u64,
    /// How far it was read.
    offset: u64,
    /// How many records were read from this file.
    count: u64,
    pulses: Option<[u64; 2]>,
    /// The announcements that are alive as far as the user knows.
    live: BTreeSet<Key>,
    /// While a file is read for the first time: the live announcements in it.
    seen: Option<BTreeSet<Key>>,
    is_complete: bool,
    /// What follows the records that were taken.
    malformed: Option<Malformed>,
    /// The file that cannot be read any further.
    refused: Option<FileId>,
}

/// What the header of a log says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Opened {
    /// The name of the owner's bell.
    pub(crate) owner: u64,
    /// Whether the pulse and the manual pulse have changed.
    pub(crate) has_pulsed: [bool; 2],
}

/// What a glance at a log shows, without opening it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Glance {
    /// Nothing was written.
    AsRead,
    /// Its owner has shown that it is alive.
    Pulsed,
    /// There may be announcements.
    Changed,
}

/// Announcements, and the number of all announcements so far.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Batch {
    pub(crate) records: Vec<Record>,
    pub(crate) through: u64,
}

/// The reason why a log is not read now.
#[derive(Debug)]
pub(crate) enum Unread {
    /// The rest of this file will never be read.
    Malformed(Malformed),
    /// This was so before.
    Refused,
    /// The system refuses. The next look tries again.
    Failed,
}

impl From<io::Error> for Unread {
    fn from(_: io::Error) -> Self {
        Self::Failed
    }
}

impl OtherLog {
    /// Whether nothing was written since the file was read.
    pub(crate) fn is_as_read(&self, path: &Path) -> bool {
        let found = fs::symlink_metadata(path).ok();
        self.stamp.is_some() && found.as_ref().map(Stamp::of) == self.stamp
    }

    /// What has changed since the last glance. Announcements make a log longer, so one that is only
    /// modified has a pulse. A manual pulse is seen by the look for which its owner rings.
    pub(crate) fn glance(&mut self, path: &Path) -> Glance {
        let Some(read) = self.stamp else { return Glance::Changed };
        let Ok(found) = fs::symlink_metadata(path) else { return Glance::Changed };
        let found = Stamp::of(&found);
        let before = self.pulsed.replace(found.modified).unwrap_or(read.modified);
        if (found.id, found.bytes) != (read.id, read.bytes) {
            Glance::Changed
        } else if found.modified == before {
            Glance::AsRead
        } else {
            Glance::Pulsed
        }
    }

    /// Makes the next look read the log from its beginning.
    pub(crate) fn read_again(&mut self) {
        (self.offset, self.count, self.stamp) = (HEADER_BYTES as u64, 0, None);
        self.seen = Some(BTreeSet::new());
    }

    /// Begins to read what is new.
    pub(crate) fn open(&mut self, file: &File) -> Result<Opened, Unread> {
        self.stamp = None;
        let found = file.metadata()?;
        let (id, bytes) = (FileId::of(&found), found.len());
        if self.refused == Some(id) {
            return Err(Unread::Refused);
        }
        self.refused = None;
        let mut header = [0; HEADER_BYTES];
        let header = if bytes < HEADER_BYTES as u64 {
            None
        } else {
            file.read_exact_at(&mut header, 0)?;
            Header::of(&header)
        };
        let Some(header) = header else { return self.refuse(id, Malformed::Header) };
        let source = Some((id, header.first));
        if self.source != source {
            self.read_again();
            self.source = source;
        }
        if bytes < self.offset {
            return self.refuse(id, Malformed::Shrunk { from: self.offset, to: bytes });
        }
        (self.bytes, self.is_complete, self.malformed) = (bytes, false, None);
        self.stamp = Some(Stamp::of(&found));
        let old = self.pulses.replace(header.pulses).unwrap_or(header.pulses);
        let has_pulsed = [0, 1].map(|index| old[index] != header.pulses[index]);
        Ok(Opened { owner: header.owner, has_pulsed })
    }

    fn refuse<T>(&mut self, id: FileId, malformed: Malformed) -> Result<T, Unread> {
        (self.refused, self.stamp) = (Some(id), None);
        Err(Unread::Malformed(malformed))
    }

    /// The next announcements. `None` after the last one.
    pub(crate) fn next(&mut self, file: &File) -> Result<Option<Batch>, Unread> {
        let Some((id, first)) = self.source else { return Ok(None) };
        if let Some(malformed) = self.malformed.take() {
            return self.refuse(id, malformed);
        }
        if self.is_complete {
            return Ok(None);
        }
        let left = self.bytes.min(MOST_LOG_BYTES).saturating_sub(self.offset);
        let mut bytes = vec![0; left.min(CHUNK_BYTES) as usize];
        if let Err(error) = file.read_exact_at(&mut bytes, self.offset) {
            self.stamp = None;
            return Err(error.into());
        }
        let taken = format::take(&bytes);
        self.offset += taken.bytes as u64;
        self.count += taken.records.len() as u64;
        let mut records = taken.records;
        records.iter().for_each(|record| self.note(record));
        self.malformed = taken.malformed;
        if left <= CHUNK_BYTES && self.malformed.is_none() {
            self.is_complete = true;
            if self.bytes > MOST_LOG_BYTES {
                self.malformed = Some(Malformed::TooLong(self.bytes));
            } else {
                records.extend(self.missing());
            }
        }
        if records.is_empty() {
            return self.malformed.take().map_or(Ok(None), |malformed| self.refuse(id, malformed));
        }
        Ok(Some(Batch { records, through: first.saturating_add(self.count) }))
    }

    fn note(&mut self, record: &Record) {
        for keys in [Some(&mut self.live), self.seen.as_mut()].into_iter().flatten() {
            if record.is_alive {
                keys.insert(record.key());
            } else {
                keys.remove(&record.key());
            }
        }
    }

    /// After a file was read for the first time: the ends of the announcements that the user knows
    /// from an earlier file, and that are not in this one.
    fn missing(&mut self) -> Vec<Record> {
        let Some(seen) = self.seen.take() else { return Vec::new() };
        let known = mem::replace(&mut self.live, seen);
        known
            .difference(&self.live)
            .map(|&(kind, id)| Record { kind, is_alive: false, id, bytes: Vec::new() })
            .collect()
    }
}

//! The log of an own participant: appends announcements, and begins a new log when most of the old
//! one is outdated, so that a long run does not fill the memory.

use std::collections::{BTreeMap, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::io::Errno;

use crate::error::JoinError;
use crate::folder::{self, Entry, FileId, Folder, check_limit};
use crate::format::{self, HEADER_BYTES, Header, MOST_LOG_BYTES, PULSES_AT};
use crate::{Kind, Prefix, Record};

/// What a log may have in addition to four times the bytes of the live announcements.
const SLACK_BYTES: u64 = 256 << 10;

/// How much memory a log takes in advance. If `/dev/shm` is full, a process should notice it when
/// it starts, because then all others find it by the network from the start.
const RESERVE_BYTES: u64 = 16 << 10;

/// Pulses closer together than this have a short lease, and do not wait for the regular look at all
/// logs.
const SHORT: Duration = Duration::from_secs(4);

/// The log of an own participant. This process holds the lock of its file.
pub(crate) struct OwnLog {
    participant: Prefix,
    owner: u64,
    file: File,
    id: FileId,
    bytes: u64,
    /// The bytes for which memory was taken.
    reserved: u64,
    /// All announcements ever, also those of earlier logs.
    count: u64,
    pulses: [u64; 2],
    last_pulses: [Option<Instant>; 2],
    live: Live,
}

impl OwnLog {
    /// Makes the log, with the announcement of the participant as its first record.
    pub(crate) fn make(
        folder: &Folder,
        participant: Prefix,
        owner: u64,
        record: &Record,
    ) -> Result<Self, JoinError> {
        let mut live = Live::default();
        live.put(record, format::encode(record));
        let header = Header { pulses: [0; 2], first: 0, owner };
        let bytes = live.after(header);
        let (file, id) = make_file(folder, participant, &bytes)?;
        Ok(Self {
            participant,
            owner,
            file,
            id,
            bytes: bytes.len() as u64,
            reserved: RESERVE_BYTES,
            count: 1,
            pulses: header.pulses,
            last_pulses: [None; 2],
            live,
        })
    }

    /// The number of announcements so far.
    pub(crate) fn count(&self) -> u64 {
        self.count
    }

    /// Appends an announcement. Returns `false` if it is the end of what was not announced.
    pub(crate) fn announce(&mut self, folder: &Folder, record: &Record) -> Result<bool, JoinError> {
        let bytes = format::encode(record);
        let end = self.bytes + bytes.len() as u64;
        if !record.is_alive && !self.live.remove(record) {
            return Ok(false);
        }
        if record.is_alive {
            self.live.put(record, bytes.clone());
        }
        self.count += 1;
        if end > MOST_LOG_BYTES {
            self.begin_again(folder)?;
            return Ok(true);
        }
        check_limit(end)
            .and_then(|()| self.reserve(end))
            .and_then(|()| self.file.write_all_at(&bytes, self.bytes))
            .map_err(|cause| folder.failed(&cause))?;
        self.bytes = end;
        if end > 4 * self.live.bytes + SLACK_BYTES {
            self.begin_again(folder)?;
        }
        Ok(true)
    }

    /// Takes more memory if the log becomes larger than what was taken.
    fn reserve(&mut self, end: u64) -> io::Result<()> {
        if end > self.reserved {
            folder::reserve(&self.file, self.reserved, end + RESERVE_BYTES - self.reserved)?;
            self.reserved = end + RESERVE_BYTES;
        }
        Ok(())
    }

    /// Replaces the log by one with only the live announcements.
    fn begin_again(&mut self, folder: &Folder) -> Result<(), JoinError> {
        // A reader that has read all of the new log knows as many announcements as there were.
        let first = self.count - self.live.records.len() as u64;
        let bytes = self.live.after(Header { pulses: self.pulses, first, owner: self.owner });
        (self.file, self.id) = make_file(folder, self.participant, &bytes)?;
        (self.bytes, self.reserved) = (bytes.len() as u64, RESERVE_BYTES);
        Ok(())
    }

    /// Makes the log again if somebody has removed or replaced it. Returns whether this was so.
    pub(crate) fn restore(&mut self, folder: &Folder) -> Result<bool, JoinError> {
        let is_there = self.id.is_at(&folder.path(Entry::Log(self.participant)));
        if !is_there {
            self.begin_again(folder)?;
        }
        Ok(!is_there)
    }

    /// Increments a number in the header. Returns whether others should see it at once: a manual
    /// pulse, or one that its user makes so often.
    pub(crate) fn pulse(&mut self, is_manual: bool) -> bool {
        self.increment(is_manual);
        let now = Instant::now();
        let last = self.last_pulses[usize::from(is_manual)].replace(now);
        is_manual || last.is_some_and(|last| now.duration_since(last) < SHORT)
    }

    /// Increments a number in the header.
    pub(crate) fn increment(&mut self, is_manual: bool) {
        let index = usize::from(is_manual);
        self.pulses[index] += 1;
        // This needs no further memory. If it failed all the same, the lease would end.
        let _ = self.file.write_all_at(&self.pulses[index].to_le_bytes(), PULSES_AT[index]);
    }
}

/// Makes a complete, locked log. Only then does it get its name, because others take a log that
/// nobody has locked for the log of a process that was killed.
fn make_file(
    folder: &Folder,
    participant: Prefix,
    bytes: &[u8],
) -> Result<(File, FileId), JoinError> {
    let draft = folder.path(Entry::NewLog(participant));
    let gone = || io::Error::from(io::ErrorKind::NotFound);
    folder.make_file(|| {
        if bytes.len() as u64 > MOST_LOG_BYTES {
            let what =
                format!("the announcements of one participant exceed {MOST_LOG_BYTES} bytes");
            return Err(io::Error::new(io::ErrorKind::FileTooLarge, what));
        }
        check_limit(bytes.len() as u64)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).mode(0o600);
        let file = match options.open(&draft) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                fs::remove_file(&draft)?; // an earlier attempt has left it
                return Err(gone());
            }
            file => file?,
        };
        // Another process may just see that nobody holds the lock, and remove the file.
        match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Err(Errno::WOULDBLOCK) => return Err(gone()),
            locked => locked?,
        }
        let made = folder::reserve(&file, 0, RESERVE_BYTES)
            .and_then(|()| file.write_all_at(bytes, 0))
            .and_then(|()| fs::rename(&draft, folder.path(Entry::Log(participant))))
            .and_then(|()| file.metadata());
        match made {
            Ok(made) => Ok((file, FileId::of(&made))),
            Err(error) => {
                let _ = fs::remove_file(&draft); // it may be removed already
                Err(error)
            }
        }
    })
}

/// The live announcements of a participant, in the order in which they were first announced.
#[derive(Default)]
struct Live {
    records: BTreeMap<u64, Vec<u8>>,
    places: HashMap<(Kind, [u8; 16]), u64>,
    next_place: u64,
    bytes: u64,
}

impl Live {
    fn put(&mut self, record: &Record, encoded: Vec<u8>) {
        let place = *self.places.entry(record.key()).or_insert(self.next_place);
        self.next_place = self.next_place.max(place + 1);
        self.bytes += encoded.len() as u64;
        if let Some(replaced) = self.records.insert(place, encoded) {
            self.bytes -= replaced.len() as u64;
        }
    }

    /// Returns `false` if it is not alive.
    fn remove(&mut self, record: &Record) -> bool {
        let place = self.places.remove(&record.key());
        let removed = place.and_then(|place| self.records.remove(&place));
        self.bytes -= removed.as_ref().map_or(0, |removed| removed.len() as u64);
        removed.is_some()
    }

    /// The bytes of a log of these announcements.
    fn after(&self, header: Header) -> Vec<u8> {
        let mut bytes = header.to_bytes();
        bytes.reserve_exact(self.bytes as usize);
        bytes.extend(self.records.values().flatten());
        debug_assert_eq!(bytes.len() as u64, HEADER_BYTES as u64 + self.bytes);
        bytes
    }
}

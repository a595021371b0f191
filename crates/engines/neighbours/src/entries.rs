//! The file in which a neighbourhood tells what it has processed: entries of 24 bytes, each the
//! prefix of a participant, 4 bytes of zeros, and the number of announcements (8 bytes,
//! little-endian). Free entries are zeros.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt as _, OpenOptionsExt as _};

use crate::Prefix;
use crate::error::JoinError;
use crate::folder::{Entry, Folder, check_limit, reserve};

const ENTRY_BYTES: usize = 24;
/// Enough for 40,000 participants.
const MOST_BYTES: u64 = 1 << 20;

/// The memory that is taken in advance: enough for 170 participants.
const RESERVE_BYTES: u64 = 4096;

/// The own file.
pub(crate) struct Entries {
    name: u64,
    file: File,
    slots: Vec<[u8; ENTRY_BYTES]>,
    free: Vec<usize>,
}

impl Entries {
    pub(crate) fn make(folder: &Folder, name: u64) -> Result<Self, JoinError> {
        let file = make_file(folder, name, &[])?;
        Ok(Self { name, file, slots: Vec::new(), free: Vec::new() })
    }

    /// Takes an entry that nobody uses.
    pub(crate) fn take_slot(&mut self) -> usize {
        self.free.pop().unwrap_or_else(|| {
            self.slots.push([0; ENTRY_BYTES]);
            self.slots.len() - 1
        })
    }

    pub(crate) fn put(&mut self, slot: usize, prefix: &Prefix, count: u64) -> io::Result<()> {
        self.write(slot, entry_of(prefix, count))
    }

    pub(crate) fn free_slot(&mut self, slot: usize) {
        // If this fails, the entry remains, of a participant that has ended.
        let _ = self.write(slot, [0; ENTRY_BYTES]);
        self.free.push(slot);
    }

    fn write(&mut self, slot: usize, entry: [u8; ENTRY_BYTES]) -> io::Result<()> {
        self.slots[slot] = entry;
        let start = (slot * ENTRY_BYTES) as u64;
        check_limit(start + ENTRY_BYTES as u64)?;
        self.file.write_all_at(&entry, start)
    }

    /// Makes the file again if somebody has removed it.
    pub(crate) fn restore(&mut self, folder: &Folder) -> Result<(), JoinError> {
        if folder.lacks(Entry::Read(self.name)) {
            self.file = make_file(folder, self.name, self.slots.as_flattened())?;
        }
        Ok(())
    }
}

fn make_file(folder: &Folder, name: u64, bytes: &[u8]) -> Result<File, JoinError> {
    folder.make_file(|| {
        let path = folder.path(Entry::Read(name));
        let file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        reserve(&file, 0, RESERVE_BYTES.max(bytes.len() as u64))?;
        file.write_all_at(bytes, 0)?;
        Ok(file)
    })
}

fn entry_of(prefix: &Prefix, count: u64) -> [u8; ENTRY_BYTES] {
    let mut entry = [0; ENTRY_BYTES];
    entry[..12].copy_from_slice(prefix);
    entry[16..].copy_from_slice(&count.to_le_bytes());
    entry
}

/// How many announcements of `participant` the neighbourhood `name` has processed. `None` if this
/// neighbourhood has ended.
pub(crate) fn processed(folder: &Folder, name: u64, participant: &Prefix) -> Option<u64> {
    let bytes = match feros_files::read(&folder.path(Entry::Read(name)), MOST_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
        // For example, this process may have no free descriptor now.
        Err(_) => return Some(0),
        Ok(bytes) => bytes,
    };
    let (entries, _) = bytes.as_chunks::<ENTRY_BYTES>();
    let found = entries.iter().find(|entry| entry.starts_with(participant));
    Some(found.and_then(|entry| entry.last_chunk()).map_or(0, |count| u64::from_le_bytes(*count)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn entries_are_read_by_others_and_used_again() {
        let base = tempfile::tempdir().unwrap();
        let folder = Folder::new(base.path(), 1, "").unwrap();
        assert_eq!(processed(&folder, 5, &[1; 12]), None);
        let mut entries = Entries::make(&folder, 5).unwrap();
        assert_eq!(processed(&folder, 5, &[1; 12]), Some(0));
        let slots = [1, 2].map(|number| {
            let slot = entries.take_slot();
            entries.put(slot, &[number; 12], u64::from(number) << 33).unwrap();
            slot
        });
        entries.put(slots[0], &[1; 12], 3).unwrap();
        assert_eq!(processed(&folder, 5, &[1; 12]), Some(3));
        assert_eq!(processed(&folder, 5, &[2; 12]), Some(2 << 33));
        entries.free_slot(slots[0]);
        assert_eq!(processed(&folder, 5, &[1; 12]), Some(0));
        assert_eq!(entries.take_slot(), slots[0]);
        folder.remove(Entry::Read(5));
        entries.restore(&folder).unwrap();
        assert_eq!(processed(&folder, 5, &[2; 12]), Some(2 << 33));
    }
}

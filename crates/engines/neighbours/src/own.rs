//! The own participants of a neighbourhood, each with its log.

use std::collections::HashMap;
use std::collections::hash_map::Entry::{Occupied, Vacant};

use crate::error::{AnnounceError, JoinError};
use crate::folder::{Entry, Folder, digits};
use crate::format::MOST_BODY_BYTES;
use crate::own_log::OwnLog;
use crate::{Kind, Prefix, Record};

/// The own participants.
pub(crate) struct Own {
    owner: u64,
    logs: HashMap<Prefix, OwnLog>,
}

impl Own {
    /// Without participants. `owner` names the bell of the neighbourhood.
    pub(crate) fn new(owner: u64) -> Self {
        Self { owner, logs: HashMap::new() }
    }

    /// Writes an announcement. Returns whether there is something new for others.
    pub(crate) fn announce(
        &mut self,
        folder: &Folder,
        participant: Prefix,
        record: &Record,
    ) -> Result<bool, AnnounceError> {
        let not_written = |cause| AnnounceError::NotWritten { cause };
        let (bytes, most_bytes) = (record.bytes.len(), MOST_BODY_BYTES);
        if bytes > most_bytes {
            return Err(AnnounceError::TooLarge { bytes, most_bytes });
        }
        let is_participant = record.kind == Kind::Participant;
        if is_participant && !record.is_alive {
            return Ok(self.end(folder, participant));
        }
        match self.logs.entry(participant) {
            Occupied(mut log) => log.get_mut().announce(folder, record).map_err(not_written),
            Vacant(none) if is_participant => {
                let log = OwnLog::make(folder, participant, self.owner, record);
                none.insert(log.map_err(not_written)?);
                Ok(true)
            }
            // The endpoints of a participant may end after it.
            Vacant(_) if !record.is_alive => Ok(false),
            Vacant(_) => Err(AnnounceError::NoParticipant { participant: digits(&participant) }),
        }
    }

    fn end(&mut self, folder: &Folder, participant: Prefix) -> bool {
        let Some(log) = self.logs.remove(&participant) else { return false };
        folder.remove(Entry::Log(participant));
        drop(log); // who finds its lock free must no longer find its name
        true
    }

    /// Ends all participants.
    pub(crate) fn clear(&mut self, folder: &Folder) {
        let participants: Vec<Prefix> = self.logs.keys().copied().collect();
        for participant in participants {
            self.end(folder, participant);
        }
    }

    /// The participant with the smallest prefix.
    pub(crate) fn first(&self) -> Option<Prefix> {
        self.logs.keys().min().copied()
    }

    pub(crate) fn has(&self, participant: &Prefix) -> bool {
        self.logs.contains_key(participant)
    }

    /// The number of announcements of this participant so far.
    pub(crate) fn count(&self, participant: &Prefix) -> Option<u64> {
        self.logs.get(participant).map(OwnLog::count)
    }

    /// Returns whether others should see this at once.
    pub(crate) fn pulse(&mut self, participant: &Prefix, is_manual: bool) -> bool {
        self.logs.get_mut(participant).is_some_and(|log| log.pulse(is_manual))
    }

    /// Shows that this process is alive, and makes logs again that somebody has removed. Returns
    /// whether there were any.
    pub(crate) fn keep_up(&mut self, folder: &Folder) -> Result<bool, JoinError> {
        let mut is_restored = false;
        for log in self.logs.values_mut() {
            log.increment(false);
            is_restored |= log.restore(folder)?;
        }
        Ok(is_restored)
    }
}

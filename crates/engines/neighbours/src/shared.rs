//! What the users of a neighbourhood and its thread share.

use std::fmt::Display;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::{Arc, Weak};

use feros_sync::{AtomicBool, AtomicU64, Mutex, Ordering};

use crate::bells::{Bell, Bells};
use crate::entries::{self, Entries};
use crate::error::{AnnounceError, JoinError};
use crate::folder::{Entry, Folder};
use crate::format::{HEADER_BYTES, Header};
use crate::neighbours::{Known, Neighbours, Standing};
use crate::own::Own;
use crate::{Learner, Prefix, Record, host, left_behind};

/// A neighbourhood without its thread. No lock is held while the learner is called, and `own`,
/// which announcements need, is held only for work on the own files.
pub(crate) struct Shared {
    pub(crate) folder: Arc<Folder>,
    /// Names the files of this neighbourhood.
    pub(crate) name: u64,
    pub(crate) learner: Weak<dyn Learner>,
    /// Taken before `neighbours`, where both are needed.
    pub(crate) own: Mutex<Own>,
    pub(crate) neighbours: Mutex<Neighbours>,
    pub(crate) bells: Bells,
    pub(crate) is_ending: AtomicBool,
    pub(crate) has_left: AtomicBool,
    /// The logs that could not be read to their ends.
    pub(crate) malformed: AtomicU64,
}

impl Shared {
    /// Makes the files of a neighbourhood.
    pub(crate) fn join(
        base: &Path,
        domain_id: u32,
        circumstances: &str,
        learner: Weak<dyn Learner>,
    ) -> Result<(Self, Bell), JoinError> {
        let folder = Arc::new(Folder::new(base, domain_id, circumstances)?);
        let name = host::random_name()?;
        let bell = Bell::make(&folder, name)?;
        let entries = Entries::make(&folder, name).inspect_err(|_| {
            folder.remove(Entry::Read(name));
            folder.remove(Entry::Bell(name));
            folder.remove_if_empty();
        })?;
        left_behind::remove_other_folders(&folder);
        let shared = Self {
            bells: Bells::new(folder.clone(), name),
            folder,
            name,
            learner,
            own: Mutex::new(Own::new(name)),
            neighbours: Mutex::new(Neighbours::new(entries)),
            is_ending: AtomicBool::new(false),
            has_left: AtomicBool::new(false),
            malformed: AtomicU64::new(0),
        };
        Ok((shared, bell))
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Acquire)
    }

    pub(crate) fn has_left(&self) -> bool {
        self.has_left.load(Ordering::Acquire)
    }

    pub(crate) fn announce(
        &self,
        participant: Prefix,
        record: &Record,
    ) -> Result<(), AnnounceError> {
        let announced = {
            let mut own = self.own.lock();
            if self.has_left() {
                return Err(AnnounceError::Left);
            }
            own.announce(&self.folder, participant, record)
        };
        match announced {
            Ok(true) => self.bells.ring(),
            Ok(false) => (),
            Err(error) => {
                if !matches!(error, AnnounceError::NoParticipant { .. }) {
                    self.leave(&error);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Whether `participant` is a neighbour now.
    pub(crate) fn is_neighbour(&self, participant: Prefix) -> bool {
        if self.own.lock().has(&participant) {
            return false;
        }
        let is_there = || self.folder.may_have(Entry::Log(participant));
        let standing = {
            let mut neighbours = self.neighbours.lock();
            // The thread forgets all neighbours only after this flag was set.
            if self.has_left() {
                return false;
            }
            neighbours.standing(participant, is_there)
        };
        match standing {
            Ok(Standing::AskedAgain) => self.bells.look(),
            Ok(standing) => return standing == Standing::Yes,
            Err(cause) => self.leave(&self.folder.failed(&cause)),
        }
        !self.has_left()
    }

    pub(crate) fn processed(&self, participant: &Prefix, through: u64) {
        let written = self.neighbours.lock().processed(participant, through);
        self.leave_unless(written);
    }

    pub(crate) fn lost(&self, participant: Prefix, through: u64) {
        let written = self.neighbours.lock().lost(participant, through);
        self.leave_unless(written);
    }

    /// Leaves if an own file could not be written.
    fn leave_unless(&self, written: io::Result<()>) {
        if let Err(cause) = written {
            self.leave(&self.folder.failed(&cause));
        }
    }

    /// How many announcements of `own` the neighbourhood of `other` has processed. `None` if
    /// `other` is no neighbour.
    pub(crate) fn processed_by(&self, other: &Prefix, own: &Prefix) -> Option<u64> {
        let known = self.neighbours.lock().owner(other);
        let owner = match known {
            Known::Owner(owner) => owner,
            Known::Malformed => return None,
            Known::NotYet => {
                let file = feros_files::open(&self.folder.path(Entry::Log(*other))).ok()?;
                let mut header = [0; HEADER_BYTES];
                file.read_exact_at(&mut header, 0).ok()?;
                Header::of(&header)?.owner
            }
        };
        if owner == self.name {
            return None;
        }
        entries::processed(&self.folder, owner, own)
    }

    /// Stops being a neighbour of anybody. Others see that all own participants end, and then find
    /// them by the network.
    pub(crate) fn leave(&self, cause: &dyn Display) {
        if self.remove_files() {
            tracing::warn!(
                target: "feros::engine",
                "processes of this host are found by the network, which is slower: {cause}"
            );
            self.bells.wake(); // the thread tells the user that all neighbours have ended
        }
    }

    /// Removes the own files, and the folder if nobody else uses it. Returns `false` if this was
    /// done before.
    pub(crate) fn remove_files(&self) -> bool {
        if self.has_left.swap(true, Ordering::AcqRel) {
            return false;
        }
        self.own.lock().clear(&self.folder);
        self.folder.remove(Entry::Read(self.name));
        self.folder.remove(Entry::Bell(self.name));
        // If several leave at the same time, the last one that removes its bell finds no other.
        if self.bells.ring_now() == 0 {
            left_behind::remove_folder(&self.folder);
        }
        left_behind::remove_other_folders(&self.folder);
        true
    }

    /// Makes own files again that somebody has removed, and shows that this process is alive.
    /// Returns whether others have to look.
    pub(crate) fn keep_up(&self, bell: &mut Bell) -> Result<bool, JoinError> {
        let mut own = self.own.lock();
        if self.has_left() {
            return Ok(false);
        }
        if self.folder.lacks(Entry::Bell(self.name)) {
            *bell = Bell::make(&self.folder, self.name)?;
        }
        self.neighbours.lock().restore(&self.folder)?;
        own.keep_up(&self.folder)
    }
}

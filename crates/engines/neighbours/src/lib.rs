//! Processes of one user on one host announce to each other in shared memory what they would
//! otherwise announce by the network. This crate knows nothing of DDS: a participant is a prefix of
//! 12 bytes, and an announcement is bytes.
//!
//! Each participant has a log, a file in a folder of `/dev/shm` to which only its owner appends.
//! Each [`Neighbourhood`] has a bell, a socket in the same folder, at which others tell it to look
//! at their logs. It reads what is new, and hands it to its [`Learner`]. In a third file it tells
//! how much of each log its user has processed.
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | `host` | which processes can be neighbours |
//! | `folder` | the folder, and the names of the files |
//! | `format` | the format of a log |
//! | `own`, `own_log` | the own participants: their announcements |
//! | `other_log` | how far the log of another participant was read |
//! | `neighbours`, `entries` | the participants of others, and what was processed |
//! | `bells` | telling others to look |
//! | `left_behind` | files of killed processes |
//! | `shared`, `looking` | the neighbourhood, and its thread |
//!
//! # Invariants
//!
//! The content of a file of another process may be anything: it is never trusted, and what is read
//! at once is bounded. No lock is held while the learner is called. What a killed process leaves
//! behind is removed by the others, and the last neighbourhood removes the folder. A file that is
//! visible under its final name is complete and has its owner's lock, or its bell answers.
#![forbid(unsafe_code)]

mod bells;
mod entries;
mod error;
mod folder;
mod format;
mod host;
mod left_behind;
mod looking;
mod neighbours;
mod other_log;
mod own;
mod own_log;
mod shared;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::{Arc, Weak};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use feros_sync::Ordering;

pub use crate::error::{AnnounceError, JoinError};
use crate::looking::Looking;
use crate::shared::Shared;

/// Where neighbours meet.
const SHM: &str = "/dev/shm";

/// The pauses between two looks at what another neighbourhood has processed: the first one, and the
/// longest one.
const PAUSES: (Duration, Duration) = (Duration::from_micros(200), Duration::from_millis(5));

/// What tells a participant from all others.
pub type Prefix = [u8; 12];

/// What distinguishes the announcements of one participant.
type Key = (Kind, [u8; 16]);

/// What is announced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Kind {
    /// The participant itself.
    Participant = 1,
    /// An endpoint that sends.
    Writer = 2,
    /// An endpoint that receives.
    Reader = 3,
    /// A table of the nodes of the participant.
    Nodes = 4,
}

impl Kind {
    fn of(number: u8) -> Option<Self> {
        [Self::Participant, Self::Writer, Self::Reader, Self::Nodes]
            .into_iter()
            .find(|kind| *kind as u8 == number)
    }
}

/// An announcement, or the end of what was announced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// What is announced.
    pub kind: Kind,
    /// Whether it exists, or has ended.
    pub is_alive: bool,
    /// Distinguishes the announcements of this kind and this participant.
    pub id: [u8; 16],
    /// The content, at most 1 MiB. Empty if the announcement is missing in a shortened log.
    pub bytes: Vec<u8>,
}

impl Record {
    fn key(&self) -> Key {
        (self.kind, self.id)
    }
}

/// What a [`Neighbourhood`] tells its user. It calls these functions on its own thread, one after
/// the other, and holds no lock meanwhile.
pub trait Learner: Send + Sync {
    /// A participant of another neighbourhood has announced something. The announcements come in
    /// their order; `through` is the number of all announcements of this participant so far. When
    /// the user has processed them, it calls [`Neighbourhood::processed`] with this number.
    ///
    /// An announcement may come again, with the same content or a newer one. Something may end that
    /// the user does not know.
    fn learn(&self, participant: Prefix, records: &[Record], through: u64);

    /// The participant has ended, or its process was killed, or the own neighbourhood was left. The
    /// user may not know the participant.
    fn ended(&self, participant: Prefix);

    /// The participant is alive: since the last look, it has shown this by its automatic pulse, or,
    /// with `is_manual`, by its manual one. Returns whether the user knows the participant; if not,
    /// for example because its lease had ended, all of its announcements come once more.
    fn lives(&self, participant: Prefix, is_manual: bool) -> bool;
}

/// The processes of this user on this host that announce to each other in shared memory.
///
/// Dropping it ends its participants, and waits for its thread: the thread that drops it must not
/// hold a lock for which the [`Learner`] may be waiting. After that, the learner is not called any
/// more. The learner itself may drop it; the call in which it does this is then the last one.
///
/// ```no_run
/// use feros_neighbours::{Kind, Learner, Neighbourhood, Prefix, Record};
/// use std::sync::Arc;
///
/// struct Printer;
///
/// impl Learner for Printer {
///     fn learn(&self, participant: Prefix, records: &[Record], through: u64) {
///         println!("{participant:?} has announced {records:?}, {through} in all");
///     }
///     fn ended(&self, participant: Prefix) {
///         println!("{participant:?} has ended");
///     }
///     fn lives(&self, _: Prefix, _: bool) -> bool {
///         true
///     }
/// }
///
/// let printer = Arc::new(Printer);
/// let learner = Arc::downgrade(&printer);
/// let neighbourhood = Neighbourhood::join(0, "interface lo", learner)?;
/// let kind = Kind::Participant;
/// let me = Record { kind, is_alive: true, id: [1; 16], bytes: b"content".into() };
/// neighbourhood.announce([1; 12], me)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Neighbourhood {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Neighbourhood {
    /// Joins the neighbours in a domain. Only processes that give the same `circumstances` see each
    /// other: a text with all settings that choose whom a process discovers. They also belong to
    /// the same user, network namespace and start of the host.
    ///
    /// `learner` is told about the participants of others. If it does not exist any more, nobody
    /// is told.
    ///
    /// # Errors
    /// The folder in `/dev/shm` or a file in it cannot be made, other users have access to the
    /// folder, or the system cannot start a thread.
    pub fn join(
        domain_id: u32,
        circumstances: &str,
        learner: Weak<dyn Learner>,
    ) -> Result<Self, JoinError> {
        Self::join_in(Path::new(SHM), domain_id, circumstances, learner)
    }

    fn join_in(
        base: &Path,
        domain_id: u32,
        circumstances: &str,
        learner: Weak<dyn Learner>,
    ) -> Result<Self, JoinError> {
        let (shared, bell) = Shared::join(base, domain_id, circumstances, learner)?;
        let shared = Arc::new(shared);
        let mut neighbourhood = Self { shared: shared.clone(), thread: None };
        let looking = Looking::new(shared, bell);
        let thread = thread::Builder::new()
            .name("feros-neighbours".to_owned())
            .spawn(|| looking.run())
            .map_err(|cause| JoinError::Thread { cause: cause.to_string() })?;
        neighbourhood.thread = Some(thread);
        Ok(neighbourhood)
    }

    /// Announces something to all neighbours, or replaces what has the same kind and id, or ends
    /// it. The first announcement of a participant must be its [`Kind::Participant`]. If that ends,
    /// all of the participant ends. Ending what was not announced has no effect.
    ///
    /// # Errors
    /// [`AnnounceError::NoParticipant`] if the participant was not announced. After any other
    /// error, this neighbourhood has been left: others have to be found by the network. The log
    /// tells the cause, the learner is told that all neighbours have ended, and further
    /// announcements fail with [`AnnounceError::Left`].
    pub fn announce(&self, participant: Prefix, record: Record) -> Result<(), AnnounceError> {
        self.shared.announce(participant, &record)
    }

    /// Tells others that an own participant is alive, by its automatic or its manual pulse. They
    /// see the manual one at once. They see the automatic one at their next regular look at all
    /// logs, at most about four seconds later, or at once if the one before was less than 4 s ago.
    /// The automatic pulse of each participant also changes once a second by itself.
    pub fn pulse(&self, participant: Prefix, is_manual: bool) {
        let is_urgent = self.shared.own.lock().pulse(&participant, is_manual);
        if is_urgent {
            self.shared.bells.ring();
        }
    }

    /// Whether this participant of another neighbourhood is a neighbour now. After the answer yes,
    /// the learner will be told when it ends.
    ///
    /// If all announcements of the participant were processed, this asks for them once more,
    /// because a user that asks about a neighbour that it knows has lost what it knew.
    pub fn is_neighbour(&self, participant: Prefix) -> bool {
        self.shared.is_neighbour(participant)
    }

    /// The user has processed the announcements of `participant` up to this number, which
    /// [`Learner::learn`] has given.
    pub fn processed(&self, participant: Prefix, through: u64) {
        self.shared.processed(&participant, through);
    }

    /// The user has processed the announcements of `participant` up to this number, but does not
    /// know the participant: all of its announcements come again at a later look.
    pub fn lost(&self, participant: Prefix, through: u64) {
        self.shared.lost(participant, through);
    }

    /// Whether the neighbourhood of `other` has processed all that the own participant has
    /// announced until now. Waits for this at most for `patience`. `None` if `other` is no
    /// neighbour, or `own` is no own participant.
    pub fn is_announced_to(&self, own: Prefix, other: Prefix, patience: Duration) -> Option<bool> {
        let start = Instant::now();
        let announced = self.shared.own.lock().count(&own)?;
        let mut pause = PAUSES.0;
        loop {
            if self.shared.processed_by(&other, &own)? >= announced {
                return Some(true);
            }
            let rest = patience.saturating_sub(start.elapsed());
            if rest.is_zero() {
                return Some(false);
            }
            thread::sleep(pause.min(rest));
            pause = PAUSES.1.min(2 * pause);
        }
    }

    /// How many participants of others are known.
    pub fn count(&self) -> usize {
        self.shared.neighbours.lock().count()
    }
}

impl Drop for Neighbourhood {
    fn drop(&mut self) {
        self.shared.is_ending.store(true, Ordering::Release);
        self.shared.bells.wake();
        if let Some(thread) = self.thread.take()
            && thread.thread().id() != thread::current().id()
        {
            let _ = thread.join(); // it may have panicked in the learner
        }
        self.shared.remove_files();
    }
}

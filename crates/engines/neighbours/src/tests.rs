//! Several neighbourhoods in a temporary folder, as if they were in several processes.
#![allow(clippy::unwrap_used)]

mod announcing;
mod ending;
mod hostile;

use std::collections::{BTreeMap, HashMap};
use std::path::Path;
use std::sync::Arc;

use feros_sync::{AtomicBool, AtomicUsize, Mutex, Ordering};
use feros_test_support::until;

use crate::bells;
use crate::folder::{Entry, Folder};
use crate::{JoinError, Key, Kind, Learner, Neighbourhood, Prefix, Record};

/// What a learner was told about one participant.
#[derive(Debug, Clone, Default)]
struct Told {
    records: Vec<Record>,
    through: u64,
    lives: [u32; 2],
    ends: u32,
}

/// Records what it is told.
#[derive(Default)]
struct Recorder {
    told: Mutex<HashMap<Prefix, Told>>,
    /// Whoever holds this lock keeps the thread in `learn`.
    gate: Mutex<()>,
    /// How many calls of `learn` have begun.
    calls: AtomicUsize,
    /// Whether it has lost what it was told.
    has_lost: AtomicBool,
}

impl Learner for Recorder {
    fn learn(&self, participant: Prefix, records: &[Record], through: u64) {
        self.calls.fetch_add(1, Ordering::SeqCst);
        let _gate = self.gate.lock();
        let mut told = self.told.lock();
        let told = told.entry(participant).or_default();
        told.records.extend_from_slice(records);
        told.through = through;
    }

    fn ended(&self, participant: Prefix) {
        let mut told = self.told.lock();
        let told = told.entry(participant).or_default();
        told.ends += 1;
        told.records.clear();
    }

    fn lives(&self, participant: Prefix, is_manual: bool) -> bool {
        self.told.lock().entry(participant).or_default().lives[usize::from(is_manual)] += 1;
        !self.has_lost.load(Ordering::SeqCst)
    }
}

/// A neighbourhood and its user.
struct Process {
    neighbourhood: Neighbourhood,
    recorder: Arc<Recorder>,
}

impl Process {
    fn start(base: &Path) -> Self {
        Self::try_start(base).unwrap()
    }

    fn try_start(base: &Path) -> Result<Self, JoinError> {
        let recorder = Arc::new(Recorder::default());
        let learner = Arc::downgrade(&recorder);
        Ok(Self { neighbourhood: Neighbourhood::join_in(base, 7, "test", learner)?, recorder })
    }

    /// A process with this participant.
    fn with(base: &Path, participant: Prefix) -> Self {
        let process = Self::start(base);
        process.announce(participant, Kind::Participant, 0, "participant");
        process
    }

    fn announce(&self, participant: Prefix, kind: Kind, id: u8, text: &str) {
        self.neighbourhood.announce(participant, record(kind, id, text)).unwrap();
    }

    fn end(&self, participant: Prefix, kind: Kind, id: u8) {
        self.neighbourhood.announce(participant, end_of(kind, id)).unwrap();
    }

    fn told(&self, participant: Prefix) -> Told {
        self.recorder.told.lock().get(&participant).cloned().unwrap_or_default()
    }

    /// What is alive according to the records.
    fn live(&self, participant: Prefix) -> BTreeMap<Key, Vec<u8>> {
        let mut live = BTreeMap::new();
        for record in self.told(participant).records {
            if record.is_alive {
                live.insert(record.key(), record.bytes);
            } else {
                live.remove(&record.key());
            }
        }
        live
    }

    /// Waits for so many announcements of the participant.
    fn learns(&self, participant: Prefix, through: u64) {
        until("the announcements come", || self.told(participant).through >= through);
    }

    fn sees_end(&self, participant: Prefix) {
        until("the end is told", || self.told(participant).ends > 0);
    }

    fn folder(&self) -> &Folder {
        &self.neighbourhood.shared.folder
    }

    fn bell(&self) -> Entry {
        Entry::Bell(self.neighbourhood.shared.name)
    }

    /// Makes it look, and waits until it does this.
    fn ring(&self) {
        assert!(bells::answers(self.folder(), self.bell()));
    }

    /// Waits for a look that begins after this call: it learns of a new participant.
    fn looks(&self, base: &Path) {
        static PARTICIPANTS: AtomicUsize = AtomicUsize::new(0);
        let number = PARTICIPANTS.fetch_add(1, Ordering::SeqCst) as u64;
        let mut participant = [0xee; 12];
        // Looks visit the logs in the order of their prefixes, so this one comes last.
        participant[4..].copy_from_slice(&number.to_be_bytes());
        let _other = Process::with(base, participant);
        self.learns(participant, 1);
    }
}

fn participant(number: u8) -> Prefix {
    [number; 12]
}

fn record(kind: Kind, id: u8, text: &str) -> Record {
    Record { kind, is_alive: true, id: [id; 16], bytes: text.into() }
}

fn end_of(kind: Kind, id: u8) -> Record {
    Record { kind, is_alive: false, id: [id; 16], bytes: Vec::new() }
}

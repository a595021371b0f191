//! The thread of a neighbourhood: looks at the logs of others when its bell rings and once a
//! second, hands what is new to the user, and keeps the own files in order.

use std::collections::{BTreeSet, HashMap};
use std::fs::{self, File};
use std::io;
use std::ops::Bound;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use feros_sync::Ordering;

use crate::bells::{self, Bell, pause_after};
use crate::folder::{Entry, digits};
use crate::format::{HEADER_BYTES, Header, Malformed};
use crate::left_behind::{is_left_behind, sweep};
use crate::other_log::{Batch, Glance, OtherLog, Unread};
use crate::shared::Shared;
use crate::{Learner, Prefix};

/// The time between regular looks, which find what no bell tells: processes that were killed,
/// pulses, and files that were removed.
const REGULAR: Duration = Duration::from_secs(1);
/// At each fourth regular look, the thread looks at all logs. At the others, it only checks whether
/// its successors are alive, so that all processes together check each process a few times, and
/// not as often as there are processes.
const REGULAR_OF_ALL: u32 = 4;
/// A time of modification that is older than this is that of no later modification: it has the
/// resolution of the kernel's clock tick, which is 10 ms or less.
const TICK: Duration = Duration::from_millis(100);
/// The successors of a process are the living ones whose prefixes follow its own, in a circle.
const SUCCESSORS: usize = 3;

/// The state of the thread.
pub(crate) struct Looking {
    shared: Arc<Shared>,
    bell: Bell,
    logs: HashMap<Prefix, OtherLog>,
    /// How many regular looks there were.
    regular: u32,
    listing: Listing,
    /// The participants of others that have a log, by this list.
    there: Arc<BTreeSet<Prefix>>,
}

/// The files in the folder when they were last listed.
struct Listing {
    entries: Arc<[Entry]>,
    /// When the folder had last been modified before that.
    modified: Option<(i64, i64)>,
    /// When this time of modification was first seen.
    seen: Instant,
    /// Whether the list lacks nothing, as long as the folder is not modified.
    is_complete: bool,
}

impl Looking {
    pub(crate) fn new(shared: Arc<Shared>, bell: Bell) -> Self {
        let listing = Listing {
            entries: Arc::default(),
            modified: None,
            seen: Instant::now(),
            is_complete: false,
        };
        let there = Arc::default();
        Self { shared, bell, logs: HashMap::new(), regular: 0, listing, there }
    }

    /// Runs until the neighbourhood ends.
    pub(crate) fn run(mut self) {
        self.shared.bells.serve();
        let mut next_regular = Instant::now();
        let mut free_from = next_regular;
        let mut is_rung = false;
        while !self.shared.is_ending() {
            if self.shared.has_left() {
                self.forget_all();
                thread::park_timeout(REGULAR);
                continue;
            }
            self.shared.bells.ring_if_due();
            let now = Instant::now();
            let is_regular = next_regular <= now;
            if free_from <= now && (is_rung || is_regular) {
                self.look(is_rung, is_regular);
                is_rung = false;
                free_from = Instant::now() + pause_after(now.elapsed());
                if is_regular {
                    next_regular = now + REGULAR;
                }
                continue;
            }
            let pause = (now < free_from).then_some(free_from);
            match pause.into_iter().chain(self.shared.bells.due_from()).min() {
                // The rings of others can wait.
                Some(end) => thread::park_timeout(end.saturating_duration_since(now)),
                None => is_rung |= self.bell.wait(next_regular.saturating_duration_since(now)),
            }
        }
    }

    fn look(&mut self, is_rung: bool, is_regular: bool) {
        let of_all = is_regular && self.regular.is_multiple_of(REGULAR_OF_ALL);
        self.regular = self.regular.wrapping_add(u32::from(is_regular));
        if self.list(is_rung || of_all) {
            self.there = Arc::new(self.find_others());
        }
        let there = self.there.clone();
        for participant in there.iter().filter(|_| is_rung || of_all) {
            if self.shared.is_ending() || self.shared.has_left() {
                return;
            }
            if is_rung {
                self.visit(*participant, false);
            } else {
                self.glance(*participant);
            }
        }
        if is_regular {
            self.check_successors(&there);
            if of_all {
                sweep(&self.shared.folder, &self.listing.entries);
            }
            self.keep_up();
        }
    }

    /// Lists the files in the folder, and returns `true`, unless the last list is still complete.
    /// A list that lacks a new file is enough if none is needed `anew`.
    fn list(&mut self, anew: bool) -> bool {
        let modified = self.shared.folder.modified();
        let was_modified = modified != self.listing.modified;
        if !was_modified && (self.listing.is_complete || !anew) {
            return false;
        }
        let seen = if was_modified { Instant::now() } else { self.listing.seen };
        let is_complete = modified.is_some() && seen.elapsed() >= TICK;
        // Without a free descriptor, the known participants are still glanced at, and the own
        // pulse still shows that this process is alive. A later look finds the others.
        self.listing = match self.shared.folder.list() {
            Ok(entries) => Listing { entries: entries.into(), modified, seen, is_complete },
            Err(_) => Listing { entries: Arc::default(), modified: None, seen, is_complete: false },
        };
        true
    }

    /// The participants of others that have a log. Tells which of the known ones have none.
    fn find_others(&mut self) -> BTreeSet<Prefix> {
        let known = self.shared.neighbours.lock().participants();
        let entries = self.listing.entries.clone();
        let mut there: BTreeSet<Prefix> = entries
            .iter()
            .filter_map(|entry| match entry {
                Entry::Log(participant) => Some(*participant),
                _ => None,
            })
            .collect();
        for participant in known {
            if there.contains(&participant) {
                continue;
            }
            // If the log was replaced meanwhile, the list may lack it.
            if self.shared.folder.lacks(Entry::Log(participant)) {
                self.ended(participant);
            } else {
                there.insert(participant);
            }
        }
        // Asked only now: an own log has its name while `own` is locked, and is in `own` then.
        there.retain(|participant| !self.shared.own.lock().has(participant));
        there
    }

    /// Looks at the logs of the successors, and removes those of killed processes before them.
    fn check_successors(&mut self, there: &BTreeSet<Prefix>) {
        let own = self.shared.own.lock().first();
        let after = own.map_or(Bound::Unbounded, Bound::Excluded);
        let circle = there.range((after, Bound::Unbounded)).chain(there);
        let mut living = 0;
        for participant in circle.take(there.len()) {
            living += usize::from(self.visit(*participant, true));
            if living == SUCCESSORS || self.shared.is_ending() || self.shared.has_left() {
                return;
            }
        }
    }

    /// Looks at one log, without opening it if it has no announcements. If the user cannot be told
    /// that its owner is alive, the next look tries again.
    fn glance(&mut self, participant: Prefix) {
        if self.shared.neighbours.lock().has_request(&participant) {
            self.visit(participant, false);
            return;
        }
        let path = self.shared.folder.path(Entry::Log(participant));
        match self.logs.get_mut(&participant).map(|log| log.glance(&path)) {
            Some(Glance::AsRead) => (),
            Some(Glance::Pulsed) => drop(self.lives(participant, false)),
            Some(Glance::Changed) | None => drop(self.visit(participant, false)),
        }
    }

    /// Looks at one log, with `is_due` even if nothing was written. Returns whether its owner is
    /// alive.
    fn visit(&mut self, participant: Prefix, is_due: bool) -> bool {
        let path = self.shared.folder.path(Entry::Log(participant));
        let is_requested = self.shared.neighbours.lock().takes_request(&participant);
        let known = self.logs.get_mut(&participant);
        let is_new = known.is_none();
        if let Some(log) = known {
            if is_requested {
                log.read_again();
            } else if !is_due && log.is_as_read(&path) {
                return true;
            }
        }
        // If it is gone now, the next look finds that it has ended.
        let Ok(file) = feros_files::open(&path) else { return false };
        if (is_new || is_due) && is_left_behind(&file, &path) {
            self.remove_left_behind(participant, &file);
            return false;
        }
        let mut log = self.logs.remove(&participant).unwrap_or_default();
        if let Err(Unread::Malformed(malformed)) = self.read(participant, &mut log, &file) {
            self.tell_malformed(participant, malformed);
        }
        self.logs.insert(participant, log);
        true
    }

    /// Reads what is new in a log, and hands it to the user.
    fn read(&self, participant: Prefix, log: &mut OtherLog, file: &File) -> Result<(), Unread> {
        let opened = log.open(file)?;
        self.shared.neighbours.lock().found(participant, opened.owner);
        for (is_manual, has_pulsed) in [false, true].into_iter().zip(opened.has_pulsed) {
            if has_pulsed {
                self.lives(participant, is_manual)?;
            }
        }
        while let Some(Batch { records, through }) = log.next(file)? {
            self.shared.neighbours.lock().handed(&participant, through);
            self.tell(|learner| learner.learn(participant, &records, through));
            if self.shared.is_ending() {
                break;
            }
        }
        Ok(())
    }

    /// Tells that a participant is alive. Asks for all of its announcements once more if the user
    /// has lost it.
    fn lives(&self, participant: Prefix, is_manual: bool) -> io::Result<()> {
        let mut is_known = true;
        self.tell(|learner| is_known = learner.lives(participant, is_manual));
        if !is_known && self.shared.neighbours.lock().ask_again(participant)? {
            self.shared.bells.look();
        }
        Ok(())
    }

    fn tell(&self, what: impl FnOnce(&dyn Learner)) {
        if let Some(learner) = self.shared.learner.upgrade() {
            what(&*learner);
        }
        self.shared.bells.ring_if_due(); // the user may have taken its time
    }

    fn tell_malformed(&self, participant: Prefix, malformed: Malformed) {
        self.shared.neighbours.lock().is_malformed(participant);
        let count = self.shared.malformed.fetch_add(1, Ordering::Relaxed) + 1;
        tracing::warn!(
            target: "feros::engine",
            "the announcements of participant {} on this host cannot be read any further ({count} \
             such participants so far): {malformed}; restart its process if it is not found",
            digits(&participant)
        );
    }

    /// Removes the log of a process that was killed, and its other files.
    fn remove_left_behind(&mut self, participant: Prefix, file: &File) {
        let mut header = [0; HEADER_BYTES];
        let is_read = file.read_exact_at(&mut header, 0).is_ok();
        // Usually another process is faster.
        let _ = fs::remove_file(self.shared.folder.path(Entry::Log(participant)));
        if let Some(header) = Header::of(&header).filter(|_| is_read)
            && header.owner != self.shared.name
        {
            bells::remove_if_gone(&self.shared.folder, header.owner);
        }
        self.ended(participant);
        self.shared.bells.ring(); // the others see that the log is missing
    }

    fn ended(&mut self, participant: Prefix) {
        self.logs.remove(&participant);
        self.shared.neighbours.lock().ended(&participant);
        self.tell(|learner| learner.ended(participant));
    }

    fn forget_all(&mut self) {
        let known = self.shared.neighbours.lock().participants();
        for participant in known {
            self.ended(participant);
        }
    }

    fn keep_up(&mut self) {
        match self.shared.keep_up(&mut self.bell) {
            Ok(true) => self.shared.bells.ring(),
            Ok(false) => (),
            Err(cause) => self.shared.leave(&cause),
        }
    }
}

//! What an executor knows to be ready, and where it sleeps.
//!
//! Rings from inside the process set flags in private memory, which no other process can touch. A
//! doorbell in shared memory is only the letter box beside it: its flags are fetched, and its futex
//! is what the executor sleeps on, since a thread can sleep at one place only. So whatever others
//! write there, the rings of this process arrive.
//!
//! The kernel takes longer to find who sleeps on a word that several processes map (0.17 us for
//! each of sleeping and waking where this was measured, a tenth of a hand-over). So the executor
//! sleeps there only while others are told that they may ring.

use crate::doorbell::{AWAKE, Doorbell, DoorbellMemory, SLEEPING};
use crate::flags::Slot;
use feros_sync::{AtomicUsize, Ordering, fence};
use feros_sync::{Futex, Sharing};
use std::fmt;
use std::time::Duration;

// Loom's `Arc` cannot hold a trait object; what it would check is who drops last.
type Memory = std::sync::Arc<dyn DoorbellMemory>;

/// What [`Readiness::own`]'s bell says, besides AWAKE and SLEEPING, of an executor that sleeps at
/// the letter box.
const SLEEPING_OUTSIDE: u32 = 2;
/// ... of several threads (`desk`): to be woken is one of those that wait to be called.
const FOLLOWER: u32 = 3;
/// ... the one that waits for timers.
const WATCHER: u32 = 4;

/// The flags of one executor. Many threads ring; one thread sleeps at the bell, or several at the
/// two words of the crew.
pub(crate) struct Readiness {
    /// Its bell tells the ringers of this process whether the executor sleeps, and where.
    own: Doorbell,
    /// Counts what a crew's followers are called for, and its watcher.
    followers: Futex,
    watcher: Futex,
    letter_box: Option<Memory>,
    /// Entities whose place others are told; while there are none, no ring from outside is
    /// expected.
    observed: AtomicUsize,
}

impl Readiness {
    /// For one process alone, which saves the kernel the search for what other processes map.
    pub(crate) fn private() -> Self {
        Self::with(None)
    }

    /// With a doorbell for others, which is emptied: it may have had an owner before.
    pub(crate) fn with_letter_box(memory: Memory) -> Self {
        memory.doorbell().reset();
        Self::with(Some(memory))
    }

    fn with(letter_box: Option<Memory>) -> Self {
        let [followers, watcher] = [(); 2].map(|()| Futex::new(0));
        Self { own: Doorbell::new(), followers, watcher, letter_box, observed: AtomicUsize::new(0) }
    }

    /// The number under which other processes ring.
    pub(crate) fn number(&self) -> Option<u32> {
        self.letter_box.as_ref().and_then(|memory| memory.number())
    }

    /// As [`Doorbell::ring`], but from inside the process.
    pub(crate) fn ring(&self, slot: Slot) {
        if self.own.flags.set(slot) || self.own.may_sleep() {
            self.wake_whom_the_bell_names();
        }
    }

    fn wake_whom_the_bell_names(&self) {
        match (self.own.claim_wake(), &self.letter_box) {
            // The bell there is not asked: it may have been scribbled over, and ours has said that
            // somebody sleeps.
            (Some(SLEEPING_OUTSIDE), Some(memory)) => memory.doorbell().rouse(),
            (Some(FOLLOWER), _) => count_and_wake(&self.followers),
            (Some(WATCHER), _) => count_and_wake(&self.watcher),
            (Some(_), _) => self.own.bell.wake_one(Sharing::Private),
            (None, _) => {}
        }
    }

    /// To be called before others are told to ring one more entity; the entity has to be rung
    /// afterwards, because the executor may be asleep where others do not find it.
    pub(crate) fn expect_outside(&self) {
        self.observed.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes back [`expect_outside`](Self::expect_outside).
    pub(crate) fn unexpect_outside(&self) {
        self.observed.fetch_sub(1, Ordering::Relaxed);
    }

    pub(crate) fn expects_outside(&self) -> bool {
        self.observed.load(Ordering::Relaxed) != 0
    }

    /// Takes the flag, whoever set it.
    pub(crate) fn take(&self, slot: Slot) -> bool {
        let from_outside =
            self.letter_box.as_ref().is_some_and(|memory| memory.doorbell().take(slot));
        self.own.take(slot) || from_outside
    }

    /// Whether a flag is set that was rung inside the process.
    #[cfg(test)]
    pub(crate) fn is_set(&self, slot: Slot) -> bool {
        self.own.flags.is_set(slot)
    }

    /// Whether no flag is seen, of whoever rang. One that is set meanwhile may be missed, but not
    /// by a sleeper.
    pub(crate) fn are_clear(&self) -> bool {
        self.own.flags.are_clear()
            && self.letter_box.as_ref().is_none_or(|memory| memory.doorbell().flags.are_clear())
    }

    /// Takes all flags, of whoever rang. One thread at a time.
    pub(crate) fn drain(&self, mut each: impl FnMut(Slot)) {
        if let Some(memory) = &self.letter_box {
            memory.doorbell().flags.drain(&mut each);
        }
        self.own.flags.drain(each);
    }

    /// Sleeps until somebody rings; the rest is as with [`Doorbell::wait`]. For the only thread of
    /// an executor.
    pub(crate) fn wait(&self, timeout: Option<Duration>) {
        // Who changes the number rings afterwards: that ring is either yet to be taken, or shows
        // the number here.
        let Some(memory) = self.letter_box.as_ref().filter(|_| self.expects_outside()) else {
            return self.own.wait_within(Sharing::Private, timeout);
        };
        let outside = memory.doorbell();
        outside.bell.store(SLEEPING, Ordering::Relaxed);
        // Release: a ringer who reads it here overwrites the bell outside after the line above has
        // written it.
        self.own.bell.store(SLEEPING_OUTSIDE, Ordering::Release);
        fence(Ordering::SeqCst); // pairs with the fence in `Doorbell::claim_wake`, of both doorbells
        if self.own.flags.are_clear() && outside.flags.are_clear() {
            outside.bell.wait(SLEEPING, Sharing::Shared, timeout);
        }
        self.own.bell.store(AWAKE, Ordering::Relaxed);
        outside.bell.store(AWAKE, Ordering::Relaxed);
    }
}

/// For the threads of a crew, under the lock of their desk (`desk`).
impl Readiness {
    /// Has the next ring wake this sleeper, whoever calls it. If a flag is set already, it is woken
    /// at once.
    pub(crate) fn arm(&self, sleeper: Sleeper) {
        let bell = match sleeper {
            Sleeper::Nobody => AWAKE,
            Sleeper::Follower => FOLLOWER,
            Sleeper::Watcher { is_outside: false } => WATCHER,
            Sleeper::Watcher { is_outside: true } => SLEEPING_OUTSIDE,
        };
        // Release: a ringer who reads `SLEEPING_OUTSIDE` overwrites the bell outside after
        // `begin_watching` wrote it. A read-modify-write: it and the ringers' claims have one
        // order, so that a claim is of the bell before or of this one.
        self.own.bell.swap(bell, Ordering::AcqRel);
        if bell != AWAKE {
            fence(Ordering::SeqCst); // pairs with the fence in `Doorbell::claim_wake`
            if !self.own.flags.are_clear() {
                self.wake_whom_the_bell_names();
            }
        }
    }

    pub(crate) fn call_follower(&self) {
        count_and_wake(&self.followers);
    }

    pub(crate) fn call_all_followers(&self) {
        count_and_wake_all(&self.followers);
    }

    pub(crate) fn call_watcher(&self, is_outside: bool) {
        match &self.letter_box {
            Some(memory) if is_outside => memory.doorbell().rouse(),
            _ => count_and_wake(&self.watcher),
        }
    }

    /// To be read under the desk's lock, before others may call.
    pub(crate) fn begin_following(&self) -> Following<'_> {
        Following { readiness: self, seen: self.followers.load(Ordering::Relaxed) }
    }

    /// As [`begin_following`](Self::begin_following), for the one thread that watches.
    pub(crate) fn begin_watching(&self) -> Watching<'_> {
        let letter_box = self.letter_box.as_deref().filter(|_| self.expects_outside());
        let outside = letter_box.map(|memory| memory.doorbell());
        if let Some(outside) = outside {
            outside.bell.store(SLEEPING, Ordering::Relaxed);
        }
        Watching { readiness: self, outside, seen: self.watcher.load(Ordering::Relaxed) }
    }
}

/// Wakes a sleeper that waits for the word to count on; also one that has read it and does not sleep
/// yet.
fn count_and_wake(word: &Futex) {
    word.fetch_add(1, Ordering::Release);
    word.wake_one(Sharing::Private);
}

/// As [`count_and_wake`], for all sleepers.
fn count_and_wake_all(word: &Futex) {
    word.fetch_add(1, Ordering::Release);
    word.wake_all(Sharing::Private);
}

/// Whom a ring has to wake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sleeper {
    /// All that are needed are awake.
    Nobody,
    Follower,
    Watcher {
        is_outside: bool,
    },
}

/// A thread about to wait for a call.
pub(crate) struct Following<'a> {
    readiness: &'a Readiness,
    seen: u32,
}

impl Following<'_> {
    pub(crate) fn wait(self, timeout: Option<Duration>) {
        self.readiness.followers.wait(self.seen, Sharing::Private, timeout);
    }
}

/// A thread about to watch letter box and timers.
pub(crate) struct Watching<'a> {
    readiness: &'a Readiness,
    outside: Option<&'a Doorbell>,
    seen: u32,
}

impl Watching<'_> {
    /// Whether it is other processes' bell that it sleeps at.
    pub(crate) fn is_outside(&self) -> bool {
        self.outside.is_some()
    }

    pub(crate) fn wait(self, timeout: Option<Duration>) {
        match self.outside {
            None => self.readiness.watcher.wait(self.seen, Sharing::Private, timeout),
            Some(outside) => {
                fence(Ordering::SeqCst); // pairs with the fence in `Doorbell::claim_wake` of those outside
                if outside.flags.are_clear() {
                    outside.bell.wait(SLEEPING, Sharing::Shared, timeout);
                }
                outside.bell.store(AWAKE, Ordering::Relaxed);
            }
        }
    }
}

impl fmt::Debug for Readiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Readiness").field("number", &self.number()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod loom_tests;

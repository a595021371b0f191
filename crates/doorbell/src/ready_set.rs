//! The ready flags of one executor or wait set, and where its threads sleep.
//!
//! Rings of this process set flags in private memory, which no other process can touch. A doorbell
//! in shared memory stands beside it: its flags are fetched, and its futex is what the thread
//! sleeps on, since a thread can sleep at one place only. So whatever others write there, the rings
//! of this process arrive.
//!
//! The kernel takes longer to find who sleeps on a word that several processes map (0.17 us for
//! each of sleeping and waking where this was measured, a tenth of a hand-over). So a thread sleeps
//! there only while others are told that they may ring.

use crate::doorbell::{AWAKE, Doorbell, DoorbellMemory, SLEEPING};
use crate::flags::Slot;
use feros_sync::{AtomicUsize, Futex, Ordering, Sharing, fence};
use std::fmt;
use std::time::Duration;

// Loom's `Arc` cannot hold a trait object; what it would check is who drops last.
type Memory = std::sync::Arc<dyn DoorbellMemory>;

/// What the private bell says, besides AWAKE and SLEEPING, of a thread that sleeps at the shared
/// doorbell.
const SLEEPING_SHARED: u32 = 2;
/// ... of several threads: to be woken is a follower.
const FOLLOWER: u32 = 3;
/// ... the leader, which sleeps at a word of this process.
const LEADER: u32 = 4;

/// The ready flags of one executor or wait set. Many threads ring; one thread sleeps at the bell,
/// or several at the two words of leader and followers.
pub struct ReadySet {
    /// Its bell tells the ringers of this process whether somebody sleeps, and where.
    private: Doorbell,
    /// Count what followers and leader are woken for.
    followers: Futex,
    leader: Futex,
    shared: Option<Memory>,
    /// Entities whose place other processes are told; while there are none, no ring of theirs is
    /// expected.
    shared_entities: AtomicUsize,
}

impl ReadySet {
    /// For rings of this process alone.
    pub fn private() -> Self {
        Self::with(None)
    }

    /// With a doorbell for other processes, which is emptied: it may have had an owner before.
    pub fn shared_at(memory: Memory) -> Self {
        memory.doorbell().reset();
        Self::with(Some(memory))
    }

    fn with(shared: Option<Memory>) -> Self {
        let [followers, leader] = [(); 2].map(|()| Futex::new(0));
        let shared_entities = AtomicUsize::new(0);
        Self { private: Doorbell::new(), followers, leader, shared, shared_entities }
    }

    /// The number under which other processes ring.
    pub fn number(&self) -> Option<u32> {
        self.shared.as_ref().and_then(|memory| memory.number())
    }

    /// As [`Doorbell::ring`], but from inside the process.
    pub fn ring(&self, slot: Slot) {
        if self.private.flags.set(slot) || self.private.may_sleep() {
            self.wake_whom_the_bell_names();
        }
    }

    fn wake_whom_the_bell_names(&self) {
        match (self.private.claim_wake(), &self.shared) {
            // The bell there is not asked: it may have been scribbled over, and ours has said that
            // somebody sleeps.
            (Some(SLEEPING_SHARED), Some(memory)) => memory.doorbell().rouse(),
            (Some(FOLLOWER), _) => count_and_wake(&self.followers),
            (Some(LEADER), _) => count_and_wake(&self.leader),
            (Some(_), _) => self.private.bell.wake_one(Sharing::Private),
            (None, _) => {}
        }
    }

    /// To be called before other processes are told to ring one more entity; the entity has to be
    /// rung afterwards, because the thread may be asleep where others do not find it.
    pub fn begin_sharing(&self) {
        self.shared_entities.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes back [`begin_sharing`](Self::begin_sharing).
    pub fn end_sharing(&self) {
        self.shared_entities.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether other processes are told that they may ring.
    pub fn is_shared(&self) -> bool {
        self.shared_entities.load(Ordering::Relaxed) != 0
    }

    /// Takes the flag, whoever set it.
    pub fn take(&self, slot: Slot) -> bool {
        let by_others = self.shared.as_ref().is_some_and(|memory| memory.doorbell().take(slot));
        self.private.take(slot) || by_others
    }

    /// Whether a flag is set that was rung inside the process.
    #[cfg(test)]
    pub(crate) fn is_set(&self, slot: Slot) -> bool {
        self.private.flags.is_set(slot)
    }

    /// Whether no flag is seen, of whoever rang. One that is set meanwhile may be missed, but not
    /// by a sleeper.
    pub fn are_clear(&self) -> bool {
        self.private.flags.are_clear()
            && self.shared.as_ref().is_none_or(|memory| memory.doorbell().flags.are_clear())
    }

    /// Takes all flags, of whoever rang. One thread at a time.
    pub fn drain(&self, mut each: impl FnMut(Slot)) {
        self.drain_shared(&mut each);
        self.drain_private(each);
    }

    /// Takes all flags that other processes rang, or this one at the shared doorbell.
    pub fn drain_shared(&self, each: impl FnMut(Slot)) {
        if let Some(memory) = &self.shared {
            memory.doorbell().flags.drain(each);
        }
    }

    /// Takes all flags of rings of this process.
    pub fn drain_private(&self, each: impl FnMut(Slot)) {
        self.private.flags.drain(each);
    }

    /// Sleeps until somebody rings; the rest is as with [`Doorbell::wait`]. For one thread alone.
    pub fn wait(&self, timeout: Option<Duration>) {
        // Who changes the number rings afterwards: that ring is either yet to be taken, or shows
        // the number here.
        let Some(memory) = self.shared.as_ref().filter(|_| self.is_shared()) else {
            return self.private.wait_within(Sharing::Private, timeout);
        };
        let shared = memory.doorbell();
        shared.bell.store(SLEEPING, Ordering::Relaxed);
        // Release: a ringer who reads it here overwrites the shared bell after the line above has
        // written it.
        self.private.bell.store(SLEEPING_SHARED, Ordering::Release);
        fence(Ordering::SeqCst); // pairs with the fence in `Doorbell::claim_wake`, of both doorbells
        if self.private.flags.are_clear() && shared.flags.are_clear() {
            shared.bell.wait(SLEEPING, Sharing::Shared, timeout);
        }
        self.private.bell.store(AWAKE, Ordering::Relaxed);
        shared.bell.store(AWAKE, Ordering::Relaxed);
    }
}

/// For several threads, which take turns at being the leader: all of this is called under one lock
/// of theirs.
impl ReadySet {
    /// Has the next ring wake this sleeper. If a flag is set already, it is woken at once.
    pub fn arm(&self, sleeper: Sleeper) {
        let bell = match sleeper {
            Sleeper::Nobody => AWAKE,
            Sleeper::Follower => FOLLOWER,
            Sleeper::Leader { is_shared: false } => LEADER,
            Sleeper::Leader { is_shared: true } => SLEEPING_SHARED,
        };
        // Release: a ringer who reads `SLEEPING_SHARED` overwrites the shared bell after
        // `leader_wait` wrote it. A read-modify-write: it and the ringers' claims have one order,
        // so that a claim is of the bell before or of this one.
        self.private.bell.swap(bell, Ordering::AcqRel);
        if bell != AWAKE {
            fence(Ordering::SeqCst); // pairs with the fence in `Doorbell::claim_wake`
            if !self.private.flags.are_clear() {
                self.wake_whom_the_bell_names();
            }
        }
    }

    /// Wakes one follower, also one that is about to sleep.
    pub fn wake_follower(&self) {
        count_and_wake(&self.followers);
    }

    /// Wakes all followers, also those that are about to sleep.
    pub fn wake_all_followers(&self) {
        self.followers.fetch_add(1, Ordering::Release);
        self.followers.wake_all(Sharing::Private);
    }

    /// Wakes the leader, which sleeps at the shared doorbell or not.
    pub fn wake_leader(&self, is_shared: bool) {
        match &self.shared {
            Some(memory) if is_shared => memory.doorbell().rouse(),
            _ => count_and_wake(&self.leader),
        }
    }

    /// To be called under the lock; the wait itself comes after it.
    pub fn follower_wait(&self) -> FollowerWait<'_> {
        FollowerWait { ready_set: self, seen: self.followers.load(Ordering::Relaxed) }
    }

    /// As [`follower_wait`](Self::follower_wait), for the one thread that is the leader.
    pub fn leader_wait(&self) -> LeaderWait<'_> {
        let memory = self.shared.as_deref().filter(|_| self.is_shared());
        let shared = memory.map(|memory| memory.doorbell());
        if let Some(shared) = shared {
            shared.bell.store(SLEEPING, Ordering::Relaxed);
        }
        LeaderWait { ready_set: self, shared, seen: self.leader.load(Ordering::Relaxed) }
    }
}

/// Wakes a sleeper that waits for the word to count on; also one that has read it and does not
/// sleep yet.
fn count_and_wake(word: &Futex) {
    word.fetch_add(1, Ordering::Release);
    word.wake_one(Sharing::Private);
}

/// Whom a ring has to wake.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sleeper {
    /// All threads that are needed are awake.
    Nobody,
    /// One of those that wait to be woken by their own process alone.
    Follower,
    /// The one that waits for timers and other processes.
    Leader {
        /// It sleeps at the shared doorbell.
        is_shared: bool,
    },
}

/// A thread about to wait as a follower.
pub struct FollowerWait<'a> {
    ready_set: &'a ReadySet,
    seen: u32,
}

impl FollowerWait<'_> {
    /// Sleeps until woken, at most for `timeout`.
    pub fn wait(self, timeout: Option<Duration>) {
        self.ready_set.followers.wait(self.seen, Sharing::Private, timeout);
    }
}

/// A thread about to wait as the leader.
pub struct LeaderWait<'a> {
    ready_set: &'a ReadySet,
    shared: Option<&'a Doorbell>,
    seen: u32,
}

impl LeaderWait<'_> {
    /// Whether it sleeps at the shared doorbell.
    pub fn is_shared(&self) -> bool {
        self.shared.is_some()
    }

    /// Sleeps until woken, at most for `timeout`.
    pub fn wait(self, timeout: Option<Duration>) {
        match self.shared {
            None => self.ready_set.leader.wait(self.seen, Sharing::Private, timeout),
            Some(shared) => {
                // Pairs with the fence in `Doorbell::claim_wake` of other processes.
                fence(Ordering::SeqCst);
                if shared.flags.are_clear() {
                    shared.bell.wait(SLEEPING, Sharing::Shared, timeout);
                }
                shared.bell.store(AWAKE, Ordering::Relaxed);
            }
        }
    }
}

impl fmt::Debug for ReadySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReadySet").field("number", &self.number()).finish_non_exhaustive()
    }
}

impl fmt::Debug for FollowerWait<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FollowerWait").finish_non_exhaustive()
    }
}

impl fmt::Debug for LeaderWait<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LeaderWait").field("is_shared", &self.is_shared()).finish_non_exhaustive()
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod loom_tests;

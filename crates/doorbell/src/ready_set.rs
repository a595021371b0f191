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
use bell::SLEEPING_SHARED;
use feros_sync::{AtomicUsize, Futex, Ordering, Sharing, fence};
use std::fmt;
use std::time::Duration;

mod bell;

// Loom's `Arc` cannot hold a trait object; what it would check is who drops last.
type Memory = std::sync::Arc<dyn DoorbellMemory>;

/// The ready flags of one executor or wait set. Many threads ring; one thread sleeps at the bell,
/// or several at the two words of leader and followers.
pub struct ReadySet {
    /// Its bell tells the ringers of this process who sleeps, and where: see `bell`.
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

    /// As [`Doorbell::ring`], but from inside the process. Of several threads that sleep, the rings
    /// of two slots wake two.
    pub fn ring(&self, slot: Slot) {
        // Who set the flag before wakes a thread for it, unless it was held up on the way.
        let is_new = self.private.flags.set(slot);
        if is_new || bell::is_untouched(self.private.bell.load(Ordering::Relaxed)) {
            self.wake_next();
        }
    }

    /// Wakes one of those who sleep and have not been woken yet: the thread if there is one alone,
    /// else a follower, or the leader if no follower is left. Nothing if all are awake or on their
    /// way; to be called after a change that they will find.
    pub fn wake_next(&self) {
        // Pairs with the fence between writing the bell and looking at the flags.
        fence(Ordering::SeqCst);
        match self.change_bell(bell::without_next) {
            AWAKE => {}
            SLEEPING => self.private.bell.wake_one(Sharing::Private),
            SLEEPING_SHARED => self.rouse_shared(),
            said if said >= bell::FOLLOWER => count_and_wake(&self.followers),
            said => self.wake_leader_of(said),
        }
    }

    /// Changes the bell, which others may change too, and gives what it said.
    fn change_bell(&self, change: impl Fn(u32) -> u32) -> u32 {
        let bell = &self.private.bell;
        loop {
            let said = bell.load(Ordering::Relaxed);
            // Acquire and release: who reads that somebody sleeps at the shared doorbell
            // overwrites the bell there after the sleeper has written it.
            if change(said) == said || bell.replace(said, change(said), Ordering::AcqRel) {
                return said;
            }
        }
    }

    fn rouse_shared(&self) {
        // The bell there is not asked: it may have been scribbled over, and ours has said that
        // somebody sleeps.
        if let Some(memory) = &self.shared {
            memory.doorbell().rouse();
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
        // Release: see `change_bell`.
        self.private.bell.store(SLEEPING_SHARED, Ordering::Release);
        fence(Ordering::SeqCst); // pairs with the fences in `wake_next` and `Doorbell::wake`
        if self.private.flags.are_clear() && shared.flags.are_clear() {
            shared.bell.wait(SLEEPING, Sharing::Shared, timeout);
        }
        self.private.bell.store(AWAKE, Ordering::Relaxed);
        shared.bell.store(AWAKE, Ordering::Relaxed);
    }
}

/// For several threads, which take turns at being the leader: all of this is called under one lock
/// of theirs, but for the waits themselves.
impl ReadySet {
    /// Enters a thread that goes to sleep as a follower: from now on a ring may wake it. If a flag
    /// is set already, a sleeper is woken at once.
    pub fn follower_wait(&self) -> FollowerWait<'_> {
        let seen = self.followers.load(Ordering::Relaxed);
        self.enter(bell::FOLLOWER);
        FollowerWait { ready_set: self, seen }
    }

    /// To be called by each follower after its wait. `left`: how many still sleep or are on their
    /// way.
    pub fn follower_has_waited(&self, left: usize) {
        let left = u32::try_from(left).unwrap_or(u32::MAX);
        self.change_bell(|bell| bell::with_followers(bell, left));
    }

    /// As [`follower_wait`](Self::follower_wait), for the one thread that is the leader.
    pub fn leader_wait(&self) -> LeaderWait<'_> {
        let memory = self.shared.as_deref().filter(|_| self.is_shared());
        let shared = memory.map(|memory| memory.doorbell());
        let seen = self.leader.load(Ordering::Relaxed);
        if let Some(shared) = shared {
            shared.bell.store(SLEEPING, Ordering::Relaxed);
        }
        self.enter(if shared.is_some() { bell::LEADER_SHARED } else { bell::LEADER });
        LeaderWait { ready_set: self, shared, seen }
    }

    /// To be called by the leader after its wait.
    pub fn leader_has_waited(&self) {
        self.change_bell(bell::without_leader);
    }

    fn enter(&self, sleeper: u32) {
        self.change_bell(|bell| bell::with(bell, sleeper));
        fence(Ordering::SeqCst); // pairs with the fence in `wake_next`
        if !self.private.flags.are_clear() {
            self.wake_next();
        }
    }

    /// Wakes the leader, unless it is awake or on its way.
    pub fn wake_leader(&self) {
        let said = self.change_bell(bell::without_leader);
        if bell::has_leader(said) {
            self.wake_leader_of(said);
        }
    }

    /// Wakes all, also those that are about to sleep.
    pub fn wake_all(&self) {
        self.followers.fetch_add(1, Ordering::Release);
        self.followers.wake_all(Sharing::Private);
        self.wake_leader();
    }

    fn wake_leader_of(&self, said: u32) {
        if said & bell::LEADER != 0 {
            count_and_wake(&self.leader);
        } else {
            self.rouse_shared();
        }
    }
}

/// Wakes a sleeper that waits for the word to count on; also one that has read it and does not
/// sleep yet.
fn count_and_wake(word: &Futex) {
    word.fetch_add(1, Ordering::Release);
    word.wake_one(Sharing::Private);
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
                // Pairs with the fence in `Doorbell::wake` of other processes.
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

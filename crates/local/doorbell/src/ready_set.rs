//! The ready flags of one executor or wait set, and the futex words its threads sleep on.
//!
//! Rings of this process set flags in private memory, which no other process can touch. A separate
//! doorbell for rings of other processes may lie in shared memory. A ready set takes the flags of
//! both. A thread can sleep on only one futex; if other processes may ring, it sleeps on that of
//! the shared doorbell. Rings of this process arrive whatever other processes write to the
//! doorbell.
//!
//! The kernel takes longer to find the sleepers of a word that several processes map (0.17 us for
//! each of sleeping and waking where this was measured, a tenth of a hand-over). So a thread sleeps
//! on the shared futex only while other processes may ring.

use crate::doorbell::{AWAKE, Doorbell, DoorbellMemory, SLEEPING};
use crate::flags::Slot;
use bell::SLEEPING_SHARED;
use feros_sync::{AtomicUsize, Futex, Ordering, Sharing, fence};
use std::fmt;
use std::time::Duration;

mod bell;

// Loom's `Arc` cannot hold a trait object. All that it could check is which owner drops last.
type Memory = std::sync::Arc<dyn DoorbellMemory>;

/// The ready flags of one executor or wait set. Many threads ring. A single thread sleeps on the
/// bell; if there are several, one of them, the leader, sleeps on a word of its own or on the
/// shared doorbell, and the others, the followers, on another word.
pub struct ReadySet {
    /// The bell tells ringers of this process which threads sleep, and on which word: see `bell`.
    private: Doorbell,
    /// Counts the wake-ups of followers; `leader` counts those of the leader.
    followers: Futex,
    leader: Futex,
    shared: Option<Memory>,
    /// The number of entities that other processes may ring. While it is zero, no rings of other
    /// processes are expected.
    shared_entities: AtomicUsize,
}

impl ReadySet {
    /// Makes a ready set for rings of this process alone.
    pub fn private() -> Self {
        Self::with(None)
    }

    /// Makes a ready set with a doorbell for other processes. The doorbell is emptied, since it may
    /// have had another owner before.
    pub fn shared_at(memory: Memory) -> Self {
        memory.doorbell().reset();
        Self::with(Some(memory))
    }

    fn with(shared: Option<Memory>) -> Self {
        let [followers, leader] = [(); 2].map(|()| Futex::new(0));
        let shared_entities = AtomicUsize::new(0);
        Self { private: Doorbell::new(), followers, leader, shared, shared_entities }
    }

    /// The number by which other processes find the doorbell, so that they can ring it.
    pub fn number(&self) -> Option<u32> {
        self.shared.as_ref().and_then(|memory| memory.number())
    }

    /// Like [`Doorbell::ring`], but for rings of this process. If several threads sleep, rings of
    /// two slots wake two threads.
    pub fn ring(&self, slot: Slot) {
        // The thread that set the flag earlier wakes a sleeper for it, unless it was delayed in
        // between.
        let is_new = self.private.flags.set(slot);
        if is_new || bell::is_untouched(self.private.bell.load(Ordering::Relaxed)) {
            self.wake_next();
        }
    }

    /// Wakes one sleeper that has not been woken yet: the single thread, or a follower, or the
    /// leader if no follower is left. Does nothing if all threads are awake or have already been
    /// woken. Called after a change that the sleepers will find.
    pub fn wake_next(&self) {
        // Pairs with the fence between writing the bell and reading the flags.
        fence(Ordering::SeqCst);
        match self.change_bell(bell::without_next) {
            AWAKE => {}
            SLEEPING => self.private.bell.wake_one(Sharing::Private),
            SLEEPING_SHARED => self.rouse_shared(),
            said if said >= bell::FOLLOWER => count_and_wake(&self.followers),
            said => self.wake_leader_of(said),
        }
    }

    /// Changes the bell, even while other threads change it, and returns its former value.
    fn change_bell(&self, change: impl Fn(u32) -> u32) -> u32 {
        let bell = &self.private.bell;
        loop {
            let said = bell.load(Ordering::Relaxed);
            // Acquire and release: a thread that reads here that another thread sleeps on the
            // shared doorbell overwrites the doorbell's bell after the sleeper has written it.
            if change(said) == said || bell.replace(said, change(said), Ordering::AcqRel) {
                return said;
            }
        }
    }

    fn rouse_shared(&self) {
        // The shared doorbell's bell is not read: another process may have overwritten it, and this
        // process's bell has already shown that a thread sleeps there.
        if let Some(memory) = &self.shared {
            memory.doorbell().rouse();
        }
    }

    /// Call this before other processes learn that they may ring one more entity, and ring the
    /// entity afterwards: the thread may be asleep on a word that other processes cannot reach.
    pub fn begin_sharing(&self) {
        self.shared_entities.fetch_add(1, Ordering::Relaxed);
    }

    /// Reverses [`begin_sharing`](Self::begin_sharing).
    pub fn end_sharing(&self) {
        self.shared_entities.fetch_sub(1, Ordering::Relaxed);
    }

    /// Whether other processes may ring at present.
    pub fn is_shared(&self) -> bool {
        self.shared_entities.load(Ordering::Relaxed) != 0
    }

    /// Clears the flag, whichever process set it, and returns whether it was set.
    pub fn take(&self, slot: Slot) -> bool {
        let by_others = self.shared.as_ref().is_some_and(|memory| memory.doorbell().take(slot));
        self.private.take(slot) || by_others
    }

    /// Whether a ring inside the process has set the flag.
    #[cfg(test)]
    pub(crate) fn is_set(&self, slot: Slot) -> bool {
        self.private.flags.is_set(slot)
    }

    /// Whether this sees no flag of any process. This may miss a flag that is set meanwhile; a
    /// thread that goes to sleep never does.
    pub fn are_clear(&self) -> bool {
        self.private.flags.are_clear()
            && self.shared.as_ref().is_none_or(|memory| memory.doorbell().flags.are_clear())
    }

    /// Takes all flags that any process set, and passes their slots to `each`. One thread at a
    /// time.
    pub fn drain(&self, mut each: impl FnMut(Slot)) {
        self.drain_shared(&mut each);
        self.drain_private(each);
    }

    /// Takes all flags of the shared doorbell: those that other processes set, and those that this
    /// process set by ringing the doorbell itself.
    pub fn drain_shared(&self, each: impl FnMut(Slot)) {
        if let Some(memory) = &self.shared {
            memory.doorbell().flags.drain(each);
        }
    }

    /// Takes all flags that rings of this process set.
    pub fn drain_private(&self, each: impl FnMut(Slot)) {
        self.private.flags.drain(each);
    }

    /// Like [`Doorbell::wait`], for rings of this and other processes. For a single thread.
    pub fn wait(&self, timeout: Option<Duration>) {
        // A thread that changes `shared_entities` rings afterwards. Either that ring's flag is
        // still set, or the thread that took the flag sees the new number here.
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

/// For several threads that take turns as the leader. All functions here are called under one lock
/// that the threads share; only the waits themselves run without it.
impl ReadySet {
    /// Registers a thread that goes to sleep as a follower: from now on a ring may wake it. If a
    /// flag is already set, this wakes a sleeper at once.
    pub fn follower_wait(&self) -> FollowerWait<'_> {
        let seen = self.followers.load(Ordering::Relaxed);
        self.enter(bell::FOLLOWER);
        FollowerWait { ready_set: self, seen }
    }

    /// Each follower calls this after its wait. `left` is the number of followers that still sleep
    /// or are about to sleep.
    pub fn follower_has_waited(&self, left: usize) {
        let left = u32::try_from(left).unwrap_or(u32::MAX);
        self.change_bell(|bell| bell::with_followers(bell, left));
    }

    /// Like [`follower_wait`](Self::follower_wait), for the one thread that is the leader.
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

    /// The leader calls this after its wait.
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

    /// Wakes the leader, unless it is awake or has already been woken.
    pub fn wake_leader(&self) {
        let said = self.change_bell(bell::without_leader);
        if bell::has_leader(said) {
            self.wake_leader_of(said);
        }
    }

    /// Wakes all threads, including those that are about to sleep.
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

/// Wakes a sleeper that waits for the word to change, even if it has read the word and does not
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
    /// Whether the leader sleeps on the shared doorbell.
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

//! The ready flags of one executor or wait set, and the futex words on which its threads sleep.
//!
//! Rings of this process set flags in private memory, which no other process can access. A separate
//! doorbell for rings of other processes may lie in shared memory. A ready set takes the flags of
//! both. A thread can sleep on only one futex. If other processes may ring, it sleeps on the futex
//! of the shared doorbell. Rings of this process arrive no matter what other processes write to
//! that doorbell.
//!
//! The kernel takes longer to find the sleepers of a word that several processes map. In a
//! measurement, sleeping and waking each took 0.17 us longer, which is a tenth of a hand-over. So a
//! thread sleeps on the shared futex only while other processes may ring.

use crate::doorbell::{AWAKE, Doorbell, DoorbellMemory, SLEEPING};
use crate::flags::Slot;
use bell::SLEEPING_SHARED;
use feros_sync::{AtomicUsize, Futex, Ordering, Sharing, fence};
use std::fmt;
use std::time::Duration;

mod bell;

// Loom's `Arc` cannot contain a trait object, and loom could check only which owner drops it last.
type Memory = std::sync::Arc<dyn DoorbellMemory>;

/// The ready flags of one executor or wait set. Many threads ring. If a single thread waits, it
/// sleeps on the bell. If several threads wait, one of them, the leader, sleeps on its own word or
/// on the shared doorbell, and the other threads, the followers, sleep on another word.
pub struct ReadySet {
    /// The bell of this doorbell tells the ringers of this process which threads sleep, and on
    /// which word (see `bell`).
    private: Doorbell,
    /// Counts the wake-ups of followers, and is the word that they sleep on. `leader` is the same
    /// for the leader.
    followers: Futex,
    leader: Futex,
    shared: Option<Memory>,
    /// The number of entities that other processes may ring. While it is zero, no rings of other
    /// processes are expected.
    shared_entities: AtomicUsize,
}

impl ReadySet {
    /// Makes a ready set that only this process can ring.
    pub fn private() -> Self {
        Self::with(None)
    }

    /// Makes a ready set with a doorbell for other processes. The doorbell is reset, because it may
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
        // If the flag was already set, the thread that has set it wakes a sleeper, unless that
        // thread has been delayed before it does so.
        let is_new = self.private.flags.set(slot);
        if is_new || bell::is_untouched(self.private.bell.load(Ordering::Relaxed)) {
            self.wake_next();
        }
    }

    /// Wakes one sleeper that has not been woken yet: the single thread, or a follower, or, if
    /// there are no followers left, the leader. Does nothing if all threads are awake or have
    /// already been woken. This is called after a change that the sleepers will find.
    pub fn wake_next(&self) {
        // This pairs with the fence between writing the bell and reading the flags.
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
            // The ordering is acquire and release: if a thread reads here that another thread
            // sleeps on the shared doorbell, it overwrites the bell of that doorbell only after the
            // sleeper has written it.
            if change(said) == said || bell.replace(said, change(said), Ordering::AcqRel) {
                return said;
            }
        }
    }

    fn rouse_shared(&self) {
        // The bell of the shared doorbell is not read: another process may have overwritten it, and
        // the bell of this process has already shown that a thread sleeps there.
        if let Some(memory) = &self.shared {
            memory.doorbell().rouse();
        }
    }

    /// Call this before other processes learn that they may ring one more entity, and ring the
    /// entity after that, because the thread may be asleep on a word that other processes cannot
    /// reach.
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

    /// Clears the flag, no matter which process has set it, and returns whether it was set.
    pub fn take(&self, slot: Slot) -> bool {
        let by_others = self.shared.as_ref().is_some_and(|memory| memory.doorbell().take(slot));
        self.private.take(slot) || by_others
    }

    /// Whether a ring inside this process has set the flag.
    #[cfg(test)]
    pub(crate) fn is_set(&self, slot: Slot) -> bool {
        self.private.flags.is_set(slot)
    }

    /// Whether no flag of any process is set. This call may miss a flag that is being set, but a
    /// thread that goes to sleep never misses such a flag.
    pub fn are_clear(&self) -> bool {
        self.private.flags.are_clear()
            && self.shared.as_ref().is_none_or(|memory| memory.doorbell().flags.are_clear())
    }

    /// Takes all flags that any process has set, and passes their slots to `each`. Only one thread
    /// may call this at a time.
    pub fn drain(&self, mut each: impl FnMut(Slot)) {
        self.drain_shared(&mut each);
        self.drain_private(each);
    }

    /// Takes all flags of the shared doorbell: the flags that other processes have set, and the
    /// flags that this process has set by ringing the doorbell itself.
    pub fn drain_shared(&self, each: impl FnMut(Slot)) {
        if let Some(memory) = &self.shared {
            memory.doorbell().flags.drain(each);
        }
    }

    /// Takes all flags that rings of this process have set.
    pub fn drain_private(&self, each: impl FnMut(Slot)) {
        self.private.flags.drain(each);
    }

    /// Like [`Doorbell::wait`], for rings of this process and of other processes. Only for a single
    /// thread.
    pub fn wait(&self, timeout: Option<Duration>) {
        // A thread that changes `shared_entities` rings after that. Either the flag of that ring is
        // still set, or the thread that took the flag sees the new number here.
        let Some(memory) = self.shared.as_ref().filter(|_| self.is_shared()) else {
            return self.private.wait_within(Sharing::Private, timeout);
        };
        let shared = memory.doorbell();
        shared.bell.store(SLEEPING, Ordering::Relaxed);
        // The ordering is release (see `change_bell`).
        self.private.bell.store(SLEEPING_SHARED, Ordering::Release);
        fence(Ordering::SeqCst); // pairs with the fences in `wake_next` and `Doorbell::wake`
        if self.private.flags.are_clear() && shared.flags.are_clear() {
            shared.bell.wait(SLEEPING, Sharing::Shared, timeout);
        }
        self.private.bell.store(AWAKE, Ordering::Relaxed);
        shared.bell.store(AWAKE, Ordering::Relaxed);
    }
}

/// The functions for several threads that take turns as the leader. All of these functions must be
/// called under one lock that the threads share. Only the waits themselves run without the lock.
impl ReadySet {
    /// Registers a thread that goes to sleep as a follower. From now on, a ring may wake the
    /// thread. If a flag is already set, this call wakes a sleeper immediately.
    pub fn follower_wait(&self) -> FollowerWait<'_> {
        let seen = self.followers.load(Ordering::Relaxed);
        self.enter(bell::FOLLOWER);
        FollowerWait { ready_set: self, seen }
    }

    /// Each follower must call this after its wait. `left` is the number of followers that are
    /// still sleeping or about to sleep.
    pub fn follower_has_waited(&self, left: usize) {
        let left = u32::try_from(left).unwrap_or(u32::MAX);
        self.change_bell(|bell| bell::with_followers(bell, left));
    }

    /// Like [`follower_wait`](Self::follower_wait), but for the leader.
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

    /// The leader must call this after its wait.
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

    /// Wakes the leader, unless the leader is awake or has already been woken.
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

/// Wakes a sleeper that waits for the word to change, even if the sleeper has read the word but
/// does not sleep yet.
fn count_and_wake(word: &Futex) {
    word.fetch_add(1, Ordering::Release);
    word.wake_one(Sharing::Private);
}

/// A thread that is about to wait as a follower.
pub struct FollowerWait<'a> {
    ready_set: &'a ReadySet,
    seen: u32,
}

impl FollowerWait<'_> {
    /// Sleeps until it is woken, for at most `timeout`.
    pub fn wait(self, timeout: Option<Duration>) {
        self.ready_set.followers.wait(self.seen, Sharing::Private, timeout);
    }
}

/// A thread that is about to wait as the leader.
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

    /// Sleeps until it is woken, for at most `timeout`.
    pub fn wait(self, timeout: Option<Duration>) {
        match self.shared {
            None => self.ready_set.leader.wait(self.seen, Sharing::Private, timeout),
            Some(shared) => {
                // This pairs with the fence in `Doorbell::wake` of other processes.
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

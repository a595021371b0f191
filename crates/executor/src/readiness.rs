//! What an executor knows to be ready, and where it sleeps.
//!
//! Rings from inside the process set flags in private memory, which no other process can touch. A doorbell in shared
//! memory is only the letter box beside it: its flags are fetched, and its futex is what the executor sleeps on, since a
//! thread can sleep at one place only. So whatever others write there, the rings of this process arrive.
//!
//! The kernel takes longer to find who sleeps on a word that several processes map (0.17 us for each of sleeping and
//! waking where this was measured, a tenth of a hand-over). So the executor sleeps there only while others are told
//! that they may ring.

use crate::doorbell::{AWAKE, Doorbell, DoorbellMemory, SLEEPING};
use crate::flags::{Flags, Slot};
use crate::sync::futex::Reach;
use crate::sync::{AtomicUsize, Ordering, fence};
use std::fmt;
use std::time::Duration;

// Loom's `Arc` cannot hold a trait object; what it would check is who drops last.
type Memory = std::sync::Arc<dyn DoorbellMemory>;

/// What [`Readiness::own`]'s bell says, besides AWAKE and SLEEPING, of an executor that sleeps at the letter box.
const SLEEPING_OUTSIDE: u32 = 2;

/// The flags of one executor. Many threads ring, one thread sleeps.
pub(crate) struct Readiness {
    /// Its bell tells the ringers of this process whether the executor sleeps, and where.
    own: Doorbell,
    letter_box: Option<Memory>,
    /// Entities whose place others are told; while there are none, no ring from outside is expected.
    observed: AtomicUsize,
}

impl Readiness {
    /// For one process alone, which saves the kernel the search for what other processes map.
    pub(crate) fn private() -> Self {
        Self { own: Doorbell::new(), letter_box: None, observed: AtomicUsize::new(0) }
    }

    /// With a doorbell for others, which is emptied: it may have had an owner before.
    pub(crate) fn with_letter_box(memory: Memory) -> Self {
        memory.doorbell().reset();
        Self { own: Doorbell::new(), letter_box: Some(memory), observed: AtomicUsize::new(0) }
    }

    /// The number under which other processes ring.
    pub(crate) fn number(&self) -> Option<u32> {
        self.letter_box.as_ref().and_then(|memory| memory.number())
    }

    /// The flags of this process's rings, and of others' rings that were [fetched](Self::fetch).
    pub(crate) fn flags(&self) -> &Flags {
        &self.own.flags
    }

    /// As [`Doorbell::ring`], but from inside the process.
    pub(crate) fn ring(&self, slot: Slot) {
        if !self.own.flags.set(slot) && !self.own.may_sleep() {
            return;
        }
        match (self.own.claim_wake(), &self.letter_box) {
            // The bell there is not asked: it may have been scribbled over, and ours has said that somebody sleeps.
            (Some(SLEEPING_OUTSIDE), Some(memory)) => memory.doorbell().rouse(),
            (Some(_), _) => self.own.bell.wake(Reach::Process),
            (None, _) => {}
        }
    }

    /// To be called before others are told to ring one more entity; the entity has to be rung afterwards, because the
    /// executor may be asleep where others do not find it.
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
        let from_outside = self.letter_box.as_ref().is_some_and(|memory| memory.doorbell().take(slot));
        self.own.take(slot) || from_outside
    }

    /// Brings in what other processes rang. For the spinning thread.
    pub(crate) fn fetch(&self) {
        if let Some(memory) = &self.letter_box {
            memory.doorbell().flags.move_into(&self.own.flags);
        }
    }

    /// Sleeps until somebody rings; the rest is as with [`Doorbell::wait`].
    pub(crate) fn wait(&self, timeout: Option<Duration>) {
        // Who changes the number rings afterwards: that ring is either yet to be taken, or shows the number here.
        let Some(memory) = self.letter_box.as_ref().filter(|_| self.expects_outside()) else {
            return self.own.wait_within(Reach::Process, timeout);
        };
        let outside = memory.doorbell();
        outside.bell.store(SLEEPING, Ordering::Relaxed);
        // Release: a ringer who reads it here overwrites the bell outside after the line above has written it.
        self.own.bell.store(SLEEPING_OUTSIDE, Ordering::Release);
        fence(Ordering::SeqCst); // pairs with the fence in `Doorbell::claim_wake`, of both doorbells
        if self.own.flags.are_clear() && outside.flags.are_clear() {
            outside.bell.wait(SLEEPING, Reach::Host, timeout);
        }
        self.own.bell.store(AWAKE, Ordering::Relaxed);
        outside.bell.store(AWAKE, Ordering::Relaxed);
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

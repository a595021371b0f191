//! The doorbell: a futex word and ready flags with which threads, also of other processes, signal
//! that an entity has work.
//!
//! Every process that maps shared memory can write to it, so an executor reads it like a datagram:
//! it fetches the flags ([`ReadySet`](crate::ReadySet)), treats them as hints, and trusts nothing
//! else.

use crate::flags::{Flags, Slot};
use feros_sync::{Futex, Sharing};
use feros_sync::{Ordering, fence};
use std::time::Duration;

pub(crate) const AWAKE: u32 = 0;
pub(crate) const SLEEPING: u32 = 1;

/// A futex word and [`CAPACITY`](crate::CAPACITY) ready flags. Many threads of any process ring,
/// one thread sleeps.
///
/// It may lie in shared memory: the layout is fixed (576 bytes, aligned to 64), there are no
/// pointers, and every value of every byte is valid; all zero is a doorbell without flags. All
/// functions take constant time, whatever other processes write there.
///
/// # Why no wake-up is lost
///
/// The ringer writes flag and summary, then reads the bell; the sleeper writes the bell, then reads
/// the summary. With a sequentially consistent fence between the two steps on each side, at least
/// one of them sees what the other has written: either the sleeper finds the summary set and does
/// not sleep, or the ringer finds it asleep and wakes it. The kernel closes the remaining gap,
/// between the sleeper's last check and its sleep: the sleeper does not sleep if the bell has
/// changed.
///
/// # When a ringing process is killed
///
/// A process killed between flag and summary, or between changing the bell and the system call that
/// wakes the sleeper, leaves a flag that the sleeper does not notice until its next timeout, a
/// wake-up by its own process, or a call of [`nudge`](Self::nudge) by code that noticed the death.
/// In the first case, a further ring of the same slot completes the ring; in the second, further
/// rings do not wake the sleeper, because the bell says that it was woken. So a process that lets
/// others ring has to notice their deaths, and the time that this takes bounds the delay.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Doorbell {
    pub(crate) bell: Futex,
    pub(crate) flags: Flags,
}

impl Doorbell {
    /// A doorbell with no flag set.
    pub fn new() -> Self {
        Self { bell: Futex::new(AWAKE), flags: Flags::new() }
    }

    /// Sets the flag of `slot` and wakes the sleeper if it sleeps. Everything the caller wrote
    /// before is visible to the thread that takes the flag, even if the flag was set already.
    ///
    /// Never blocks and never allocates; at most one system call, none if no thread sleeps. May be
    /// called in a signal handler.
    pub fn ring(&self, slot: Slot) {
        if self.flags.set(slot) || self.may_sleep() {
            self.wake();
        }
    }

    /// Wakes the sleeper if any flag is set, also one that a killed process did not announce. To be
    /// called after noticing the death of a process that may have rung here: see
    /// [above](#when-a-ringing-process-is-killed).
    pub fn nudge(&self) {
        if self.flags.repair_summary() {
            fence(Ordering::SeqCst); // as in `wake`
            // Without a check of the bell: the killed process may have changed it without making
            // the system call.
            self.rouse();
        }
    }

    /// Clears the flag and returns whether it was set. True for exactly one of several threads that
    /// try at once. What the ringers wrote before ringing is visible afterwards.
    pub fn take(&self, slot: Slot) -> bool {
        self.flags.take(slot)
    }

    /// Whether the flag is set at this moment.
    pub fn is_set(&self, slot: Slot) -> bool {
        self.flags.is_set(slot)
    }

    /// Sleeps until a flag is set, at most for `timeout`; returns at once if one is set already.
    /// May return early without a reason: the caller checks the flags and its clock again. For one
    /// thread at a time, and not together with an executor.
    pub fn wait(&self, timeout: Option<Duration>) {
        self.wait_within(Sharing::Shared, timeout);
    }

    pub(crate) fn wait_within(&self, sharing: Sharing, timeout: Option<Duration>) {
        self.bell.store(SLEEPING, Ordering::Relaxed);
        fence(Ordering::SeqCst); // pairs with the fence in `wake`, of a `ReadySet` in `wake_next`
        if self.flags.are_clear() {
            self.bell.wait(SLEEPING, sharing, timeout);
        }
        // A ringer that still reads SLEEPING after this makes at worst one needless system call.
        self.bell.store(AWAKE, Ordering::Relaxed);
    }

    /// Wakes the sleeper; to be called after a change that the sleeper will find. Of several
    /// ringers at once, one wakes it.
    fn wake(&self) {
        fence(Ordering::SeqCst); // pairs with the fence between writing the bell and looking at the summary
        let bell = self.bell.load(Ordering::Relaxed);
        if bell != AWAKE && self.bell.replace(bell, AWAKE, Ordering::Relaxed) {
            self.bell.wake_one(Sharing::Shared);
        }
    }

    /// Wakes the sleeper regardless of the bell.
    pub(crate) fn rouse(&self) {
        self.bell.store(AWAKE, Ordering::Relaxed);
        self.bell.wake_one(Sharing::Shared);
    }

    /// Restores the state of a new doorbell, for memory that had other owners before.
    pub(crate) fn reset(&self) {
        self.flags.clear();
        self.bell.store(AWAKE, Ordering::Relaxed);
    }

    /// Whether the sleeper may be asleep. A value that is neither of the two was written by another
    /// process, possibly over SLEEPING.
    pub(crate) fn may_sleep(&self) -> bool {
        self.bell.load(Ordering::Relaxed) != AWAKE
    }
}

impl Default for Doorbell {
    fn default() -> Self {
        Self::new()
    }
}

/// The memory of an executor's [`Doorbell`]. Its owner may put the doorbell into memory that other
/// processes map and ring.
///
/// One value serves one executor at a time. The executor and its handles own it together, so its
/// `drop` is the time to reuse the memory.
pub trait DoorbellMemory: Send + Sync + 'static {
    /// The doorbell, always the same one. Called with every ring, also in signal handlers: it must
    /// only return an address.
    fn doorbell(&self) -> &Doorbell;

    /// The number by which other processes find it; `None` if none can.
    fn number(&self) -> Option<u32>;
}

impl DoorbellMemory for Doorbell {
    fn doorbell(&self) -> &Doorbell {
        self
    }

    fn number(&self) -> Option<u32> {
        None
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_layout_is_fixed() {
        assert_eq!(align_of::<Doorbell>(), 64);
        assert_eq!(size_of::<Doorbell>(), 576);
        assert_eq!(std::mem::offset_of!(Doorbell, bell), 0);
        assert_eq!(std::mem::offset_of!(Doorbell, flags), 8);
        assert_eq!(std::mem::offset_of!(Flags, summary), 0);
        assert_eq!(std::mem::offset_of!(Flags, words), 8);
    }

    #[test]
    fn waiting_returns_at_once_when_a_flag_is_set_and_with_its_timeout() {
        let doorbell = Doorbell::new();
        doorbell.wait(Some(Duration::from_millis(1)));
        let slot = Slot::new(1).unwrap();
        doorbell.ring(slot);
        doorbell.wait(None); // would hang
        assert!(doorbell.take(slot));
    }

    /// The ringer is killed after it changed the bell, before it woke the sleeper: a nudge wakes
    /// the sleeper.
    #[test]
    fn a_nudge_wakes_over_a_flag_that_nobody_announced() {
        let doorbell = Doorbell::new();
        doorbell.nudge(); // nothing is set, nothing happens
        assert!(doorbell.flags.are_clear());
        let slot = Slot::new(100).unwrap();
        std::thread::scope(|scope| {
            let sleeper = std::thread::Builder::new()
                .name("sleeper".into())
                .spawn_scoped(scope, || {
                    while !doorbell.take(slot) {
                        doorbell.wait(None);
                    }
                })
                .unwrap();
            while doorbell.bell.load(Ordering::Relaxed) != SLEEPING {
                std::thread::yield_now();
            }
            doorbell.flags.words[1].fetch_or(1 << 36, Ordering::Relaxed); // and no summary
            doorbell.bell.store(AWAKE, Ordering::Relaxed); // and no system call
            while !sleeper.is_finished() {
                doorbell.nudge();
                std::thread::yield_now();
            }
        });
    }
}

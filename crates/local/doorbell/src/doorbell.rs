//! The doorbell: a futex word and ready flags. Threads of this and other processes use them to
//! signal that an entity has work.
//!
//! Every process that maps shared memory can write to it. So an executor trusts the doorbell as
//! little as a datagram from the network: it takes the flags ([`ReadySet`](crate::ReadySet)) only
//! as hints, and relies on nothing else.

use crate::flags::{Flags, Slot};
use feros_sync::{Futex, Sharing};
use feros_sync::{Ordering, fence};
use std::time::Duration;

pub(crate) const AWAKE: u32 = 0;
pub(crate) const SLEEPING: u32 = 1;

/// A futex word and [`CAPACITY`](crate::CAPACITY) ready flags. Many threads of any process ring the
/// doorbell, and one thread sleeps on it.
///
/// A doorbell may lie in shared memory: its layout is fixed (576 bytes, aligned to 64), it contains
/// no pointers, and every byte may have any value. If all bytes are zero, no flag is set. All
/// functions take constant time, no matter what other processes write to the doorbell.
///
/// # Why no wake-up is lost
///
/// The ringer first writes the flag and the summary, and then reads the bell (the futex word). The
/// sleeper first writes the bell, and then reads the summary. Between the two steps, each side has
/// a sequentially consistent fence, so at least one side sees what the other has written: either
/// the sleeper finds the summary set and does not sleep, or the ringer finds that the sleeper
/// sleeps, and wakes it. The kernel covers the remaining case, in which the ring happens between
/// the sleeper's last check and its sleep: the sleeper does not sleep if the bell has changed.
///
/// # When a ringing process is killed
///
/// A process may be killed after it has set the flag and before it sets the summary, or after it
/// has changed the bell and before the system call that wakes the sleeper. The sleeper then does
/// not notice the flag until its next timeout, until its own process wakes it, or until code that
/// has noticed the death calls [`nudge`](Self::nudge). In the first case, another ring of the same
/// slot also helps. In the second case, further rings do not wake the sleeper, because the bell
/// says that it has been woken. So a process that lets other processes ring must notice when they
/// are killed, and the wake-up is delayed until then.
#[repr(C, align(64))]
#[derive(Debug)]
pub struct Doorbell {
    pub(crate) bell: Futex,
    pub(crate) flags: Flags,
}

impl Doorbell {
    /// Makes a doorbell with no flag set.
    pub fn new() -> Self {
        Self { bell: Futex::new(AWAKE), flags: Flags::new() }
    }

    /// Sets the flag of `slot` and wakes the sleeper if it sleeps. The thread that takes the flag
    /// sees everything that the caller wrote before this call, even if the flag was already set.
    ///
    /// Never blocks and never allocates. Makes one system call if a thread sleeps, and no system
    /// call otherwise. Signal handlers may call it.
    pub fn ring(&self, slot: Slot) {
        if self.flags.set(slot) || self.may_sleep() {
            self.wake();
        }
    }

    /// Wakes the sleeper if any flag is set, even a flag whose ringer was killed before it woke the
    /// sleeper. Call this when you notice the death of a process that may have rung this doorbell
    /// (see [above](#when-a-ringing-process-is-killed)).
    pub fn nudge(&self) {
        if self.flags.repair_summary() {
            fence(Ordering::SeqCst); // see `wake`
            // The bell is not checked: the killed process may have changed it without making the
            // system call.
            self.rouse();
        }
    }

    /// Clears the flag and returns whether it was set. If several threads call this at the same
    /// time, exactly one of them gets true. After this call, the caller sees everything that the
    /// ringers wrote before they rang.
    pub fn take(&self, slot: Slot) -> bool {
        self.flags.take(slot)
    }

    /// Whether the flag is set at this moment.
    pub fn is_set(&self, slot: Slot) -> bool {
        self.flags.is_set(slot)
    }

    /// Sleeps until a flag is set, for at most `timeout`. Returns immediately if a flag is already
    /// set. May return early for no reason, so the caller must check the flags and the time again.
    /// Only one thread may wait at a time, and no thread may wait while an executor uses the
    /// doorbell.
    pub fn wait(&self, timeout: Option<Duration>) {
        self.wait_within(Sharing::Shared, timeout);
    }

    pub(crate) fn wait_within(&self, sharing: Sharing, timeout: Option<Duration>) {
        self.bell.store(SLEEPING, Ordering::Relaxed);
        fence(Ordering::SeqCst); // pairs with the fences in `wake` and `ReadySet::wake_next`
        if self.flags.are_clear() {
            self.bell.wait(SLEEPING, sharing, timeout);
        }
        // At worst, a ringer that still reads SLEEPING after this statement makes one unnecessary
        // system call.
        self.bell.store(AWAKE, Ordering::Relaxed);
    }

    /// Wakes the sleeper. This is called after a change that the sleeper will find. If several
    /// threads ring at the same time, one of them wakes the sleeper.
    fn wake(&self) {
        fence(Ordering::SeqCst); // pairs with the fence between writing the bell and reading the summary
        let bell = self.bell.load(Ordering::Relaxed);
        if bell != AWAKE && self.bell.replace(bell, AWAKE, Ordering::Relaxed) {
            self.bell.wake_one(Sharing::Shared);
        }
    }

    /// Wakes the sleeper, no matter what value the bell has.
    pub(crate) fn rouse(&self) {
        self.bell.store(AWAKE, Ordering::Relaxed);
        self.bell.wake_one(Sharing::Shared);
    }

    /// Restores the state of a new doorbell, in memory that may have had another owner before.
    pub(crate) fn reset(&self) {
        self.flags.clear();
        self.bell.store(AWAKE, Ordering::Relaxed);
    }

    /// Whether the sleeper may be asleep. A value other than AWAKE and SLEEPING was written by
    /// another process, which may have overwritten SLEEPING.
    pub(crate) fn may_sleep(&self) -> bool {
        self.bell.load(Ordering::Relaxed) != AWAKE
    }
}

impl Default for Doorbell {
    fn default() -> Self {
        Self::new()
    }
}

/// The memory of an executor's [`Doorbell`], which may be shared memory, so that other processes
/// can ring.
///
/// Each value serves one executor at a time. The executor and its handles share the ownership of
/// the value. After the value has been dropped, the memory may be used again.
pub trait DoorbellMemory: Send + Sync + 'static {
    /// Returns the doorbell, which must always be the same. Every ring calls this function, even in
    /// signal handlers, so it must do nothing but return the address.
    fn doorbell(&self) -> &Doorbell;

    /// The number by which other processes find the doorbell, or `None` if other processes cannot
    /// find it.
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
        doorbell.wait(None); // this waits forever if the ring is lost
        assert!(doorbell.take(slot));
    }

    /// The ringer is killed after it has changed the bell and before it wakes the sleeper. A nudge
    /// wakes the sleeper.
    #[test]
    fn a_nudge_wakes_over_a_flag_that_nobody_announced() {
        let doorbell = Doorbell::new();
        doorbell.nudge(); // this does nothing, because no flag is set
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
            doorbell.flags.words[1].fetch_or(1 << 36, Ordering::Relaxed); // without the summary bit
            doorbell.bell.store(AWAKE, Ordering::Relaxed); // without the system call
            while !sleeper.is_finished() {
                doorbell.nudge();
                std::thread::yield_now();
            }
        });
    }
}

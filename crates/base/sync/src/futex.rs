//! The futex of Linux (see futex(2)): a word on which threads sleep while it has a certain value.

use crate::{AtomicU32, Ordering, Sharing};
use rustix::thread::futex::{self, Flags};
use rustix::time::Timespec;
use std::time::Duration;

/// A 32-bit word on which threads can sleep and from which others can wake them.
///
/// It has the same layout as the word, so it can lie in shared memory.
#[repr(transparent)]
#[derive(Debug)]
pub struct Futex(AtomicU32);

impl Futex {
    /// Makes a futex whose word is `value`.
    pub const fn new(value: u32) -> Self {
        Self(AtomicU32::new(value))
    }

    /// Like [`AtomicU32::load`].
    pub fn load(&self, order: Ordering) -> u32 {
        self.0.load(order)
    }

    /// Like [`AtomicU32::store`]. Wakes no thread.
    pub fn store(&self, value: u32, order: Ordering) {
        self.0.store(value, order);
    }

    /// Like [`AtomicU32::swap`]. Wakes no thread.
    pub fn swap(&self, value: u32, order: Ordering) -> u32 {
        self.0.swap(value, order)
    }

    /// Like [`AtomicU32::fetch_add`]. Wakes no thread.
    pub fn fetch_add(&self, value: u32, order: Ordering) -> u32 {
        self.0.fetch_add(value, order)
    }

    /// If the word is `from`, sets it to `to` with this memory order and returns true. Otherwise,
    /// returns false.
    pub fn replace(&self, from: u32, to: u32, order: Ordering) -> bool {
        self.0.compare_exchange(from, to, order, Ordering::Relaxed).is_ok()
    }

    /// Sleeps while the word is `expected`, for at most `timeout`. May return early for any reason
    /// (a signal, a wake-up, or a changed word). The caller must check its own condition again, so
    /// this function does not return the reason.
    pub fn wait(&self, expected: u32, sharing: Sharing, timeout: Option<Duration>) {
        let timeout = timeout.map(|duration| Timespec {
            tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: duration.subsec_nanos().into(),
        });
        let _ = futex::wait(&self.0, flags(sharing), expected, timeout.as_ref());
    }

    /// Wakes one sleeping thread, if there is any. The function consists only of a system call, so
    /// a signal handler may call it.
    pub fn wake_one(&self, sharing: Sharing) {
        self.wake(sharing, 1);
    }

    /// Wakes all sleeping threads.
    pub fn wake_all(&self, sharing: Sharing) {
        self.wake(sharing, i32::MAX as u32);
    }

    fn wake(&self, sharing: Sharing, most: u32) {
        // The call fails only for a bad address or bad flags. Both are impossible, because the
        // address is from a reference and the flags are constants.
        let _ = futex::wake(&self.0, flags(sharing), most);
    }
}

fn flags(sharing: Sharing) -> Flags {
    match sharing {
        Sharing::Private => Flags::PRIVATE,
        Sharing::Shared => Flags::empty(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends_with_its_timeout_or_with_another_value() {
        let futex = Futex::new(7);
        futex.wait(7, Sharing::Private, Some(Duration::from_millis(1)));
        futex.wait(6, Sharing::Shared, None); // this would wait forever
        assert!(futex.replace(7, 8, Ordering::Relaxed) && !futex.replace(7, 9, Ordering::Relaxed));
        assert_eq!(futex.load(Ordering::Relaxed), 8);
    }

    #[test]
    fn all_sleepers_are_woken() {
        for sharing in [Sharing::Private, Sharing::Shared] {
            let futex = Futex::new(0);
            std::thread::scope(|scope| {
                for _ in 0..3 {
                    scope.spawn(|| {
                        while futex.load(Ordering::Acquire) == 0 {
                            futex.wait(0, sharing, None);
                        }
                    });
                }
                futex.store(1, Ordering::Release);
                futex.wake_all(sharing); // a thread that is not asleep yet sees the new value
            });
        }
    }
}

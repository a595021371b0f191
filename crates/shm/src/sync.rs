//! The one place that decides between the real concurrency primitives and loom's, so that the code
//! that loom checks is the code that runs.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

/// Locks and ignores poison: no code of the user runs under a lock of this crate, and every
/// critical section leaves its data consistent at each step.
#[cfg(not(loom))]
pub(crate) fn lock<T: ?Sized>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// A 32-bit word on whose change threads of any process that maps it can sleep.
#[cfg(not(loom))]
pub(crate) mod futex {
    use super::{AtomicU32, Ordering};
    use rustix::thread::futex::{self, Flags};
    use rustix::time::Timespec;
    use std::time::Duration;

    /// `repr(transparent)`, so that a struct holding it has the layout of the bare word.
    #[repr(transparent)]
    #[derive(Debug)]
    pub(crate) struct Futex(AtomicU32);

    impl Futex {
        #[cfg(test)]
        pub(crate) fn new(value: u32) -> Self {
            Self(AtomicU32::new(value))
        }

        pub(crate) fn load(&self, order: Ordering) -> u32 {
            self.0.load(order)
        }

        pub(crate) fn compare_exchange(&self, from: u32, to: u32) -> bool {
            self.0.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        }

        /// Sleeps while the word holds `expected`, at most for `timeout`. May return early for any
        /// reason.
        pub(crate) fn wait(&self, expected: u32, timeout: Option<Duration>) {
            let timeout = timeout.map(|duration| Timespec {
                tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: duration.subsec_nanos().into(),
            });
            let _ = futex::wait(&self.0, Flags::empty(), expected, timeout.as_ref());
        }

        /// Wakes all sleepers.
        pub(crate) fn wake_all(&self) {
            // The only failures are a bad address and bad flags, which a reference and constants
            // exclude.
            let _ = futex::wake(&self.0, Flags::empty(), i32::MAX as u32);
        }
    }
}

/// Loom's stand-in: like the kernel, it compares the word and goes to sleep in one step under a
/// lock that the waker takes too. It gives no ordering of the caller's data beyond that, and
/// timeouts do not exist.
#[cfg(loom)]
pub(crate) mod futex {
    use loom::sync::atomic::{AtomicU32, Ordering};
    use loom::sync::{Condvar, Mutex};
    use std::time::Duration;

    #[derive(Debug)]
    pub(crate) struct Futex {
        word: AtomicU32,
        queue: Mutex<()>,
        wake_up: Condvar,
    }

    impl Futex {
        pub(crate) fn new(value: u32) -> Self {
            Self { word: AtomicU32::new(value), queue: Mutex::new(()), wake_up: Condvar::new() }
        }

        pub(crate) fn load(&self, order: Ordering) -> u32 {
            self.word.load(order)
        }

        pub(crate) fn compare_exchange(&self, from: u32, to: u32) -> bool {
            self.word.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok()
        }

        pub(crate) fn wait(&self, expected: u32, timeout: Option<Duration>) {
            assert!(timeout.is_none(), "loom knows no time");
            let queue = self.queue.lock().expect("loom poisons nothing");
            if self.word.load(Ordering::Relaxed) == expected {
                drop(self.wake_up.wait(queue).expect("loom poisons nothing"));
            }
        }

        pub(crate) fn wake_all(&self) {
            let _queue = self.queue.lock().expect("loom poisons nothing");
            self.wake_up.notify_all();
        }
    }
}

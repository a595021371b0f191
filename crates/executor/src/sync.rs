//! The one place that decides between the real concurrency primitives and loom's, so that the code
//! that loom checks is the code that runs.

#[cfg(loom)]
pub(crate) use loom::sync::{
    Arc, Mutex, MutexGuard, RwLock,
    atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence},
};
#[cfg(not(loom))]
pub(crate) use std::sync::{
    Arc, Condvar, Mutex, MutexGuard, PoisonError, RwLock, Weak,
    atomic::{AtomicBool, AtomicI64, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
};

/// Locks and ignores poison: no code of the user runs under a lock of this crate, and every
/// critical section leaves its data consistent at each step.
#[cfg(not(loom))]
pub(crate) fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(loom)]
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("loom poisons nothing")
}

/// Who may sleep on and wake a futex.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Reach {
    /// Threads of one process: the kernel finds the sleeper by the virtual address, which is
    /// cheaper.
    Process,
    /// Threads of any process that maps the word.
    Host,
}

/// A 32-bit word on which one thread can sleep and which others can wake it from.
#[cfg(not(loom))]
pub(crate) mod futex {
    pub(crate) use super::Reach;
    use super::{AtomicU32, Ordering};
    use rustix::thread::futex::{self, Flags};
    use rustix::time::Timespec;
    use std::time::Duration;

    /// `repr(transparent)`, so that a struct holding it has the layout of the bare word.
    #[repr(transparent)]
    #[derive(Debug)]
    pub(crate) struct Futex(AtomicU32);

    impl Futex {
        pub(crate) fn new(value: u32) -> Self {
            Self(AtomicU32::new(value))
        }

        pub(crate) fn load(&self, order: Ordering) -> u32 {
            self.0.load(order)
        }

        pub(crate) fn store(&self, value: u32, order: Ordering) {
            self.0.store(value, order);
        }

        pub(crate) fn swap(&self, value: u32, order: Ordering) -> u32 {
            self.0.swap(value, order)
        }

        pub(crate) fn compare_exchange(
            &self,
            from: u32,
            to: u32,
            order: Ordering,
        ) -> Result<u32, u32> {
            self.0.compare_exchange(from, to, order, Ordering::Relaxed)
        }

        /// Sleeps while the word holds `expected`, at most for `timeout`. May return early for any
        /// reason (a signal, a wake-up, a changed word): the caller looks at its own condition
        /// again, so the reason is not told.
        pub(crate) fn wait(&self, expected: u32, reach: Reach, timeout: Option<Duration>) {
            let timeout = timeout.map(|duration| Timespec {
                tv_sec: i64::try_from(duration.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: duration.subsec_nanos().into(),
            });
            let _ = futex::wait(&self.0, flags(reach), expected, timeout.as_ref());
        }

        /// Wakes a sleeper, if there is one. Only a system call: usable in a signal handler.
        pub(crate) fn wake(&self, reach: Reach) {
            // The only failures are a bad address and bad flags, which a reference and constants
            // exclude.
            let _ = futex::wake(&self.0, flags(reach), 1);
        }

        /// Wakes a sleeper who waits for the word to count on; also one who has read it and does
        /// not sleep yet.
        pub(crate) fn count_and_wake(&self) {
            self.0.fetch_add(1, Ordering::Release);
            self.wake(Reach::Process);
        }

        /// As `count_and_wake`, for all sleepers.
        pub(crate) fn count_and_wake_all(&self) {
            self.0.fetch_add(1, Ordering::Release);
            let _ = futex::wake(&self.0, flags(Reach::Process), i32::MAX as u32);
        }
    }

    fn flags(reach: Reach) -> Flags {
        match reach {
            Reach::Process => Flags::PRIVATE,
            Reach::Host => Flags::empty(),
        }
    }
}

/// Loom's stand-in: like the kernel, it compares the word and goes to sleep in one step under a
/// lock that the waker takes too. It gives no ordering of the caller's data beyond that, and
/// timeouts do not exist.
#[cfg(loom)]
pub(crate) mod futex {
    pub(crate) use super::Reach;
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

        pub(crate) fn store(&self, value: u32, order: Ordering) {
            self.word.store(value, order);
        }

        pub(crate) fn swap(&self, value: u32, order: Ordering) -> u32 {
            self.word.swap(value, order)
        }

        pub(crate) fn compare_exchange(
            &self,
            from: u32,
            to: u32,
            order: Ordering,
        ) -> Result<u32, u32> {
            self.word.compare_exchange(from, to, order, Ordering::Relaxed)
        }

        pub(crate) fn wait(&self, expected: u32, _reach: Reach, timeout: Option<Duration>) {
            assert!(timeout.is_none(), "loom knows no time");
            let queue = self.queue.lock().expect("loom poisons nothing");
            if self.word.load(Ordering::Relaxed) == expected {
                drop(self.wake_up.wait(queue).expect("loom poisons nothing"));
            }
        }

        pub(crate) fn wake(&self, _reach: Reach) {
            let _queue = self.queue.lock().expect("loom poisons nothing");
            self.wake_up.notify_one();
        }

        pub(crate) fn count_and_wake(&self) {
            self.word.fetch_add(1, Ordering::Release);
            self.wake(Reach::Process);
        }

        pub(crate) fn count_and_wake_all(&self) {
            self.word.fetch_add(1, Ordering::Release);
            let _queue = self.queue.lock().expect("loom poisons nothing");
            self.wake_up.notify_all();
        }
    }
}

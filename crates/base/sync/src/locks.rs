//! Mutex, read-write lock and condition variable without poison.

#[cfg(loom)]
use loom::sync as real;
#[cfg(not(loom))]
use std::sync as real;

pub use real::{MutexGuard, RwLockReadGuard, RwLockWriteGuard};
use std::sync::{LockResult, PoisonError, TryLockError};
use std::time::{Duration, Instant};

fn whatever<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}

/// [`std::sync::Mutex`] without poison.
#[derive(Debug, Default)]
pub struct Mutex<T: ?Sized>(real::Mutex<T>);

impl<T> Mutex<T> {
    /// Makes a mutex that protects `value`.
    #[cfg(not(loom))]
    pub const fn new(value: T) -> Self {
        Self(real::Mutex::new(value))
    }

    #[cfg(loom)]
    #[allow(missing_docs, reason = "as above, but not const")]
    pub fn new(value: T) -> Self {
        Self(real::Mutex::new(value))
    }

    /// Returns the value. No other borrow can exist, because the function takes `self` by value.
    pub fn into_inner(self) -> T {
        whatever(self.0.into_inner())
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock, and borrows the value until the guard is dropped.
    pub fn lock(&self) -> MutexGuard<'_, T> {
        whatever(self.0.lock())
    }

    /// Borrows the value. Returns `None` if another thread holds the lock.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        match self.0.try_lock() {
            Ok(guard) => Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }

    /// Borrows the value without locking. No other borrow can exist, because the function takes
    /// `&mut self`.
    pub fn get_mut(&mut self) -> &mut T {
        whatever(self.0.get_mut())
    }
}

/// [`std::sync::RwLock`] without poison.
#[derive(Debug, Default)]
pub struct RwLock<T>(real::RwLock<T>);

impl<T> RwLock<T> {
    /// Makes a lock that protects `value`.
    #[cfg(not(loom))]
    pub const fn new(value: T) -> Self {
        Self(real::RwLock::new(value))
    }

    #[cfg(loom)]
    #[allow(missing_docs, reason = "as above, but not const")]
    pub fn new(value: T) -> Self {
        Self(real::RwLock::new(value))
    }

    /// Waits until no thread writes, and borrows the value for reading. Other threads may read at
    /// the same time.
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        whatever(self.0.read())
    }

    /// Waits until no other thread reads or writes, and borrows the value exclusively.
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        whatever(self.0.write())
    }
}

/// [`std::sync::Condvar`] for a [`Mutex`] without poison.
#[derive(Debug, Default)]
pub struct Condvar(real::Condvar);

impl Condvar {
    /// Makes a condition variable, to be used with one mutex.
    #[cfg(not(loom))]
    pub const fn new() -> Self {
        Self(real::Condvar::new())
    }

    #[cfg(loom)]
    #[allow(missing_docs, reason = "as above, but not const")]
    pub fn new() -> Self {
        Self(real::Condvar::new())
    }

    /// Releases the lock, sleeps until notified, and takes the lock again. May return early for any
    /// reason.
    pub fn wait<'a, T>(&self, guard: MutexGuard<'a, T>) -> MutexGuard<'a, T> {
        whatever(self.0.wait(guard))
    }

    /// Like [`wait`](Self::wait), but waits for at most `timeout`.
    pub fn wait_timeout<'a, T>(
        &self,
        guard: MutexGuard<'a, T>,
        timeout: Duration,
    ) -> MutexGuard<'a, T> {
        whatever(self.0.wait_timeout(guard, timeout)).0
    }

    /// Waits while `condition` returns true.
    pub fn wait_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        while condition(&mut guard) {
            guard = self.wait(guard);
        }
        guard
    }

    /// Waits while `condition` returns true, for at most `timeout`.
    pub fn wait_timeout_while<'a, T>(
        &self,
        mut guard: MutexGuard<'a, T>,
        timeout: Duration,
        mut condition: impl FnMut(&mut T) -> bool,
    ) -> MutexGuard<'a, T> {
        let end = Instant::now().checked_add(timeout);
        while condition(&mut guard) {
            guard = match end.map(|end| end.saturating_duration_since(Instant::now())) {
                Some(Duration::ZERO) => return guard,
                Some(rest) => self.wait_timeout(guard, rest),
                None => self.wait(guard),
            };
        }
        guard
    }

    /// Wakes one waiting thread.
    pub fn notify_one(&self) {
        self.0.notify_one();
    }

    /// Wakes all waiting threads.
    pub fn notify_all(&self) {
        self.0.notify_all();
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn waiting_ends_with_the_condition_or_with_the_time() {
        let (count, changed) = (Mutex::new(0), Condvar::new());
        let short = Duration::from_millis(1);
        assert_eq!(*changed.wait_timeout_while(count.lock(), short, |count| *count == 0), 0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                *count.lock() = 1;
                changed.notify_all();
            });
            let is_zero = |count: &mut i32| *count == 0;
            assert_eq!(*changed.wait_timeout_while(count.lock(), Duration::MAX, is_zero), 1);
            assert_eq!(*changed.wait_while(count.lock(), is_zero), 1);
        });
    }

    /// After a panic while a lock is held, other threads find the value that it had at that moment.
    #[test]
    fn a_panic_poisons_nothing() {
        let (mutex, lock) = (Mutex::new(1), RwLock::new(1));
        let panicked = std::thread::scope(|scope| {
            let thread = scope.spawn(|| {
                let (mut first, mut second) = (mutex.lock(), lock.write());
                (*first, *second) = (2, 2);
                panic!("under two locks");
            });
            thread.join().is_err()
        });
        assert!(panicked);
        assert_eq!((*mutex.lock(), *lock.read()), (2, 2));
    }
}

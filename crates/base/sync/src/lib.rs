//! Synchronization of threads: atomics, locks without poison, the [`Futex`], and the
//! [`WakeDescriptor`].
//!
//! Under `cfg(loom)`, this crate uses the atomics and locks of [loom](https://docs.rs/loom) and not
//! those of the standard library, so that loom can check the code that uses this crate. No other
//! crate makes this choice.
//!
//! A poisoned lock means that a thread panicked while it held the lock. Feros runs no user code
//! under a lock, and each critical section leaves its data consistent after every statement. So the
//! locks of this crate ignore poison, and a panic in one callback affects no other callback.
//!
//! # Invariants
//!
//! Code that loom checks takes its atomics and locks from this crate. No user code runs while a
//! lock of this crate is held.
#![forbid(unsafe_code)]

mod drop_oldest_queue;
#[cfg(not(loom))]
mod futex;
#[cfg(loom)]
#[path = "futex_under_loom.rs"]
mod futex;
mod locks;
#[cfg(not(loom))]
mod wake_descriptor;

pub use drop_oldest_queue::DropOldestQueue;
pub use futex::Futex;
pub use locks::{Condvar, Mutex, MutexGuard, RwLock, RwLockReadGuard, RwLockWriteGuard};
#[cfg(not(loom))]
pub use wake_descriptor::WakeDescriptor;

#[cfg(loom)]
pub use loom::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
};
#[cfg(not(loom))]
pub use std::sync::{
    Arc,
    atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
};

/// The threads that may sleep on a [`Futex`], and that may wake the sleeping threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Threads of one process. The kernel finds the sleeping thread by the virtual address, which
    /// costs less (`FUTEX_PRIVATE_FLAG` in futex(2)).
    Private,
    /// Threads of all processes that map the word.
    Shared,
}

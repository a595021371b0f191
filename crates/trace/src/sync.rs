//! The atomics on which threads meet: loom's under `cfg(loom)`, so that the code that loom checks
//! is the code that runs.

#[cfg(loom)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};
#[cfg(not(loom))]
pub(crate) use std::sync::atomic::{AtomicU64, Ordering, fence};

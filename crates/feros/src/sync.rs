//! What threads of this crate meet on where a protocol of its own is at work: loom's under
//! `cfg(loom)`, so that the code that loom checks is the code that runs (`tests/turns_under_loom`).

#[cfg(loom)]
pub(crate) use loom::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};
#[cfg(not(loom))]
pub(crate) use std::sync::{
    Mutex,
    atomic::{AtomicBool, Ordering},
};

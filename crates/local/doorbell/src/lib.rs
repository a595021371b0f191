//! Signals that an entity is ready: a ring sets a flag and wakes a thread that sleeps on a futex.
//!
//! - [`Ringer`] is a handle for the code that makes an entity ready (an engine's receive thread, a
//!   publisher, a timer). It works even before any thread waits for the entity.
//! - [`ReadySet`] contains the ready flags of one executor or wait set, and the futex words on
//!   which its threads sleep.
//! - [`Doorbell`] is a futex word and ready flags with a fixed layout. It can lie in memory that
//!   other processes map, so that they can ring it.
//! - [`SlotSet`] is a set of slots like the ready flags, but for one thread.
//!
//! # Checking the concurrency
//!
//! Everything in this crate runs under [loom](https://docs.rs/loom), which tries the possible
//! orders of threads and memory accesses that the language allows. This takes a few seconds:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p feros-doorbell --release --lib
//! ```
//!
//! # Modules
//!
//! | module | content |
//! |---|---|
//! | `doorbell` | a futex word and ready flags in memory that processes share |
//! | `ready_set` | the ready flags of one executor or wait set |
//! | `flags`, `slot_set` | flags with a summary, and the same for a single thread |
//! | `ringer`, `routes`, `listener` | the handle that rings, and the destinations of its rings |
//!
//! # Invariants
//!
//! The crate does not depend on any engine, message type or executor. A flag that is set twice
//! counts once. No ring is lost, and each ring wakes each executor and wait set at most once.
#![forbid(unsafe_code)]

mod doorbell;
mod flags;
mod listener;
mod ready_set;
mod ringer;
mod routes;
mod slot_set;

pub use doorbell::{Doorbell, DoorbellMemory};
pub use flags::{CAPACITY, Slot};
pub use ready_set::{FollowerWait, LeaderWait, ReadySet};
pub use ringer::{Observation, Ringer};
pub use routes::Place;
pub use slot_set::SlotSet;

//! The executor core of Feros: one doorbell, ready flags, timers, and a spinning loop that sleeps
//! on a single futex.
//!
//! The executor executes entities. An [`Entity`] consists of a body ([`Executable`]) that does one
//! unit of work per call, and a [`Ringer`], the handle with which other code (an engine's receive
//! thread, another callback, another thread) signals that there is work. Ringing sets a flag in the
//! executor's [`Doorbell`] and wakes the spinning thread only if it sleeps, so a message costs at
//! most one system call for its hand-over, and a ring costs nothing more if the flag is already
//! set. The cost of finding the next ready entity does not depend on the number of idle entities.
//!
//! ```
//! use feros_executor::{Executor, Entity, Progress, Ringer};
//! use std::sync::mpsc;
//!
//! let (numbers, inbox) = mpsc::sync_channel::<u32>(8);
//! let executor = Executor::new();
//! let ringer = Ringer::new();
//! let stopper = executor.stopper();
//! let _entity = executor.add(Entity::new(&ringer, move || match inbox.try_recv() {
//!     Ok(7) => {
//!         stopper.stop();
//!         Progress::Done
//!     }
//!     Ok(_) => Progress::More,
//!     Err(_) => Progress::Done,
//! }))?;
//!
//! let producer = std::thread::spawn(move || {
//!     for number in [1, 2, 7] {
//!         numbers.send(number).unwrap();
//!         ringer.ring();
//!     }
//! });
//! executor.spin()?;
//! producer.join().unwrap();
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Other processes can ring too, if the executor has a [doorbell](ExecutorOptions::doorbell) in
//! memory that these processes map, and if they know the [`Place`] of an entity, which is its
//! doorbell and slot. The flags that they set are only hints. Rings from the executor's own process
//! do not use that memory, and arrive no matter what other processes write to it.
//!
//! Code without an executor can wait for the same entities with a [`WaitSet`].
//!
//! # Modules
//!
//! | module | holds |
//! |---|---|
//! | `executor`, `options`, `outcome`, `core` | the executor, its options, its results, and the state that its threads share |
//! | `spin`, `spinner`, `worker_threads` | the spin functions, the loop of one thread, and spinning with several threads |
//! | `leader_followers` | how several threads share the work |
//! | `entity`, `table`, `attributes`, `execution` | entities, their slots, and the execution that a thread is in |
//! | `policy`, `policies` | the trait of a policy, and one file for each policy; four policies use `policies/keyed` |
//! | `groups`, `supervisor` | callback groups, and the handling of panics in callbacks |
//! | `timer`, `timer_core`, `timer_queues`, `deadlines`, `clock` | timers and clocks |
//! | `wait_set`, `wait_set_pool`, `waitable`, `guard_condition` | waiting without an executor, and callbacks that any thread triggers |
//! | `busy_wait`, `processors`, `realtime` | polling before sleeping, and the processors and scheduling of threads |
//!
//! # Invariants
//!
//! - The crate knows no engine and no message.
//! - No lock is held while a callback or a `Drop` of a callback's captures runs: bodies are taken
//!   out of their slots while they run. (The policy is called under the executor's lock.)
//! - Flags are only hints. A flag that is set without a reason costs one execution that finds no
//!   work. Work never remains without a flag, because a flag is cleared *before* the body looks for
//!   work.
//! - A turn neither allocates nor rebuilds anything. Only adding and removing entities allocates
//!   memory.
//! - A panic of a callback propagates out of the spin function, unless the entity has a
//!   [`Supervisor`]. By then the body is back in its slot and its flag is set, so the remaining
//!   work is not lost, and the executor can be spun again.
//!
//! # Kinds
//!
//! [`ExecutorOptions`] select the kind of executor. A **policy** is the ready queue: [`Fair`] (all
//! entities in turn, the default), [`Ros`] (the order of rclcpp), [`Priority`] (fixed priorities;
//! [`chain_priorities`] computes them for processing chains), [`Deadline`] (earliest first),
//! [`Sequence`] (rclc's fixed order with triggers and logical execution time), or your own policy.
//! Idle entities cost nothing under any of them. Several **threads** follow the Leader/Followers
//! pattern (`leader_followers`): one thread waits for timers and other processes, and the others
//! are woken as needed. Entities of an [`ExclusiveGroup`] do not overlap, and no entity overlaps
//! with itself, because bodies may change their captured state. The entities of a reentrant
//! callback group have no `ExclusiveGroup`. A **frozen** executor refuses new entities once it has
//! spun. [`RealtimeConfig`] sets the scheduling of the executor's threads.
//!
//! # What is not here yet
//!
//! - The same entity cannot run on several threads at once.
//! - There is no file descriptor for programs with their own event loop; such programs can poll
//!   with [`Executor::spin_some`].
//! - The wake-up is a Linux futex. A platform without futexes needs another implementation of
//!   `feros_sync::Futex`.
//!
//! # Checking the concurrency
//!
//! [loom](https://docs.rs/loom) tests the code for leaders and followers and for wait sets: it tries
//! the interleavings and memory orderings that the language allows (this takes a few seconds). It
//! also tests the doorbells and ready flags in `feros-doorbell`:
//!
//! ```text
//! RUSTFLAGS="--cfg loom" cargo test -p feros-executor --release --lib
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(loom, allow(dead_code))] // for code that only the modules left out below use

mod leader_followers;
mod wait_set;
mod waitable;

// Loom explores the modules above. The modules below rely on the guarantees of those modules, on
// mutexes and on real time, so they are left out.
#[cfg(not(loom))]
mod attributes;
#[cfg(not(loom))]
mod busy_wait;
#[cfg(not(loom))]
mod clock;
#[cfg(not(loom))]
mod core;
#[cfg(not(loom))]
mod deadlines;
#[cfg(not(loom))]
mod entity;
#[cfg(not(loom))]
mod execution;
#[cfg(not(loom))]
mod executor;
#[cfg(not(loom))]
mod groups;
#[cfg(not(loom))]
mod guard_condition;
#[cfg(not(loom))]
mod options;
#[cfg(not(loom))]
mod outcome;
#[cfg(not(loom))]
mod policies;
#[cfg(not(loom))]
mod policy;
#[cfg(not(loom))]
mod processors;
#[cfg(not(loom))]
mod realtime;
#[cfg(not(loom))]
mod spin;
#[cfg(not(loom))]
mod spinner;
#[cfg(not(loom))]
mod supervisor;
#[cfg(not(loom))]
mod table;
#[cfg(not(loom))]
mod timer;
#[cfg(not(loom))]
mod timer_core;
#[cfg(not(loom))]
mod timer_queues;
#[cfg(not(loom))]
mod wait_set_pool;
#[cfg(not(loom))]
mod worker_threads;

#[cfg(not(loom))]
pub use self::{
    attributes::{Attributes, ExclusiveGroup, Kind},
    clock::{Clock, RosClock, SteadyClock, SystemClock, Time, TimeChange, TimeWatcher},
    entity::{Entity, Executable, Progress},
    execution::{Execution, Obstacle, Shared},
    executor::{DetachError, EntityHandle, Executor, ExecutorHandle, Stopper},
    guard_condition::GuardCondition,
    options::ExecutorOptions,
    outcome::{Outcome, SpinError},
    policies::{
        Deadline, Fair, Priority, ReadyPositions, Ros, Sequence, Trigger, chain_priorities,
    },
    policy::{Policy, Step},
    realtime::{RealtimeConfig, RealtimeError, Scheduling},
    supervisor::{Supervision, Supervisor, panic_text, supervise},
    table::AddError,
    timer::Timer,
    timer_core::TimerCall,
    wait_set_pool::{PooledWaitSet, WaitSetPool},
};
pub use feros_doorbell::{
    CAPACITY, Doorbell, DoorbellMemory, Observation, Place, Ringer, Slot, SlotSet,
};
pub use wait_set::WaitSet;
pub use waitable::Waitable;

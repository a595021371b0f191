//! The execution that the current thread is in. A callback that wants to wait for an entity can
//! check whether that entity cannot run until the callback ends, in which case the wait would never
//! end.

use crate::groups::GroupNumber;
use feros_doorbell::Slot;
use std::cell::Cell;
use std::fmt;
use std::thread::{self, ThreadId};

/// One execution of an entity, on one thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Execution {
    thread: ThreadId,
    number: u64,
}

impl Execution {
    /// Returns the current execution of this thread. If executions are nested, this is the
    /// innermost execution.
    pub fn current() -> Option<Self> {
        let number = CURRENT.get().map(|current| current.number)?;
        Some(Self { thread: thread::current().id(), number })
    }
}

/// The reason why an entity cannot run during the callback that this thread executes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Obstacle {
    /// The name of the executor that both entities belong to.
    pub executor: String,
    /// The resource of the executor that the two entities share.
    pub shared: Shared,
}

/// The shared resource of two entities that never run at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shared {
    /// The thread: only one thread spins the executor.
    Thread,
    /// The callback group, which is mutually exclusive.
    Group,
    /// The entity itself: the callback waits for its own entity.
    Entity,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let executor = &self.executor;
        match self.shared {
            Shared::Thread => write!(f, "both are run by the one thread of executor `{executor}`"),
            Shared::Group => {
                write!(
                    f,
                    "both are in one mutually exclusive callback group of executor `{executor}`"
                )
            }
            Shared::Entity => {
                write!(f, "the waiting callback is the service's own, on executor `{executor}`")
            }
        }
    }
}

/// Identifies an executor within this process.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct ExecutorId(pub(crate) usize);

#[derive(Clone, Copy)]
struct Current {
    number: u64,
    executor: ExecutorId,
    slot: Slot,
    group: Option<GroupNumber>,
    /// Whether this thread is the only thread that spins the executor.
    is_alone: bool,
}

thread_local! {
    static CURRENT: Cell<Option<Current>> = const { Cell::new(None) };
    static NEXT: Cell<u64> = const { Cell::new(0) };
}

/// Records the current execution of this thread. Dropping this value ends the record, even during a
/// panic.
pub(crate) struct Noted(Option<Current>);

impl Noted {
    pub(crate) fn begin(
        executor: ExecutorId,
        slot: Slot,
        group: Option<GroupNumber>,
        is_alone: bool,
    ) -> Self {
        let number = NEXT.get();
        NEXT.set(number + 1);
        Self(CURRENT.replace(Some(Current { number, executor, slot, group, is_alone })))
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        CURRENT.set(self.0);
    }
}

/// Returns the resource that the entity in this slot shares with the entity that this thread
/// executes. `group` returns the group of the entity in the slot, and is called only if needed.
pub(crate) fn shared_with_current(
    executor: ExecutorId,
    slot: Slot,
    group: impl FnOnce() -> Option<GroupNumber>,
) -> Option<Shared> {
    let current = CURRENT.get().filter(|it| it.executor == executor)?;
    if current.slot == slot {
        Some(Shared::Entity)
    } else if current.is_alone {
        Some(Shared::Thread)
    } else {
        (current.group.is_some() && current.group == group()).then_some(Shared::Group)
    }
}

//! The loop of a thread that spins: it alternates between turns and sleep.

use crate::core::{CONTROL, Core};
use crate::outcome::Outcome;
use crate::policy::Step;
use crate::table::{Entries, Requeue};
use feros_sync::Ordering;
use std::cell::Cell;
use std::thread::ThreadId;
use std::time::Instant;

/// The result of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Turn {
    /// A unit of an entity was executed.
    Executed,
    /// The slot of the executor itself was rung, so the thread has to check every possible cause of
    /// such a ring.
    Rung,
    /// No entity is ready.
    Nothing,
    /// All threads have to end.
    Stopped,
}

/// The state of one thread that spins.
pub(crate) struct Spinner<'a> {
    pub(crate) core: &'a Core,
    pub(crate) thread: ThreadId,
    /// The number of this thread among the spinning threads; the caller of the spin function has 0.
    pub(crate) number: usize,
    /// For a thread that spins alone: whether the policy had a ready entity when last checked.
    pub(crate) has_ready: Cell<bool>,
}

impl<'a> Spinner<'a> {
    pub(crate) fn new(core: &'a Core, thread: ThreadId, number: usize) -> Self {
        Self { core, thread, number, has_ready: Cell::new(true) }
    }
}

impl Spinner<'_> {
    /// Alternates between turns and sleep until `done` returns a value. `done` is called before
    /// each turn; its argument is true if the previous turn executed a unit.
    pub(crate) fn run<T>(
        &self,
        until: Option<Instant>,
        mut done: impl FnMut(bool) -> Option<T>,
    ) -> Outcome<T> {
        let mut has_executed = false;
        let mut is_late = false;
        loop {
            // After a turn that finds the executor's own slot rung, the loop checks every possible
            // cause again (`done`, stop, deadlines). If the slot is rung later, the thread does not
            // sleep.
            if let Some(value) = done(has_executed) {
                return Outcome::Completed(value);
            }
            if self.take_stop() {
                return Outcome::Stopped;
            }
            if is_late {
                return Outcome::TimedOut;
            }
            let turn = self.turn();
            has_executed = turn == Turn::Executed;
            is_late = is_past(until);
            if turn == Turn::Nothing && !is_late {
                self.sleep(until);
            }
        }
    }

    pub(crate) fn take_stop(&self) -> bool {
        // The flag is read first, so that a turn usually needs no read-modify-write operation.
        self.core.stop.load(Ordering::Relaxed) && self.core.stop.swap(false, Ordering::Acquire)
    }

    /// Executes one unit of each entity that is ready when the call begins.
    pub(crate) fn run_ready(&self, until: Option<Instant>) -> usize {
        let table = &self.core.table;
        self.gather(&mut table.shared().lock());
        let mut count = 0;
        while !self.core.stop.load(Ordering::Relaxed) {
            let Some(picked) = table.shared().lock().pick(self.thread) else { break };
            count += usize::from(picked.step != Step::Take);
            table.execute(picked, Requeue::Later, &self.has_ready, true);
            if is_past(until) {
                break;
            }
        }
        count
    }

    /// Makes the entities ready whose flags are set; returns true if the executor itself was rung.
    pub(crate) fn gather(&self, entries: &mut Entries) -> bool {
        let mut is_rung = false;
        self.core.timers.expire(|slot| entries.make_ready(slot));
        let ready_set = &self.core.ready_set;
        ready_set.drain_shared(|slot| entries.relay(slot, ready_set));
        ready_set.drain_private(|slot| {
            if slot == CONTROL {
                is_rung = true;
            } else {
                entries.make_ready(slot);
            }
        });
        is_rung
    }

    /// Executes one unit of the next entity.
    fn turn(&self) -> Turn {
        let Core { table, timers, ready_set, .. } = self.core;
        // The last turn before the sleep needs no lock, since other threads make entities ready
        // only by setting flags.
        if !self.has_ready.get() && timers.is_empty() && ready_set.are_clear() {
            return Turn::Nothing;
        }
        let mut is_rung = false;
        loop {
            let mut entries = table.shared().lock();
            is_rung |= self.gather(&mut entries);
            let Some(picked) = entries.pick(self.thread) else {
                return if is_rung { Turn::Rung } else { Turn::Nothing };
            };
            drop(entries);
            let is_unit = picked.step != Step::Take;
            table.execute(picked, Requeue::AtOnce, &self.has_ready, true);
            if is_unit {
                return Turn::Executed;
            }
        }
    }

    fn sleep(&self, until: Option<Instant>) {
        let rest = until.map(|until| until.saturating_duration_since(Instant::now()));
        let timeout = self.core.timers.timeout().into_iter().chain(rest).min();
        let ready_set = &self.core.ready_set;
        let Some(busy_wait) = &self.core.settings.busy_wait else { return ready_set.wait(timeout) };
        if busy_wait.is_due() {
            return busy_wait.look(timeout, || !ready_set.are_clear());
        }
        let began = Instant::now();
        ready_set.wait(timeout);
        busy_wait.note_sleep(began.elapsed());
    }
}

pub(crate) fn is_past(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() >= until)
}

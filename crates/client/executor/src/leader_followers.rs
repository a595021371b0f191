//! How the threads of one executor share their work: the Leader/Followers pattern (Schmidt et al.,
//! Pattern-Oriented Software Architecture 2).
//!
//! Of several sleeping threads one is the **leader**: it waits for timers and for rings from other
//! processes. The others are **followers**. A ring from this process wakes a follower, or the
//! leader if no follower sleeps. So the leader usually stays asleep, and a ring costs one wake-up,
//! regardless of the number of threads. A thread that finds nothing to execute while there is no
//! leader becomes the leader.
//!
//! The ring of a second entity wakes a second thread before the first thread has run. In another
//! design, the first thread, which sees all ready entities, would wake the second thread instead.
//! But if no processor is idle, the kernel runs a woken thread on the processor of the thread that
//! wakes it. The ringing thread usually goes to sleep soon, while the first thread computes. So
//! with that other design, the second thread waited for a busy processor while the processor of the
//! ringing thread was idle (docs/measurements/0003, "Containers").
//!
//! # Why no ring is missed
//!
//! The bell lists the sleeping threads that have not been woken yet. A thread that goes to sleep
//! enters itself in this list, under the lock, and then checks the flags. A ring sets a flag and
//! then checks the list; it removes the thread that it wakes, and wakes it. So either the ring
//! finds the sleeper, or the sleeper finds the flag. If a ring finds no sleeper, a thread that is
//! awake or about to take the lock finds the flag, since it collects all flags under the lock. That
//! thread executes one entity. It leaves the other ready entities to threads that are about to take
//! the lock, and to a sleeper that the bell still lists. The futex words on which threads sleep
//! count wake-ups, so a wake-up between the release of the lock and the sleep is not lost either.

use feros_doorbell::ReadySet;
use feros_sync::{Arc, Mutex, MutexGuard};
use std::ops::{Deref, DerefMut};
use std::time::{Duration, Instant};

/// The state that the threads share.
pub(crate) trait Work {
    /// Whether another thread would find something to execute.
    fn has_ready(&self) -> bool;
}

pub(crate) struct LeaderFollowers<T> {
    ready_set: Arc<ReadySet>,
    state: Mutex<State<T>>,
}

/// The state that the lock protects.
pub(crate) struct State<T> {
    work: T,
    /// The number of followers that sleep, or that have been woken and do not have the lock yet.
    followers: usize,
    lead: Option<Lead>,
    /// Whether the threads have to end.
    is_stopping: bool,
    /// Whether the thread that called the spin function has to check the condition for which it
    /// spins.
    has_to_check: bool,
}

/// The timer and the ring that the sleeping leader waits for.
#[derive(Clone, Copy)]
struct Lead {
    until: Option<Instant>,
    is_shared: bool,
}

/// The next instant at which a timer is due.
pub(crate) type NextDeadline<'a> = &'a dyn Fn() -> Option<Instant>;

/// The conditions under which a waiting thread returns.
pub(crate) struct Wait {
    /// The latest time at which the thread returns.
    pub(crate) until: Option<Instant>,
    /// Whether the thread has a condition to check.
    pub(crate) has_condition: bool,
}

impl<T> Deref for State<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.work
    }
}

impl<T> DerefMut for State<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.work
    }
}

impl<T: Work> LeaderFollowers<T> {
    pub(crate) fn new(ready_set: Arc<ReadySet>, work: T) -> Self {
        let state =
            State { work, followers: 0, lead: None, is_stopping: false, has_to_check: false };
        Self { ready_set, state: Mutex::new(state) }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock()
    }

    /// A thread calls this before it executes an entity. `is_new`: whether a timer may be due
    /// before the leader wakes up.
    pub(crate) fn before_execution(
        &self,
        state: &State<T>,
        is_new: bool,
        next_deadline: NextDeadline<'_>,
    ) {
        let wants_leader = || {
            let has_follower = state.lead.is_none() && state.followers > 0;
            has_follower && (self.ready_set.is_shared() || next_deadline().is_some())
        };
        if state.work.has_ready() || wants_leader() {
            self.ready_set.wake_next();
        }
        if let Some(lead) = &state.lead
            && self.is_stale(lead, if is_new { next_deadline() } else { None })
        {
            self.ready_set.wake_leader();
        }
    }

    /// Sleeps until there may be work, or until a condition of `wait` holds.
    pub(crate) fn wait(
        &self,
        mut state: MutexGuard<'_, State<T>>,
        wait: &Wait,
        next_deadline: NextDeadline<'_>,
    ) {
        if state.is_stopping || wait.has_condition && std::mem::take(&mut state.has_to_check) {
            return;
        }
        let due = next_deadline();
        if let Some(lead) = &state.lead {
            if self.is_stale(lead, due) {
                self.ready_set.wake_leader();
            }
            let waiting = self.ready_set.follower_wait();
            state.followers += 1;
            drop(state);
            waiting.wait(rest_of(wait.until));
            let mut state = self.lock();
            state.followers -= 1;
            self.ready_set.follower_has_waited(state.followers);
        } else {
            let waiting = self.ready_set.leader_wait();
            state.lead = Some(Lead { until: due, is_shared: waiting.is_shared() });
            drop(state);
            waiting.wait(rest_of(due.into_iter().chain(wait.until).min()));
            let mut state = self.lock();
            state.lead = None;
            self.ready_set.leader_has_waited();
        }
    }

    fn is_stale(&self, lead: &Lead, due: Option<Instant>) -> bool {
        let is_late = due.is_some_and(|due| lead.until.is_none_or(|until| due < until));
        is_late || !lead.is_shared && self.ready_set.is_shared()
    }

    /// Makes the thread that has a condition check the condition.
    pub(crate) fn notify_condition(&self, state: &mut State<T>) {
        state.has_to_check = true;
        self.ready_set.wake_all();
    }

    pub(crate) fn start(&self) {
        let mut state = self.lock();
        state.is_stopping = false;
        state.has_to_check = false;
    }

    /// Ends all threads.
    pub(crate) fn stop(&self) {
        let mut state = self.lock();
        state.is_stopping = true;
        self.ready_set.wake_all();
    }
}

impl<T> State<T> {
    pub(crate) fn is_stopping(&self) -> bool {
        self.is_stopping
    }
}

fn rest_of(until: Option<Instant>) -> Option<Duration> {
    until.map(|until| until.saturating_duration_since(Instant::now()))
}

#[cfg(all(test, loom))]
mod loom_tests;

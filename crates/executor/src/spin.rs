//! The spinning core: turns, sleep, and the spin functions made of them.

mod crew;

use crate::executor::{Executor, Shared, control_slot};
use crate::policy::Step;
use crate::table::{Entries, Requeue};
use feros_doorbell::ReadySet;
use feros_sync::{Arc, AtomicBool, Ordering};
use std::cell::Cell;
use std::ops::Deref;
use std::pin::pin;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread, ThreadId};
use std::time::{Duration, Instant};

/// How a spin function ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome<T = ()> {
    /// What was waited for has happened.
    Completed(T),
    /// The time was over first.
    TimedOut,
    /// [`Stopper::stop`](crate::Stopper::stop) was called first.
    Stopped,
}

/// Why an executor does not spin.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpinError {
    /// Another thread spins it.
    #[error(
        "thread `{thread}` spins this executor already: let one thread spin it, or give this thread an executor of \
         its own"
    )]
    AlreadySpinning {
        /// The name of that thread, or its id.
        thread: String,
    },
    /// The call comes from a callback of the executor.
    #[error(
        "this callback is run by the executor that it wants to spin: return from the callback instead of waiting in \
         it, or wait on an executor of its own in another thread"
    )]
    InsideCallback,
    /// The system starts no further thread.
    #[error(
        "thread `{name}` of the executor cannot be started: {reason}; give it fewer threads, or raise `ulimit -u`"
    )]
    Thread {
        /// The thread's name.
        name: String,
        /// What the system says.
        reason: String,
    },
    /// The system refuses what the executor's [`RealtimeConfig`](crate::RealtimeConfig) asks for.
    #[error(transparent)]
    Realtime(#[from] crate::realtime::RealtimeError),
}

impl Executor {
    /// Executes what becomes ready until [stopped](crate::Stopper::stop), on all of the executor's
    /// threads.
    ///
    /// # Errors
    ///
    /// [`SpinError`] if the executor is spun already, or its threads cannot be what they are to be.
    ///
    /// # Panics
    ///
    /// If a callback panics, as all spin functions do. The executor can be spun again afterwards;
    /// the entity is still in it, and ready.
    pub fn spin(&self) -> Result<(), SpinError> {
        Right::begin(&self.shared)?.run_crew(None, None::<fn() -> Option<()>>)?;
        Ok(())
    }

    /// Executes one unit of one entity, on this thread alone; waits for it if none is ready, for
    /// ever without a `timeout`.
    ///
    /// # Errors
    ///
    /// [`SpinError`] if the executor is spun already.
    pub fn spin_once(&self, timeout: Option<Duration>) -> Result<Outcome, SpinError> {
        let until = deadline(timeout);
        Ok(Right::begin(&self.shared)?.run(until, |has_executed| has_executed.then_some(())))
    }

    /// Executes at most one unit of each entity that is ready now, on this thread alone, without
    /// waiting, and says how many. Begins no further one after `max_duration` ([`Duration::MAX`]:
    /// no limit) or after a stop, which stays in force for the next blocking spin function.
    ///
    /// # Errors
    ///
    /// [`SpinError`] if the executor is spun already.
    pub fn spin_some(&self, max_duration: Duration) -> Result<usize, SpinError> {
        let spin = Right::begin(&self.shared)?;
        Ok(spin.run_ready(deadline(Some(max_duration))))
    }

    /// Executes what is ready and what becomes ready meanwhile until nothing is, on this thread
    /// alone, without waiting, and says how many units that were. Ends as
    /// [`spin_some`](Self::spin_some) otherwise.
    ///
    /// # Errors
    ///
    /// [`SpinError`] if the executor is spun already.
    pub fn spin_all(&self, max_duration: Duration) -> Result<usize, SpinError> {
        let until = deadline(Some(max_duration));
        let spin = Right::begin(&self.shared)?;
        let mut total = 0;
        loop {
            let count = spin.run_ready(until);
            total += count;
            if count == 0 || is_past(until) || self.shared.stop.load(Ordering::Relaxed) {
                return Ok(total);
            }
        }
    }

    /// Spins until `predicate` is true, at most for `timeout`, on all of the executor's threads.
    /// The predicate is asked on this thread, before the first turn and after each turn and
    /// wake-up, so its truth has to come from a callback or be accompanied by a ring.
    ///
    /// # Errors
    ///
    /// [`SpinError`] if the executor is spun already.
    pub fn spin_until(
        &self,
        timeout: Option<Duration>,
        mut predicate: impl FnMut() -> bool,
    ) -> Result<Outcome, SpinError> {
        let until = deadline(timeout);
        Right::begin(&self.shared)?.run_crew(until, Some(|| predicate().then_some(())))
    }

    /// Spins until `future` is complete, at most for `timeout`, on all of the executor's threads.
    /// The future is polled on this thread, between callbacks, only when it was woken; its waker
    /// may be used from any thread.
    ///
    /// Pass a `&mut` (pinned, if need be) to keep a future that did not complete.
    ///
    /// # Errors
    ///
    /// [`SpinError`] if the executor is spun already.
    ///
    /// ```
    /// use feros_executor::{Executor, Outcome};
    /// use std::time::Duration;
    ///
    /// let executor = Executor::new();
    /// let answer = executor.spin_until_complete(Some(Duration::from_secs(1)), async { 42 })?;
    /// assert_eq!(answer, Outcome::Completed(42));
    /// # Ok::<(), feros_executor::SpinError>(())
    /// ```
    pub fn spin_until_complete<F: Future>(
        &self,
        timeout: Option<Duration>,
        future: F,
    ) -> Result<Outcome<F::Output>, SpinError> {
        let until = deadline(timeout);
        let mut future = pin!(future);
        let bell = Arc::new(BellWaker {
            woken: AtomicBool::new(true),
            ready_set: Arc::clone(&self.shared.ready_set),
        });
        let waker = Waker::from(Arc::clone(&bell));
        let poll = || {
            if !bell.woken.swap(false, Ordering::AcqRel) {
                return None;
            }
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(output) => Some(output),
                Poll::Pending => None,
            }
        };
        Right::begin(&self.shared)?.run_crew(until, Some(poll))
    }
}

/// Wakes a future by ringing for its executor.
struct BellWaker {
    woken: AtomicBool,
    ready_set: Arc<ReadySet>,
}

impl Wake for BellWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.ready_set.ring(control_slot());
    }
}

/// The threads that are inside a spin function: the one that called it, and its helpers.
#[derive(Default)]
pub(crate) struct Spinners {
    caller: Option<Thread>,
    helpers: Vec<ThreadId>,
}

impl Spinners {
    pub(crate) fn is_spinning(&self) -> bool {
        self.caller.is_some()
    }
}

/// What a look at the desk led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// A unit of an entity was executed.
    Executed,
    /// The executor itself was rung: everything that such a ring may be about has to be looked at.
    Rung,
    /// Nothing is ready.
    Nothing,
    /// The crew goes home.
    Closed,
}

/// A thread that spins.
struct Spin<'a> {
    shared: &'a Shared,
    thread: ThreadId,
    /// Of one thread alone: what the policy had when it last looked.
    has_ready: Cell<bool>,
}

impl<'a> Spin<'a> {
    fn new(shared: &'a Shared, thread: ThreadId) -> Self {
        Self { shared, thread, has_ready: Cell::new(true) }
    }
}

/// The right to call a spin function, with the thread that has it; given back when dropped, by a
/// panic too.
struct Right<'a>(Spin<'a>);

impl<'a> Right<'a> {
    fn begin(shared: &'a Shared) -> Result<Self, SpinError> {
        let thread = thread::current();
        let mut spinners = shared.spinners.lock();
        let id = thread.id();
        if let Some(caller) = &spinners.caller {
            if caller.id() == id || spinners.helpers.contains(&id) {
                return Err(SpinError::InsideCallback);
            }
            let name = caller.name().map_or_else(|| format!("{:?}", caller.id()), str::to_owned);
            return Err(SpinError::AlreadySpinning { thread: name });
        }
        spinners.caller = Some(thread);
        drop(spinners);
        let right = Self(Spin::new(shared, id));
        shared.settings.prepare_thread()?;
        if shared.settings.is_frozen {
            shared.table.freeze();
        }
        Ok(right)
    }
}

impl Spin<'_> {
    /// Turns and sleeps until `done` gives a value. It is asked before each turn, and told whether
    /// the turn before has executed anything.
    fn run<T>(
        &self,
        until: Option<Instant>,
        mut done: impl FnMut(bool) -> Option<T>,
    ) -> Outcome<T> {
        let mut has_executed = false;
        let mut is_late = false;
        loop {
            // A turn that takes a ring of the executor itself is followed by another look at
            // everything that such a ring may be about (`done`, stop, deadlines); a later ring
            // keeps the thread from sleeping.
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

    fn take_stop(&self) -> bool {
        // A look before the write keeps the turn free of a read-modify-write.
        self.shared.stop.load(Ordering::Relaxed) && self.shared.stop.swap(false, Ordering::Acquire)
    }

    /// One unit of each entity that is ready at the beginning.
    fn run_ready(&self, until: Option<Instant>) -> usize {
        let table = &self.shared.table;
        self.gather(&mut table.desk().lock());
        let mut count = 0;
        while !self.shared.stop.load(Ordering::Relaxed) {
            let Some(picked) = table.desk().lock().pick(self.thread) else { break };
            count += usize::from(picked.step != Step::Take);
            table.execute(picked, Requeue::Later, &self.has_ready);
            if is_past(until) {
                break;
            }
        }
        count
    }

    /// Takes in what has become ready; true if the executor itself was rung.
    fn gather(&self, entries: &mut Entries) -> bool {
        let mut is_rung = false;
        self.shared.timers.expire(|slot| entries.make_ready(slot));
        self.shared.ready_set.drain(|slot| {
            if slot == control_slot() {
                is_rung = true;
            } else {
                entries.make_ready(slot);
            }
        });
        is_rung
    }

    /// Executes one unit of the entity that is next.
    fn turn(&self) -> Turn {
        let Shared { table, timers, ready_set, .. } = self.shared;
        // On the way to sleep, without the lock: nobody else makes anything ready but by flags.
        if !self.has_ready.get() && timers.is_empty() && ready_set.are_clear() {
            return Turn::Nothing;
        }
        let mut is_rung = false;
        loop {
            let mut board = table.desk().lock();
            is_rung |= self.gather(&mut board);
            let Some(picked) = board.pick(self.thread) else {
                return if is_rung { Turn::Rung } else { Turn::Nothing };
            };
            drop(board);
            let is_unit = picked.step != Step::Take;
            table.execute(picked, Requeue::AtOnce, &self.has_ready);
            if is_unit {
                return Turn::Executed;
            }
        }
    }

    fn sleep(&self, until: Option<Instant>) {
        let rest = until.map(|until| until.saturating_duration_since(Instant::now()));
        let timeout = self.shared.timers.timeout().into_iter().chain(rest).min();
        self.shared.ready_set.wait(timeout);
    }
}

impl<'a> Deref for Right<'a> {
    type Target = Spin<'a>;

    fn deref(&self) -> &Spin<'a> {
        &self.0
    }
}

impl Drop for Right<'_> {
    fn drop(&mut self) {
        *self.0.shared.spinners.lock() = Spinners::default();
    }
}

/// The end of `duration` from now; `None` (never) also if that is beyond all time.
fn deadline(duration: Option<Duration>) -> Option<Instant> {
    duration.and_then(|duration| Instant::now().checked_add(duration))
}

fn is_past(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() >= until)
}

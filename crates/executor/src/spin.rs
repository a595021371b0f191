//! The spinning core: turns, sleep, and the spin functions made of them.

use crate::executor::{Executor, Shared, control_slot};
use crate::flags::{CAPACITY, Slot, SlotSet};
use crate::policy::{Policy, ReadySet};
use crate::readiness::Readiness;
use crate::sync::{Arc, AtomicBool, Ordering, lock};
use std::pin::pin;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
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
}

impl Executor {
    /// Executes what becomes ready until [stopped](crate::Stopper::stop).
    ///
    /// # Errors
    ///
    /// [`SpinError`] if the executor is spun already.
    ///
    /// # Panics
    ///
    /// If a callback panics, as all spin functions do. The executor can be spun again afterwards; the entity is still
    /// in it, and ready.
    pub fn spin(&self) -> Result<(), SpinError> {
        Spin::begin(&self.shared)?.run(None, |_| None::<()>);
        Ok(())
    }

    /// Executes one unit of one entity; waits for it if none is ready, for ever without a `timeout`.
    ///
    /// # Errors
    ///
    /// [`SpinError`] if the executor is spun already.
    pub fn spin_once(&self, timeout: Option<Duration>) -> Result<Outcome, SpinError> {
        let until = deadline(timeout);
        Ok(Spin::begin(&self.shared)?.run(until, |has_executed| has_executed.then_some(())))
    }

    /// Executes at most one unit of each entity that is ready now, without waiting, and says how many. Begins no
    /// further one after `max_duration` ([`Duration::MAX`]: no limit) or after a stop, which stays in force for the
    /// next blocking spin function.
    ///
    /// # Errors
    ///
    /// [`SpinError`] if the executor is spun already.
    pub fn spin_some(&self, max_duration: Duration) -> Result<usize, SpinError> {
        let mut spin = Spin::begin(&self.shared)?;
        Ok(spin.run_ready(deadline(Some(max_duration))))
    }

    /// Executes what is ready and what becomes ready meanwhile until nothing is, without waiting, and says how many
    /// units that were. Ends as [`spin_some`](Self::spin_some) otherwise.
    ///
    /// # Errors
    ///
    /// [`SpinError`] if the executor is spun already.
    pub fn spin_all(&self, max_duration: Duration) -> Result<usize, SpinError> {
        let until = deadline(Some(max_duration));
        let mut spin = Spin::begin(&self.shared)?;
        let mut total = 0;
        loop {
            let count = spin.run_ready(until);
            total += count;
            if count == 0 || is_past(until) || self.shared.stop.load(Ordering::Relaxed) {
                return Ok(total);
            }
        }
    }

    /// Spins until `predicate` is true, at most for `timeout`. The predicate is asked before the first turn and after
    /// each turn and wake-up, so its truth has to come from a callback or be accompanied by a ring.
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
        Ok(Spin::begin(&self.shared)?.run(until, |_| predicate().then_some(())))
    }

    /// Spins until `future` is complete, at most for `timeout`. The future is polled on this thread, between
    /// callbacks, only when it was woken; its waker may be used from any thread.
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
            readiness: Arc::clone(&self.shared.readiness),
        });
        let waker = Waker::from(Arc::clone(&bell));
        Ok(Spin::begin(&self.shared)?.run(until, |_| {
            if !bell.woken.swap(false, Ordering::AcqRel) {
                return None;
            }
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(output) => Some(output),
                Poll::Pending => None,
            }
        }))
    }
}

/// Wakes a future by ringing for its executor.
struct BellWaker {
    woken: AtomicBool,
    readiness: Arc<Readiness>,
}

impl Wake for BellWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.readiness.ring(control_slot());
    }
}

/// What only the spinning thread needs.
pub(crate) struct Spinner {
    policy: Box<dyn Policy>,
    entities: SlotSet,
}

impl Spinner {
    pub(crate) fn new(policy: impl Policy + 'static, control: Slot) -> Self {
        let mut entities = SlotSet::all();
        entities.remove(control);
        Self { policy: Box::new(policy), entities }
    }
}

/// The spinner, or who has it. It is moved out to spin, so that no lock is held meanwhile.
pub(crate) enum SpinnerPlace {
    Free(Box<Spinner>),
    TakenBy(Thread),
}

/// A thread's right to spin; given back when dropped, by a panic too.
struct Spin<'a> {
    shared: &'a Shared,
    thread: Thread,
    spinner: Option<Box<Spinner>>,
}

impl<'a> Spin<'a> {
    fn begin(shared: &'a Shared) -> Result<Self, SpinError> {
        let thread = thread::current();
        let mut place = lock(&shared.spinner);
        match std::mem::replace(&mut *place, SpinnerPlace::TakenBy(thread.clone())) {
            SpinnerPlace::Free(spinner) => Ok(Self { shared, thread, spinner: Some(spinner) }),
            SpinnerPlace::TakenBy(owner) => {
                let error = if owner.id() == thread.id() {
                    SpinError::InsideCallback
                } else {
                    let name = owner.name().map(str::to_owned);
                    SpinError::AlreadySpinning { thread: name.unwrap_or_else(|| format!("{:?}", owner.id())) }
                };
                *place = SpinnerPlace::TakenBy(owner);
                Err(error)
            }
        }
    }

    /// Turns and sleeps until `done` gives a value. It is asked before each turn, and told whether the turn before
    /// has executed anything.
    fn run<T>(&mut self, until: Option<Instant>, mut done: impl FnMut(bool) -> Option<T>) -> Outcome<T> {
        let mut has_executed = false;
        let mut is_late = false;
        loop {
            // Cleared before everything that a ring of it may be about (`done`, stop, deadlines) is looked at: a later
            // ring keeps the thread from sleeping.
            self.shared.readiness.flags().take(control_slot());
            if let Some(value) = done(has_executed) {
                return Outcome::Completed(value);
            }
            // A look before the write keeps the turn free of a read-modify-write.
            if self.shared.stop.load(Ordering::Relaxed) && self.shared.stop.swap(false, Ordering::Acquire) {
                return Outcome::Stopped;
            }
            if is_late {
                return Outcome::TimedOut;
            }
            has_executed = self.turn(None).is_some();
            is_late = is_past(until);
            if !has_executed && !is_late {
                self.sleep(until);
            }
        }
    }

    /// One unit of each entity that is ready at the beginning.
    fn run_ready(&mut self, until: Option<Instant>) -> usize {
        self.shared.timers.expire();
        self.shared.readiness.fetch();
        let mut ready = self.shared.readiness.flags().snapshot();
        ready.remove(control_slot());
        let mut count = 0;
        while !self.shared.stop.load(Ordering::Relaxed) {
            let Some(slot) = self.turn(Some(&ready)) else { break };
            ready.remove(slot);
            count += 1;
            if is_past(until) {
                break;
            }
        }
        count
    }

    /// Executes one unit of the entity that the policy names, of those in `among` (`None`: all), and says which.
    fn turn(&mut self, among: Option<&SlotSet>) -> Option<Slot> {
        let Self { shared, thread, spinner } = self;
        let Spinner { policy, entities } = &mut **spinner.as_mut()?;
        shared.timers.expire();
        shared.readiness.fetch();
        // Flags that another thread took away with their entities, or that were set for slots without one, are passed
        // over. So many at once that there are no more slots mean a stranger who goes on: a stop must still be seen.
        for _ in 0..CAPACITY {
            let slot = policy.next(&ReadySet::new(shared.readiness.flags(), among.unwrap_or(entities)))?;
            if shared.table.execute(slot, thread.id()) {
                return Some(slot);
            }
        }
        None
    }

    fn sleep(&self, until: Option<Instant>) {
        let rest = until.map(|until| until.saturating_duration_since(Instant::now()));
        let timeout = self.shared.timers.timeout().into_iter().chain(rest).min();
        self.shared.readiness.wait(timeout);
    }
}

impl Drop for Spin<'_> {
    fn drop(&mut self) {
        if let Some(spinner) = self.spinner.take() {
            *lock(&self.shared.spinner) = SpinnerPlace::Free(spinner);
        }
    }
}

/// The end of `duration` from now; `None` (never) also if that is beyond all time.
fn deadline(duration: Option<Duration>) -> Option<Instant> {
    duration.and_then(|duration| Instant::now().checked_add(duration))
}

fn is_past(until: Option<Instant>) -> bool {
    until.is_some_and(|until| Instant::now() >= until)
}

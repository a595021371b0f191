//! The spin functions of an executor.

use crate::core::{CONTROL, Core, SpinningThreads};
use crate::executor::Executor;
use crate::outcome::{Outcome, SpinError};
use crate::spinner::{Spinner, is_past};
use feros_doorbell::ReadySet;
use feros_sync::{Arc, AtomicBool, Ordering};
use std::ops::Deref;
use std::pin::pin;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::{Duration, Instant};

impl Executor {
    /// Executes entities as they become ready, until [stopped](crate::Stopper::stop), on all of the
    /// executor's threads.
    ///
    /// # Errors
    ///
    /// [`SpinError`] if the executor is already being spun, or the settings cannot be applied to
    /// its threads.
    ///
    /// # Panics
    ///
    /// If a callback panics; the same is true of all spin functions. The executor can be spun again
    /// afterwards. It still has the entity, which is ready again.
    pub fn spin(&self) -> Result<(), SpinError> {
        SpinGuard::begin(&self.core)?.run_all_threads(None, None::<fn() -> Option<()>>)?;
        Ok(())
    }

    /// Executes one unit of one entity, on this thread only. If no entity is ready, waits until an
    /// entity is ready or `timeout` passes; without a `timeout`, waits forever.
    ///
    /// # Errors
    ///
    /// [`SpinError`] if the executor is already being spun.
    pub fn spin_once(&self, timeout: Option<Duration>) -> Result<Outcome, SpinError> {
        let until = deadline(timeout);
        Ok(SpinGuard::begin(&self.core)?.run(until, |has_executed| has_executed.then_some(())))
    }

    /// Executes at most one unit of each entity that is ready now, on this thread only and without
    /// waiting. Returns the number of units. After `max_duration` ([`Duration::MAX`] for no limit)
    /// or a stop, no further unit begins. The stop also ends the next blocking spin function.
    ///
    /// # Errors
    ///
    /// [`SpinError`] if the executor is already being spun.
    pub fn spin_some(&self, max_duration: Duration) -> Result<usize, SpinError> {
        let spin = SpinGuard::begin(&self.core)?;
        Ok(spin.run_ready(deadline(Some(max_duration))))
    }

    /// Executes ready entities until no entity is ready, including entities that become ready in
    /// the meantime, on this thread only and without waiting. Returns the number of units.
    /// `max_duration` and stops end the call as in [`spin_some`](Self::spin_some).
    ///
    /// # Errors
    ///
    /// [`SpinError`] if the executor is already being spun.
    pub fn spin_all(&self, max_duration: Duration) -> Result<usize, SpinError> {
        let until = deadline(Some(max_duration));
        let spin = SpinGuard::begin(&self.core)?;
        let mut total = 0;
        loop {
            let count = spin.run_ready(until);
            total += count;
            if count == 0 || is_past(until) || self.core.stop.load(Ordering::Relaxed) {
                return Ok(total);
            }
        }
    }

    /// Spins until `predicate` is true, for at most `timeout`, on all of the executor's threads.
    /// The predicate is called on this thread, before the first turn and after each turn and
    /// wake-up. So the predicate has to become true in a callback, or before a ring.
    ///
    /// # Errors
    ///
    /// [`SpinError`] if the executor is already being spun.
    pub fn spin_until(
        &self,
        timeout: Option<Duration>,
        mut predicate: impl FnMut() -> bool,
    ) -> Result<Outcome, SpinError> {
        let until = deadline(timeout);
        SpinGuard::begin(&self.core)?.run_all_threads(until, Some(|| predicate().then_some(())))
    }

    /// Spins until `future` is complete, for at most `timeout`, on all of the executor's threads.
    /// The future is polled on this thread, between callbacks: once at the beginning, and then only
    /// after its waker has been called. Any thread may use its waker.
    ///
    /// Pass a `&mut` (pinned, if necessary) to keep a future that has not completed.
    ///
    /// # Errors
    ///
    /// [`SpinError`] if the executor is already being spun.
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
        let rung = Arc::new(RingingWaker {
            woken: AtomicBool::new(true),
            ready_set: Arc::clone(&self.core.ready_set),
        });
        let waker = Waker::from(Arc::clone(&rung));
        let poll = || {
            if !rung.woken.swap(false, Ordering::AcqRel) {
                return None;
            }
            match future.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(output) => Some(output),
                Poll::Pending => None,
            }
        };
        SpinGuard::begin(&self.core)?.run_all_threads(until, Some(poll))
    }
}

/// Wakes a future by ringing its executor.
struct RingingWaker {
    woken: AtomicBool,
    ready_set: Arc<ReadySet>,
}

impl Wake for RingingWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.woken.store(true, Ordering::Release);
        self.ready_set.ring(CONTROL);
    }
}

/// Marks the thread that is inside a spin function. After this value is dropped, even during a
/// panic, another thread may spin.
struct SpinGuard<'a>(Spinner<'a>);

impl<'a> SpinGuard<'a> {
    fn begin(core: &'a Core) -> Result<Self, SpinError> {
        let thread = thread::current();
        let mut spinning = core.spinning.lock();
        let id = thread.id();
        if let Some(caller) = &spinning.caller {
            if caller.id() == id || spinning.workers.contains(&id) {
                return Err(SpinError::InsideCallback);
            }
            let name = caller.name().map_or_else(|| format!("{:?}", caller.id()), str::to_owned);
            return Err(SpinError::AlreadySpinning { thread: name });
        }
        spinning.caller = Some(thread);
        drop(spinning);
        let guard = Self(Spinner::new(core, id, 0));
        core.settings.prepare_thread()?;
        if core.settings.is_frozen {
            core.table.freeze();
        }
        Ok(guard)
    }
}

impl<'a> Deref for SpinGuard<'a> {
    type Target = Spinner<'a>;

    fn deref(&self) -> &Spinner<'a> {
        &self.0
    }
}

impl Drop for SpinGuard<'_> {
    fn drop(&mut self) {
        *self.0.core.spinning.lock() = SpinningThreads::default();
    }
}

/// The instant after `duration` from now. `None` means never; it also stands for an instant that is
/// too far in the future to represent.
fn deadline(duration: Option<Duration>) -> Option<Instant> {
    duration.and_then(|duration| Instant::now().checked_add(duration))
}

//! Spinning with several threads: the caller of a spin function, and worker threads that exist as
//! long as it spins.

use crate::core::Core;
use crate::leader_followers::Wait;
use crate::outcome::{Outcome, SpinError};
use crate::policy::Step;
use crate::spinner::{Spinner, Turn, is_past};
use crate::table::Requeue;
use feros_sync::Ordering;
use std::panic::resume_unwind;
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Instant;

type Worker<'scope> = ScopedJoinHandle<'scope, Result<(), SpinError>>;

impl Spinner<'_> {
    /// Like [`run`](Spinner::run), with all of the executor's threads. Only the calling thread
    /// calls `done`, whenever any thread has executed a unit.
    pub(crate) fn run_all_threads<T>(
        &self,
        until: Option<Instant>,
        mut done: Option<impl FnMut() -> Option<T>>,
    ) -> Result<Outcome<T>, SpinError> {
        if self.core.settings.threads < 2 {
            return Ok(self.run(until, |_| done.as_mut().and_then(|done| done())));
        }
        self.core.table.shared().start();
        let has_condition = done.is_some();
        thread::scope(|scope| {
            let stopping = StopOnDrop(self.core);
            let mut workers = Vec::new();
            let mut outcome = Ok(());
            for number in 1..self.core.settings.threads {
                match start_worker(self.core, scope, number, has_condition) {
                    Ok(worker) => workers.push(worker),
                    Err(error) => {
                        outcome = Err(error);
                        break;
                    }
                }
            }
            let outcome = outcome.map(|()| self.run_caller(until, done));
            drop(stopping);
            let mut failed = None;
            for worker in workers {
                match worker.join() {
                    Ok(result) => failed = failed.or(result.err()),
                    Err(panic) => resume_unwind(panic),
                }
            }
            failed.map_or(outcome, Err)
        })
    }

    /// The loop of the thread that called the spin function.
    fn run_caller<T>(
        &self,
        until: Option<Instant>,
        mut done: Option<impl FnMut() -> Option<T>>,
    ) -> Outcome<T> {
        loop {
            if let Some(value) = done.as_mut().and_then(|done| done()) {
                return Outcome::Completed(value);
            }
            if self.take_stop() {
                return Outcome::Stopped;
            }
            if is_past(until) {
                return Outcome::TimedOut;
            }
            let wait = Wait { until, has_condition: done.is_some() };
            if self.shared_turn(&wait, false) == Turn::Stopped {
                self.take_stop();
                return Outcome::Stopped;
            }
        }
    }

    /// The loop of the worker threads. The first worker that sees a stop ends all threads; the
    /// thread that called the spin function then consumes the stop.
    fn run_worker(&self, has_condition: bool) {
        let wait = Wait { until: None, has_condition: false };
        while !self.core.stop.load(Ordering::Relaxed) {
            if self.shared_turn(&wait, has_condition) == Turn::Stopped {
                return;
            }
        }
    }

    /// Like a turn of one thread, but sleeps if nothing is ready. `notifies`: whether the thread
    /// that called the spin function has to learn of each executed unit.
    fn shared_turn(&self, wait: &Wait, notifies: bool) -> Turn {
        let (shared, timers) = (self.core.table.shared(), &self.core.timers);
        let next_deadline =
            || timers.timeout().and_then(|timeout| Instant::now().checked_add(timeout));
        let mut state = shared.lock();
        if state.is_stopping() {
            return Turn::Stopped;
        }
        let is_rung = self.gather(&mut state);
        if is_rung && notifies {
            shared.notify_condition(&mut state); // the condition may have become true
        }
        let picked = state.pick(self.thread);
        match picked {
            Some(picked) => {
                shared.before_execution(&state, timers.take_new() || is_rung, &next_deadline);
                drop(state);
                let is_unit = picked.step != Step::Take;
                let computing = self.core.processors.enter(self.number);
                self.core.table.execute(picked, Requeue::AtOnce, &self.has_ready, false);
                drop(computing);
                if notifies && is_unit {
                    shared.notify_condition(&mut shared.lock());
                }
                Turn::Executed
            }
            None if is_rung => Turn::Rung,
            None => {
                timers.take_new();
                let busy_wait = self.core.settings.busy_wait.as_ref();
                if let Some(busy_wait) = busy_wait.filter(|busy_wait| busy_wait.is_due()) {
                    drop(state);
                    let ready_set = &self.core.ready_set;
                    busy_wait.look(timers.timeout(), || !ready_set.are_clear());
                    return Turn::Nothing; // other threads may have gathered flags meanwhile
                }
                let began = busy_wait.map(|busy_wait| (busy_wait, Instant::now()));
                shared.wait(state, wait, &next_deadline);
                began.inspect(|(busy_wait, began)| busy_wait.note_sleep(began.elapsed()));
                Turn::Nothing
            }
        }
    }
}

fn start_worker<'scope>(
    core: &'scope Core,
    scope: &'scope Scope<'scope, '_>,
    number: usize,
    has_condition: bool,
) -> Result<Worker<'scope>, SpinError> {
    let name = core.settings.thread_name(number);
    let run = move || {
        let _stopping = StopOnDrop(core);
        core.settings.prepare_thread()?;
        let spinner = Spinner::new(core, thread::current().id(), number);
        core.spinning.lock().workers.push(spinner.thread);
        spinner.run_worker(has_condition);
        Ok(())
    };
    let builder = thread::Builder::new().name(name.clone());
    let failed = |error: std::io::Error| SpinError::Thread { name, reason: error.to_string() };
    builder.spawn_scoped(scope, run).map_err(failed)
}

/// Ends all threads when dropped, even during a panic.
struct StopOnDrop<'a>(&'a Core);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.table.shared().stop();
    }
}

//! Spinning with several threads: the caller and its helpers, which come and go with one call of a
//! spin function.

use super::{Outcome, Spin, SpinError, Turn, is_past};
use crate::desk::Wait;
use crate::executor::Shared;
use crate::policy::Step;
use crate::table::Requeue;
use feros_sync::Ordering;
use std::panic::resume_unwind;
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::Instant;

type Helper<'scope> = ScopedJoinHandle<'scope, Result<(), SpinError>>;

impl Spin<'_> {
    /// As [`run`](Spin::run), with all of the executor's threads. `done` is asked by the caller
    /// alone, whenever a unit was executed by anybody.
    pub(super) fn run_crew<T>(
        &self,
        until: Option<Instant>,
        mut done: Option<impl FnMut() -> Option<T>>,
    ) -> Result<Outcome<T>, SpinError> {
        if self.shared.settings.threads < 2 {
            return Ok(self.run(until, |_| done.as_mut().and_then(|done| done())));
        }
        let desk = self.shared.table.desk();
        desk.open();
        let is_asked = done.is_some();
        thread::scope(|scope| {
            let closing = Closing(self.shared);
            let mut helpers = Vec::new();
            let mut outcome = Ok(());
            for number in 1..self.shared.settings.threads {
                match start_helper(self.shared, scope, number, is_asked) {
                    Ok(helper) => helpers.push(helper),
                    Err(error) => {
                        outcome = Err(error);
                        break;
                    }
                }
            }
            let outcome = outcome.map(|()| self.lead(until, done));
            drop(closing);
            let mut failed = None;
            for helper in helpers {
                match helper.join() {
                    Ok(result) => failed = failed.or(result.err()),
                    Err(panic) => resume_unwind(panic),
                }
            }
            failed.map_or(outcome, Err)
        })
    }

    /// What the calling thread does.
    fn lead<T>(
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
            let wait = Wait { until, hears_news: done.is_some() };
            if self.crew_turn(&wait, false) == Turn::Closed {
                self.take_stop();
                return Outcome::Stopped;
            }
        }
    }

    /// What the other threads do. Who sees a stop sends all home; the caller takes it.
    fn help(&self, is_asked: bool) {
        let wait = Wait { until: None, hears_news: false };
        while !self.shared.stop.load(Ordering::Relaxed) {
            if self.crew_turn(&wait, is_asked) == Turn::Closed {
                return;
            }
        }
    }

    /// As [`turn`](Spin::turn), and sleeps if nothing is ready. `tells`: the caller has to know
    /// when a unit was executed.
    fn crew_turn(&self, wait: &Wait, tells: bool) -> Turn {
        let (table, timers) = (&self.shared.table, &self.shared.timers);
        let alarm = || timers.timeout().and_then(|timeout| Instant::now().checked_add(timeout));
        let mut board = table.desk().lock();
        if board.is_closed() {
            return Turn::Closed;
        }
        let is_rung = self.gather(&mut board);
        if is_rung && tells {
            table.desk().tell_news(&mut board); // it may be about what the caller waits for
        }
        let picked = board.pick(self.thread);
        match picked {
            Some(picked) => {
                table.desk().leave(&board, timers.take_new() || is_rung, &alarm);
                drop(board);
                let is_unit = picked.step != Step::Take;
                table.execute(picked, Requeue::AtOnce, &self.has_ready);
                if tells && is_unit {
                    table.desk().tell_news(&mut table.desk().lock());
                }
                Turn::Executed
            }
            None if is_rung => Turn::Rung,
            None => {
                timers.take_new();
                table.desk().wait(board, wait, &alarm);
                Turn::Nothing
            }
        }
    }
}

fn start_helper<'scope>(
    shared: &'scope Shared,
    scope: &'scope Scope<'scope, '_>,
    number: usize,
    is_asked: bool,
) -> Result<Helper<'scope>, SpinError> {
    let name = shared.settings.thread_name(number);
    let help = move || {
        let _closing = Closing(shared);
        shared.settings.prepare_thread()?;
        let spin = Spin::new(shared, thread::current().id());
        shared.spinners.lock().helpers.push(spin.thread);
        spin.help(is_asked);
        Ok(())
    };
    let builder = thread::Builder::new().name(name.clone());
    let failed = |error: std::io::Error| SpinError::Thread { name, reason: error.to_string() };
    builder.spawn_scoped(scope, help).map_err(failed)
}

/// Sends the crew home when dropped, by a panic too.
struct Closing<'a>(&'a Shared);

impl Drop for Closing<'_> {
    fn drop(&mut self) {
        self.0.table.desk().close();
    }
}

//! All checks, one after the other. They take two seconds or more, and longer if a file of the
//! system does not answer, so the user may interrupt them and gets what was found until then.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

use feros::signals::{self, OnSignal};
use feros_engine::Gid;
use feros_monitor::Distributions;
use feros_sync::Mutex;

use super::finding::Finding;
use super::{discovery, domains, engine, graph, machine, network, programs};
use crate::error::CliError;
use crate::notices;

/// How long an interrupted examination waits for the check that is under way.
const WAIT_FOR_CHECK: Duration = Duration::from_secs(1);

/// The findings of the checks.
#[derive(Default)]
pub(super) struct Examination {
    pub(super) findings: Vec<Finding>,
    /// The context, if the engine started.
    pub(super) context: Option<feros::Context>,
    /// The distributions in the domain, if the graph was discovered.
    pub(super) distributions: Option<Distributions>,
}

/// The findings of all checks, in a process that has joined the graph as `watcher` and may receive
/// messages. They do not tell what discovery costs.
pub(in crate::commands) fn findings(watcher: Gid) -> Vec<Finding> {
    let found = Mutex::new(Examination::default());
    examine(&found, Some(watcher), || false);
    found.into_inner().findings
}

/// Checks one part after the other, until `is_ending`, and adds what is found to `found`.
fn examine(found: &Mutex<Examination>, watcher: Option<Gid>, is_ending: impl Fn() -> bool) {
    // The findings about the distributions say the same, with the cure.
    notices::leave_out_other_forms();
    let add = |findings| found.lock().findings.extend(findings);
    let session = || found.lock().context.as_ref().map(|context| context.session().clone());
    let joined = Cell::new(None);
    let parts: [&dyn Fn(); 7] = [
        &|| add(network::examine()),
        &|| add(machine::examine()),
        &|| {
            let (findings, context) = engine::examine();
            let mut found = found.lock();
            found.findings.extend(findings);
            found.context = context;
        },
        &|| {
            let own = session().map(|session| session.gid());
            let seen = graph::examine(own.into_iter().chain(watcher).collect());
            joined.set(seen.joined);
            let mut found = found.lock();
            found.findings.extend(seen.findings);
            found.distributions = seen.distributions;
        },
        &|| add(programs::examine()),
        &|| add(domains::examine()),
        // The last one, because it waits until the rest has taken long enough.
        &|| {
            let Some(joined) = joined.take() else { return };
            let session = session().filter(|_| watcher.is_none());
            add(discovery::examine(&joined, session.as_deref(), &is_ending));
        },
    ];
    parts.iter().take_while(|_| !is_ending()).for_each(|part| part());
}

/// Why the checks ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// All checks were made.
    Complete,
    /// A signal came first.
    Interrupted,
}

/// The checks, on a thread of their own.
pub(super) struct Running {
    found: Arc<Mutex<Examination>>,
    stops: Receiver<Stop>,
    thread: JoinHandle<()>,
    _listening: OnSignal,
}

impl Running {
    /// Starts the checks.
    ///
    /// # Errors
    /// If the system refuses the thread.
    pub(super) fn start() -> Result<Self, CliError> {
        // One place for the signal, and one for the end of the thread.
        let (sender, stops) = sync_channel(2);
        let is_ending = Arc::new(AtomicBool::new(false));
        let listening = signals::on_signal({
            let (is_ending, sender) = (is_ending.clone(), sender.clone());
            move || {
                is_ending.store(true, Ordering::Release);
                tell(&sender, Stop::Interrupted);
            }
        });
        let found = Arc::new(Mutex::new(Examination::default()));
        let inside = found.clone();
        let checks = move || {
            let _end = End(sender);
            examine(&inside, None, || is_ending.load(Ordering::Acquire));
        };
        let failed = |error| CliError::failed(format!("the checks cannot be started: {error}"));
        let thread = std::thread::Builder::new().name("doctor".into());
        let thread = thread.spawn(checks).map_err(failed)?;
        Ok(Self { found, stops, thread, _listening: listening })
    }

    /// Waits until all checks have been made or a signal arrives; returns what was found.
    pub(super) fn wait(&self) -> (Examination, Stop) {
        let stop = self.stops.recv().unwrap_or(Stop::Interrupted);
        (std::mem::take(&mut *self.found.lock()), stop)
    }

    /// Waits for the check that is under way, so that the engine ends in order. The wait is short
    /// if a signal arrived, since the check may wait for a file of the system.
    pub(super) fn end(self, stop: Stop) {
        if stop == Stop::Interrupted && self.stops.recv_timeout(WAIT_FOR_CHECK).is_err() {
            return;
        }
        if let Err(panic) = self.thread.join() {
            std::panic::resume_unwind(panic);
        }
    }
}

/// Tells that the thread has ended, even if a check panics.
struct End(SyncSender<Stop>);

impl Drop for End {
    fn drop(&mut self) {
        tell(&self.0, Stop::Complete);
    }
}

fn tell(sender: &SyncSender<Stop>, stop: Stop) {
    // There is room for all that is told, and the receiver may have gone.
    let _ = sender.try_send(stop);
}

//! The Python host of one launch.

use std::path::PathBuf;
use std::sync::Arc;

use feros_process::EndSignals;
use feros_sync::Mutex;

use super::host::{Host, HostError, Stop};
use super::message::{Line, Message};
use super::options::PythonOptions;

/// The Python host of one launch. It starts when the first file in Python is read, and ends with
/// this value.
#[derive(Debug, Default)]
pub(crate) struct Session {
    options: Option<PythonOptions>,
    prefixes: Vec<PathBuf>,
    stop: Arc<Stop>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    NotStarted,
    Running(Box<Host>),
    /// The host has ended before the launch.
    Lost,
}

impl Session {
    /// A session that finds modules of packages below these prefixes. Without options there is no
    /// Python.
    pub(crate) fn new(
        options: Option<PythonOptions>,
        prefixes: Vec<PathBuf>,
        signals: EndSignals,
    ) -> Self {
        Self { options, prefixes, stop: Arc::new(Stop::new(signals)), state: Mutex::default() }
    }

    /// Whether launch files in Python can be read.
    pub(crate) fn is_offered(&self) -> bool {
        self.options.is_some()
    }

    /// Whether a launch file in Python has been read.
    pub(crate) fn is_started(&self) -> bool {
        !matches!(*self.state.lock(), State::NotStarted)
    }

    /// Whether Python has ended before the launch.
    pub(crate) fn is_lost(&self) -> bool {
        matches!(*self.state.lock(), State::Lost)
    }

    /// From now on signals do not end the host, since the launch handles them.
    pub(crate) fn begin_run(&self) {
        self.stop.begin_run();
    }

    /// Ends the host soon, also if it works for another thread.
    pub(crate) fn abort(&self) {
        self.stop.abort();
    }

    /// Sends a request; starts the host before the first request. `work` says to users what the
    /// host does.
    pub(crate) fn begin(&self, message: &Message, work: String) -> Result<(), HostError> {
        let mut state = self.state.lock();
        if matches!(*state, State::NotStarted)
            && let Some(options) = &self.options
        {
            // An error leaves the session without a host.
            *state = State::Lost;
            let prefixes = self.prefixes.iter().map(PathBuf::as_path);
            let host = Host::start(options, prefixes, &self.stop)?;
            *state = State::Running(Box::new(host));
        }
        with(&mut state, |host| host.begin(message, work))
    }

    /// Sends an answer.
    pub(crate) fn send(&self, message: &Message) -> Result<(), HostError> {
        with(&mut self.state.lock(), |host| host.send(message))
    }

    /// Receives a question or a reply; `is_outermost` says whether no other request waits.
    pub(crate) fn receive(&self, is_outermost: bool) -> Result<Line, HostError> {
        with(&mut self.state.lock(), |host| {
            let line = Line::parse(&host.receive()?).map_err(HostError::Protocol)?;
            if is_outermost && !matches!(line, Line::Question { .. }) {
                host.finish();
            }
            Ok(line)
        })
    }
}

/// Calls `work` with the host. An error ends the host, since nobody knows what it would say next.
fn with<T>(
    state: &mut State,
    work: impl FnOnce(&mut Host) -> Result<T, HostError>,
) -> Result<T, HostError> {
    let State::Running(host) = state else { return Err(HostError::Lost) };
    let result = work(host);
    if result.is_err() {
        *state = State::Lost;
    }
    result
}

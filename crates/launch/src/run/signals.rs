//! Signals as file descriptors, to wait for beside output.

use std::io::Read as _;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;

use signal_hook::SigId;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::outcome::RunError;

/// One pipe for each signal, so that what is read says which came.
pub(super) struct Signals {
    pipes: Vec<(i32, UnixStream)>,
    registrations: Vec<SigId>,
}

impl Signals {
    pub(super) fn new() -> Result<Self, RunError> {
        let failed = |cause| RunError::System { what: "signals cannot be received", cause };
        let mut signals = Self { pipes: Vec::new(), registrations: Vec::new() };
        for signal in [SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            let (receiver, sender) = UnixStream::pair().map_err(failed)?;
            receiver.set_nonblocking(true).map_err(failed)?;
            let id = signal_hook::low_level::pipe::register(signal, sender).map_err(failed)?;
            signals.registrations.push(id);
            signals.pipes.push((signal, receiver));
        }
        Ok(signals)
    }

    /// Descriptors that are readable when a signal came.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.pipes.iter().map(|(_, pipe)| pipe.as_fd())
    }

    /// The signals that ask to end, as often as they came since the last time.
    pub(super) fn take_requests(&mut self) -> Vec<&'static str> {
        let mut requests = Vec::new();
        for (signal, pipe) in &mut self.pipes {
            let mut bytes = [0; 64];
            let count = pipe.read(&mut bytes).unwrap_or(0);
            let name = match *signal {
                SIGINT => "SIGINT",
                SIGTERM => "SIGTERM",
                SIGHUP => "SIGHUP",
                SIGQUIT => "SIGQUIT",
                _ => continue,
            };
            requests.extend(std::iter::repeat_n(name, count));
        }
        requests
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        for id in self.registrations.drain(..) {
            signal_hook::low_level::unregister(id);
        }
    }
}

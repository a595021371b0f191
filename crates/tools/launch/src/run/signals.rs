//! Signals as file descriptors, which are polled together with output.

use std::io::Read as _;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use signal_hook::SigId;
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};

use super::outcome::RunError;

/// Signals within this time count as one request to end, since terminals and launchers may each
/// send one.
const TOGETHER: Duration = Duration::from_millis(200);

/// One pipe for each signal, so that the pipe identifies the signal.
pub(super) struct Signals {
    pipes: Vec<(i32, UnixStream)>,
    registrations: Vec<SigId>,
    wishes: Wishes,
}

/// The time of the last signal that counted as a request.
#[derive(Default)]
struct Wishes(Option<Instant>);

impl Wishes {
    /// Whether a signal that arrives now is another request.
    fn is_another(&mut self, now: Instant) -> bool {
        let is_another = self.0.is_none_or(|last| now.saturating_duration_since(last) >= TOGETHER);
        if is_another {
            self.0 = Some(now);
        }
        is_another
    }
}

impl Signals {
    pub(super) fn new() -> Result<Self, RunError> {
        let failed = |cause| RunError::System { what: "signals cannot be received", cause };
        let mut signals =
            Self { pipes: Vec::new(), registrations: Vec::new(), wishes: Wishes::default() };
        for signal in [SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT] {
            let (receiver, sender) = UnixStream::pair().map_err(failed)?;
            receiver.set_nonblocking(true).map_err(failed)?;
            let id = signal_hook::low_level::pipe::register(signal, sender).map_err(failed)?;
            signals.registrations.push(id);
            signals.pipes.push((signal, receiver));
        }
        Ok(signals)
    }

    /// The descriptors that become readable when a signal arrives.
    pub(super) fn descriptors(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.pipes.iter().map(|(_, pipe)| pipe.as_fd())
    }

    /// The requests to end since the last call, by signal name; signals that arrive together count
    /// as one.
    pub(super) fn take_requests(&mut self) -> Vec<&'static str> {
        let (mut requests, now) = (Vec::new(), Instant::now());
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
            let wishes = (0..count).filter(|_| self.wishes.is_another(now));
            requests.extend(wishes.map(|_| name));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_that_come_together_are_one_wish() {
        let (mut wishes, first) = (Wishes::default(), Instant::now());
        let at = [0, 1, 199, 200, 399, 401].map(Duration::from_millis);
        let counted = at.map(|after| wishes.is_another(first + after));
        assert_eq!(counted, [true, false, false, true, false, true]);
    }
}

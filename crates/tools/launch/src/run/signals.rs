//! Signals as a file descriptor, which is polled together with output.

use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use feros_process::hangup_to_handle;
use signal_hook::consts::{SIGCHLD, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::backend::SignalDelivery;
use signal_hook::iterator::exfiltrator::SignalOnly;
use signal_hook::low_level::signal_name;

use super::outcome::RunError;

/// Signals within this time count as one request to end, since terminals and launchers may each
/// send one.
const TOGETHER: Duration = Duration::from_millis(200);

/// The signals to this process.
pub(super) struct Signals {
    delivery: SignalDelivery<UnixStream, SignalOnly>,
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
        let (receiver, sender) = UnixStream::pair().map_err(failed)?;
        let signals = [SIGCHLD, SIGINT, SIGTERM, SIGQUIT].into_iter().chain(hangup_to_handle());
        let delivery = SignalDelivery::with_pipe(receiver, sender, SignalOnly, signals);
        Ok(Self { delivery: delivery.map_err(failed)?, wishes: Wishes::default() })
    }

    /// The descriptor that becomes readable when a signal arrives.
    pub(super) fn descriptor(&self) -> BorrowedFd<'_> {
        self.delivery.get_read().as_fd()
    }

    /// The requests to end since the last call, by signal name; signals that arrive together count
    /// as one.
    pub(super) fn take_requests(&mut self) -> Vec<&'static str> {
        let now = Instant::now();
        let wishes = self.delivery.pending().filter(|signal| *signal != SIGCHLD);
        wishes.filter(|_| self.wishes.is_another(now)).filter_map(signal_name).collect()
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

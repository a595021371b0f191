//! Ends tests that would hang.

use crate::background::spawn;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// How long a test waits for anything; the result of a test does not depend on its speed.
pub const WATCHDOG: Duration = Duration::from_secs(90);

/// Ends the process when this value is not dropped in time, since threads that wait for each other
/// cannot be stopped otherwise.
#[derive(Debug)]
pub struct Watchdog {
    /// Closed when the watchdog is dropped.
    _leash: SyncSender<()>,
}

impl Watchdog {
    /// A watchdog for the test of the calling thread.
    ///
    /// # Panics
    ///
    /// When the system starts no thread.
    pub fn start() -> Self {
        Self::after(WATCHDOG, || std::process::abort())
    }

    fn after(time: Duration, bite: impl FnOnce() + Send + 'static) -> Self {
        let test = thread::current().name().unwrap_or("a test").to_owned();
        let (leash, end) = sync_channel(1);
        let watch = move || {
            if end.recv_timeout(time) == Err(RecvTimeoutError::Timeout) {
                eprintln!("the watchdog bit: {test} hangs");
                bite();
            }
        };
        drop(spawn("watchdog", watch));
        Self { _leash: leash }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_bites_whoever_is_late_alone() {
        let (bite, bitten) = sync_channel(2);
        let in_time = bite.clone();
        drop(Watchdog::after(Duration::MAX, move || in_time.send("in time").unwrap_or_default()));
        let late = Watchdog::after(Duration::from_millis(1), move || {
            bite.send("late").unwrap_or_default();
        });
        assert_eq!(bitten.recv(), Ok("late"));
        drop(late);
        assert!(bitten.recv().is_err(), "nobody else is bitten");
    }
}

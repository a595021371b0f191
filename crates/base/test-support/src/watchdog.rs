//! Ends tests that would otherwise hang.

use crate::background::spawn;
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::Duration;

/// The limit on every wait of a test. It is so long that no result depends on the speed of a test.
pub const WATCHDOG: Duration = Duration::from_secs(90);

/// Aborts the process if this value is not dropped in time. If threads wait for each other, nothing
/// else can stop them.
#[derive(Debug)]
pub struct Watchdog {
    /// Dropping this field tells the watching thread that the test has ended.
    _leash: SyncSender<()>,
}

impl Watchdog {
    /// Starts a watchdog for the test of the calling thread.
    ///
    /// # Panics
    ///
    /// When the system cannot start a thread.
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

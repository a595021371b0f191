//! Writes the trace periodically while the program runs, so that other programs can follow it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::file::WriteError;
use crate::recorder::write_so_far;

static IS_STARTED: AtomicBool = AtomicBool::new(false);

/// Starts a thread that writes the new events once in each `period` until the process ends. Only
/// the first call has an effect.
pub(crate) fn start(period: Duration, tell: fn(&WriteError)) -> io::Result<()> {
    if IS_STARTED.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let thread = std::thread::Builder::new().name("feros-trace".into());
    let write = move || {
        let mut is_failing = false;
        loop {
            std::thread::sleep(period);
            let written = write_so_far();
            if let Err(error) = &written
                && !is_failing
            {
                tell(error);
            }
            is_failing = written.is_err();
        }
    };
    thread.spawn(write).map(drop).inspect_err(|_| IS_STARTED.store(false, Ordering::Relaxed))
}

//! Waits until a condition holds.

use crate::watchdog::WATCHDOG;
use std::fmt::Display;
use std::thread;
use std::time::{Duration, Instant};

/// The pause between two checks. It is long enough to leave the processor to the threads that the
/// test is waiting for.
const PAUSE: Duration = Duration::from_millis(2);

/// Calls `look` again and again until it succeeds. The error of `look` tells what is missing.
///
/// # Panics
///
/// Panics if `look` has not succeeded within [`WATCHDOG`]. The message contains the last error of
/// `look`.
#[track_caller]
pub fn eventually<T, E: Display>(mut look: impl FnMut() -> Result<T, E>) -> T {
    let began = Instant::now();
    loop {
        match look() {
            Ok(found) => return found,
            Err(missing) => assert!(began.elapsed() < WATCHDOG, "the watchdog bit: {missing}"),
        }
        thread::sleep(PAUSE);
    }
}

/// Waits until `holds` returns true. `what` names the condition in the message of the panic.
///
/// # Panics
///
/// Panics if the condition is not true within [`WATCHDOG`].
#[track_caller]
pub fn until(what: &str, mut holds: impl FnMut() -> bool) {
    eventually(|| if holds() { Ok(()) } else { Err(what) });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_are_repeated_until_one_finds_something() {
        let mut looks = 0;
        let mut look = || {
            looks += 1;
            if looks < 3 { Err(format!("the third look, after {looks}")) } else { Ok(looks) }
        };
        assert_eq!(eventually(&mut look), 3);
        until("the fifth look", || look() == Ok(5));
    }
}

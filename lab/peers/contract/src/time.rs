//! The clock of all stamps, and waiting for a time or for the end of standard input.

use rustix::event::{PollFd, PollFlags, poll};
use rustix::thread::clock_nanosleep_absolute;
use rustix::time::{ClockId, Timespec, clock_gettime};

fn clock_nanos(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// `CLOCK_MONOTONIC`: the same in all processes of a machine.
pub fn now_nanos() -> u64 {
    clock_nanos(ClockId::Monotonic)
}

fn timespec(nanos: u64) -> Timespec {
    let seconds = i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX);
    Timespec { tv_sec: seconds, tv_nsec: (nanos % 1_000_000_000) as i64 }
}

/// Sleeps until a time on the clock of [`now_nanos`].
pub fn sleep_until(nanos: u64) {
    // The only possible error is an interruption by a signal.
    while clock_nanosleep_absolute(rustix::thread::ClockId::Monotonic, &timespec(nanos)).is_err() {}
}

/// Computes for this much processor time of this thread; other programs may make it take longer.
pub(crate) fn compute(nanos: u64) {
    if nanos == 0 {
        return;
    }
    let end = clock_nanos(ClockId::ThreadCPUTime) + nanos;
    while clock_nanos(ClockId::ThreadCPUTime) < end {}
}

/// Waits up to this long for the end of standard input; returns whether it came.
pub(crate) fn wait_for_end_of_input(nanos: u64) -> bool {
    let until = now_nanos() + nanos;
    loop {
        let left = timespec(until.saturating_sub(now_nanos()));
        let input = rustix::stdio::stdin();
        if poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&left)).is_ok_and(|ready| ready > 0)
        {
            let mut ignored = [0; 256];
            if rustix::io::read(input, &mut ignored).map_or(true, |length| length == 0) {
                return true;
            }
        }
        if now_nanos() >= until {
            return false;
        }
    }
}

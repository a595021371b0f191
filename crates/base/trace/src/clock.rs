//! The clock of all trace points, which is CLOCK_MONOTONIC. It is the same for all processes of a
//! host.

use rustix::time::{ClockId, clock_gettime};

/// The time on CLOCK_MONOTONIC in nanoseconds.
pub fn now_nanos() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // The clock starts at zero, and a u64 overflows after 584 years.
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}

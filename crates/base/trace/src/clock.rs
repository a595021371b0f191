//! The clock of all points: CLOCK_MONOTONIC, the same for all processes of a host.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds of CLOCK_MONOTONIC, the clock of all trace points.
pub fn now_nanos() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // The clock begins at zero and overflows a u64 after 584 years.
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}

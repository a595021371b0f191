//! The clock of all trace points, which is CLOCK_MONOTONIC. It is the same for all processes of a
//! host, and starts again when the host boots.

use rustix::time::{ClockId, clock_gettime};

/// The time on CLOCK_MONOTONIC in nanoseconds.
pub fn now_nanos() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // The clock starts at zero, and a u64 overflows after 584 years.
    (now.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(now.tv_nsec as u64)
}

/// The kernel's random id of the time since the host booted, or `None` if it cannot be read. If two
/// processes have the same boot id, they run on the same kernel, and their clocks can be compared.
pub fn boot_id() -> Option<String> {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(text.trim().to_owned())
}

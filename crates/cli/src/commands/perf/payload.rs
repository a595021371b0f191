//! What the payload of a measured message carries: when it was published, and its number.
//!
//! The same layout as the C programs of the laboratory have: 8 bytes of CLOCK_MONOTONIC in
//! nanoseconds, then 8 bytes of number, both little endian. The clock is the same in all processes
//! of a host.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// The smallest payload that can be measured.
pub(super) const STAMP_BYTES: usize = 16;

/// CLOCK_MONOTONIC in nanoseconds.
pub(super) fn monotonic_nanos() -> u64 {
    nanos(clock_gettime(ClockId::Monotonic))
}

/// Time that all threads of this process ran, in nanoseconds.
pub(super) fn process_cpu_nanos() -> u64 {
    nanos(clock_gettime(ClockId::ProcessCPUTime))
}

fn nanos(time: Timespec) -> u64 {
    // Both clocks begin at zero with the host or the process.
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

/// Sleeps until CLOCK_MONOTONIC shows `nanos`.
pub(super) fn sleep_until(nanos: u64) {
    let time = Timespec {
        tv_sec: i64::try_from(nanos / 1_000_000_000).unwrap_or(i64::MAX),
        tv_nsec: (nanos % 1_000_000_000) as i64,
    };
    // The one error that can come is an interruption by a signal.
    while rustix::thread::clock_nanosleep_absolute(rustix::thread::ClockId::Monotonic, &time)
        .is_err()
    {}
}

/// Writes number and the time that is now; returns it.
pub(super) fn stamp(payload: &mut [u8], sequence: u64) -> u64 {
    let now = monotonic_nanos();
    stamp_with(payload, sequence, now);
    now
}

/// Writes number and a time that was read before.
pub(super) fn stamp_with(payload: &mut [u8], sequence: u64, nanos: u64) {
    payload[8..STAMP_BYTES].copy_from_slice(&sequence.to_le_bytes());
    payload[..8].copy_from_slice(&nanos.to_le_bytes());
}

/// Time and number of a payload; `None` when it is too short to be one of ours.
pub(super) fn read_stamp(payload: &[u8]) -> Option<(u64, u64)> {
    let (nanos, rest) = payload.split_first_chunk()?;
    let sequence = rest.first_chunk()?;
    Some((u64::from_le_bytes(*nanos), u64::from_le_bytes(*sequence)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_stamped_is_read() {
        let mut payload = [0x5a; 20];
        let before = monotonic_nanos();
        let stamped = stamp(&mut payload, 7);
        assert_eq!(read_stamp(&payload), Some((stamped, 7)));
        assert!((before..=monotonic_nanos()).contains(&stamped));
        assert_eq!(payload[STAMP_BYTES..], [0x5a; 4]);
    }

    #[test]
    fn short_payload_is_no_stamp() {
        assert_eq!(read_stamp(&[0; STAMP_BYTES - 1]), None);
        assert_eq!(read_stamp(&[]), None);
    }

    #[test]
    fn sleeping_ends_not_before_its_time() {
        let due = monotonic_nanos() + 2_000_000;
        sleep_until(due);
        assert!(monotonic_nanos() >= due);
    }
}

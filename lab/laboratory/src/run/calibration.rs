//! The laboratory's own cost, measured at the beginning of each run.

use std::time::Instant;

use rustix::time::{ClockId, clock_gettime};

use crate::record::{Distribution, Floor};

/// The cost of recording a message: the stamp of the publisher, the stamp of the subscription, and
/// an entry in a preallocated buffer. Peers in other languages also read this clock twice.
pub(super) const RECORDING: &str = "recording";

/// The laboratory's own cost per message.
pub(super) fn recording(seed: u64) -> Option<Floor> {
    const SAMPLES: usize = 2000;
    const EACH: usize = 50;
    let mut buffer: Vec<(u64, u64)> = Vec::with_capacity(EACH);
    let mut nanos = Vec::with_capacity(SAMPLES);
    for _ in 0..SAMPLES {
        buffer.clear();
        let began = Instant::now();
        for _ in 0..EACH {
            let stamp = monotonic_nanos();
            buffer.push((stamp, monotonic_nanos().saturating_sub(stamp)));
        }
        std::hint::black_box(&buffer);
        nanos.push(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX) / EACH as u64);
    }
    let nanos = Distribution::of(&nanos, seed)?;
    Some(Floor { name: RECORDING.into(), size_bytes: 0, nanos })
}

fn monotonic_nanos() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

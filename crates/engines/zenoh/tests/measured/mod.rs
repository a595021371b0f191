//! Runs the rounds of a measurement, and prints the results as a row of a table.
#![allow(dead_code, reason = "each test uses some of it")]

use std::time::Duration;

const ROUNDS: u32 = 10;

/// The retry settings in the files of `rmw_zenoh`.
pub(crate) const RETRY_OF_RMW_ZENOH: &str =
    "connect/retry={period_init_ms: 1000, period_max_ms: 4000, period_increase_factor: 2}";

/// How long it takes until the killed process is started again. The time is different in each
/// round, so that the restart is not synchronized with the retries.
pub(crate) fn pause(round: u32) -> Duration {
    Duration::from_millis(2000 + 370 * u64::from(round))
}

/// Runs all rounds and prints the median and the longest time.
pub(crate) fn rounds(name: &str, round: impl FnMut(u32) -> Duration) {
    let mut took: Vec<Duration> = (0..ROUNDS).map(round).collect();
    took.sort_unstable();
    let middle = took.len() / 2;
    let median = (took[middle - 1] + took[middle]) / 2;
    let worst = took[took.len() - 1];
    println!("| {name} | {} | {} |", median.as_millis(), worst.as_millis());
}

//! Rounds of a measurement, and the row of a table that comes of them.
#![allow(dead_code, reason = "each test uses some of it")]

use std::time::Duration;

const ROUNDS: u32 = 10;

/// What `rmw_zenoh`'s files say of how soon to try again.
pub(crate) const RETRY_OF_RMW_ZENOH: &str =
    "connect/retry={period_init_ms: 1000, period_max_ms: 4000, period_increase_factor: 2}";

/// How long what is away stays away: another time in each round, as it is in no step with those who
/// try again.
pub(crate) fn pause(round: u32) -> Duration {
    Duration::from_millis(2000 + 370 * u64::from(round))
}

/// Prints the median and the worst of all rounds.
pub(crate) fn rounds(name: &str, round: impl FnMut(u32) -> Duration) {
    let mut took: Vec<Duration> = (0..ROUNDS).map(round).collect();
    took.sort_unstable();
    let middle = took.len() / 2;
    let median = (took[middle - 1] + took[middle]) / 2;
    let worst = took[took.len() - 1];
    println!("| {name} | {} | {} |", median.as_millis(), worst.as_millis());
}

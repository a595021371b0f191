//! Durations in a histogram of the HDR kind: exact to four digits, whatever their number.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

/// Longer durations count as this one.
const LONGEST_NANOS: u64 = 600_000_000_000;

/// Collects durations.
#[derive(Debug)]
pub(super) struct Durations(Histogram<u32>);

impl Durations {
    /// Without any yet.
    pub(super) fn new() -> Self {
        Self(Histogram::new_with_bounds(1, LONGEST_NANOS, 4).expect("these bounds are in order"))
    }

    /// Adds one; never allocates.
    pub(super) fn record(&mut self, nanos: u64) {
        self.0.saturating_record(nanos);
    }

    /// Adds those of another collection.
    pub(super) fn add(&mut self, other: &Self) {
        self.0.add(&other.0).expect("all have the same bounds");
    }

    /// The summary, in microseconds; all zero when there is none.
    pub(super) fn summary(&self) -> Summary {
        if self.0.is_empty() {
            return Summary::default();
        }
        let us = |nanos: u64| micros(nanos as f64);
        // The highest value that a bucket stands for may be above what was recorded.
        let quantile = |part: f64| us(self.0.value_at_quantile(part).min(self.0.max()));
        Summary {
            min_us: us(self.0.min()),
            mean_us: micros(self.0.mean()),
            p50_us: quantile(0.5),
            p90_us: quantile(0.9),
            p99_us: quantile(0.99),
            max_us: us(self.0.max()),
        }
    }
}

/// Microseconds with three decimals: more digits than any clock has would only look exact.
fn micros(nanos: f64) -> f64 {
    nanos.round() / 1000.0
}

/// What people want to know of many durations, in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Summary {
    pub(super) min_us: f64,
    pub(super) mean_us: f64,
    pub(super) p50_us: f64,
    pub(super) p90_us: f64,
    pub(super) p99_us: f64,
    pub(super) max_us: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(value: f64, wanted: f64) -> bool {
        (value / wanted - 1.0).abs() < 1e-4
    }

    #[test]
    fn quantiles_of_a_thousand_durations() {
        let mut durations = Durations::new();
        for n in 1..=1000_u64 {
            durations.record(n * 1000);
        }
        let summary = durations.summary();
        assert!(close(summary.p50_us, 500.0) && close(summary.p90_us, 900.0), "{summary:?}");
        assert!(close(summary.p99_us, 990.0) && close(summary.max_us, 1000.0), "{summary:?}");
        assert!(close(summary.min_us, 1.0) && close(summary.mean_us, 500.5), "{summary:?}");
    }

    #[test]
    fn tenths_of_a_microsecond_are_kept() {
        let mut durations = Durations::new();
        durations.record(123_456);
        let summary = durations.summary();
        assert!((summary.p50_us - 123.456).abs() < 0.05, "{summary:?}");
    }

    #[test]
    fn none_is_zero_and_absurd_ones_are_the_longest() {
        assert_eq!(Durations::new().summary(), Summary::default());
        let mut durations = Durations::new();
        durations.record(u64::MAX);
        durations.record(0);
        assert!(close(durations.summary().max_us, 6e8), "{:?}", durations.summary());
    }
}

//! Lengths of time, such as `1.97 s`, and time limits.

use std::time::Duration;

/// A length of time with at most three digits behind the point.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(feros_wording::duration(Duration::from_nanos(1_969_543_930)), "1.97 s");
/// assert_eq!(feros_wording::duration(Duration::from_millis(20)), "20 ms");
/// ```
#[must_use]
pub fn duration(length: Duration) -> String {
    let nanos = length.as_nanos();
    let (unit, name) = match nanos {
        1..1_000 => (1, "ns"),
        1_000..1_000_000 => (1_000, "µs"),
        1_000_000..100_000_000 => (1_000_000, "ms"),
        _ => (1_000_000_000, "s"),
    };
    let thousandths = (nanos * 1_000 + unit / 2) / unit;
    let fraction = format!(".{:03}", thousandths % 1_000);
    let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
    format!("{}{fraction} {name}", thousandths / 1_000)
}

/// The time limit of a wait that had no success: `within 2 s`, or `at once` if the limit was zero.
///
/// ```
/// use std::time::Duration;
///
/// assert_eq!(feros_wording::within(Duration::from_secs(2)), "within 2 s");
/// assert_eq!(feros_wording::within(Duration::ZERO), "at once");
/// ```
#[must_use]
pub fn within(limit: Duration) -> String {
    if limit.is_zero() { "at once".to_owned() } else { format!("within {}", duration(limit)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_has_a_unit_of_its_size_and_few_digits() {
        let texts = [
            (0, "0 s"),
            (1, "1 ns"),
            (999, "999 ns"),
            (1_500, "1.5 µs"),
            (999_999, "999.999 µs"),
            (1_500_000, "1.5 ms"),
            (20_000_000, "20 ms"),
            (99_999_999, "100 ms"),
            (100_000_000, "0.1 s"),
            (500_000_000, "0.5 s"),
            (1_969_543_930, "1.97 s"),
            (10_000_000_001, "10 s"),
            (3_600_000_000_000, "3600 s"),
        ];
        for (nanos, text) in texts {
            assert_eq!(duration(Duration::from_nanos(nanos)), text);
        }
        assert_eq!(duration(Duration::MAX), "18446744073709551616 s");
    }

    #[test]
    fn a_limit_of_zero_is_no_number() {
        assert_eq!(within(Duration::ZERO), "at once");
        assert_eq!(within(Duration::from_millis(100)), "within 0.1 s");
    }
}

//! Value parsers for clap that options of several verbs share.

use std::time::Duration;

/// Parses a duration in seconds, such as `0.5`.
pub(crate) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 =
        text.parse().map_err(|_| "expected a number of seconds, such as 2 or 0.5".to_owned())?;
    // A year counts as forever, and keeps arithmetic with clocks in range.
    if (0.0..=31_536_000.0).contains(&seconds) {
        Ok(Duration::from_secs_f64(seconds))
    } else {
        Err("expected seconds from 0 to 31536000".to_owned())
    }
}

/// Parses a number of messages, such as the size of a window.
pub(crate) fn parse_count(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number @ 1..=10_000_000) => Ok(number),
        _ => Err("expected a whole number from 1 to 10000000".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::parse_seconds;
    use std::time::Duration;

    #[test]
    fn seconds_are_read_and_bounded() {
        assert_eq!(parse_seconds("0.5"), Ok(Duration::from_millis(500)));
        for bad in ["", "x", "-1", "nan", "inf", "1e300"] {
            assert!(parse_seconds(bad).is_err(), "{bad}");
        }
    }
}

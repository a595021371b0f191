//! Warnings that other nodes cause. Their number is limited, because other nodes can cause any
//! number of them.

use std::fmt;
use std::time::{Duration, Instant};

use feros_sync::Mutex;

/// The limit on lines within [`PERIOD`].
const MOST: u32 = 64;
const PERIOD: Duration = Duration::from_secs(60);

/// Limits the warnings that other nodes cause to 64 per minute. The last of these warnings
/// announces that further warnings are omitted.
///
/// ```
/// let lines = feros_ros1::Lines::default();
/// for number in 0..1000 {
///     lines.warn(format_args!("node {number} speaks another language"));
/// }
/// assert_eq!(lines.next(), None);
/// ```
#[derive(Debug, Default)]
pub struct Lines(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    began: Option<Instant>,
    lines: u32,
}

/// The text that is appended to the last line within a minute.
const AND_MORE: &str = ". ROS 1 nodes have caused 64 log lines within a minute: further lines are \
                        omitted until that minute is over";

impl Lines {
    /// Logs a warning, unless too many lines have been logged within the last minute.
    pub fn warn(&self, text: impl fmt::Display) {
        match self.next() {
            Some(end) => tracing::warn!("{text}{end}"),
            None => tracing::debug!("{text}"),
        }
    }

    /// Counts one line. Returns the suffix to append to it, or `None` if the limit has been
    /// reached.
    pub fn next(&self) -> Option<&'static str> {
        self.next_at(Instant::now())
    }

    fn next_at(&self, now: Instant) -> Option<&'static str> {
        let mut state = self.0.lock();
        if state.began.is_none_or(|began| now.duration_since(began) >= PERIOD) {
            *state = State { began: Some(now), lines: 0 };
        }
        state.lines = state.lines.saturating_add(1);
        match state.lines {
            lines if lines < MOST => Some(""),
            MOST => Some(AND_MORE),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_lines_a_minute_and_no_more() {
        let (lines, now) = (Lines::default(), Instant::now());
        for now in [now, now + PERIOD] {
            let ends: Vec<_> = (0..1000).map(|_| lines.next_at(now)).collect();
            assert_eq!(ends.iter().flatten().count(), 64);
            assert_eq!(ends.iter().position(|end| *end == Some(AND_MORE)), Some(63));
        }
        assert!(AND_MORE.contains(&MOST.to_string()));
    }
}

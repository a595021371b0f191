//! Rates as text, one topic or a table of several, and as JSON.

use std::fmt::Write as _;

use serde_json::json;

use super::super::window::Statistics;
use crate::output::foreign;

/// The figures of a topic.
pub(super) struct Report {
    pub(super) intervals: Statistics,
    pub(super) received: u64,
    pub(super) lost: u64,
}

impl Report {
    fn rate(&self) -> f64 {
        if self.intervals.mean > 0.0 { 1.0 / self.intervals.mean } else { 0.0 }
    }

    pub(super) fn object(&self, topic: &str) -> serde_json::Value {
        let Statistics { min, max, std_dev, count, .. } = self.intervals;
        json!({
            "topic": topic, "rate_hz": self.rate(), "min_s": min, "max_s": max, "std_dev_s": std_dev,
            "window": count, "received": self.received, "lost": self.lost,
        })
    }
}

/// The text of `ros2 topic hz`, and the losses.
pub(super) fn one_text(report: &Report) -> String {
    let Statistics { min, max, std_dev, count, .. } = report.intervals;
    let lost = match report.lost {
        0 => String::new(),
        lost => {
            format!("\tlost on the way here: {lost} of {}\n", report.received.saturating_add(lost))
        }
    };
    format!(
        "average rate: {:.3}\n\tmin: {min:.6}s max: {max:.6}s std dev: {std_dev:.6}s window: {count}\n{lost}",
        report.rate()
    )
}

/// A line for each topic; a topic without new messages has no numbers.
pub(super) fn table(topics: &[(&str, Option<Report>)]) -> String {
    let width = topics.iter().map(|(topic, _)| topic.chars().count()).max().unwrap_or(0).max(5);
    let mut text = format!(
        "{:>width$} {:>9} {:>9} {:>9} {:>9} {:>6} {:>6}\n",
        "topic", "rate", "min_delta", "max_delta", "stddev", "window", "lost"
    );
    let _ = writeln!(text, "{}", "=".repeat(text.trim_end().chars().count()));
    for (topic, report) in topics {
        let topic = foreign(topic);
        // Writing to a String cannot fail.
        let _ = match report {
            Some(report) => {
                let Statistics { min, max, std_dev, count, .. } = report.intervals;
                writeln!(
                    text,
                    "{topic:>width$} {:>9.3} {min:>9.4} {max:>9.4} {std_dev:>9.5} {count:>6} {:>6}",
                    report.rate(),
                    report.lost
                )
            }
            None => writeln!(text, "{topic:>width$} {:>9}", "-"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_topics_are_in_a_table() {
        let intervals = Statistics { mean: 0.1, min: 0.05, max: 0.2, std_dev: 0.01, count: 10 };
        let report = Report { intervals, received: 11, lost: 2 };
        let text = table(&[("/camera", Some(report)), ("/b", None)]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "  topic      rate min_delta max_delta    stddev window   lost",
                "=".repeat(61).as_str(),
                "/camera    10.000    0.0500    0.2000   0.01000     10      2",
                "     /b         -",
            ]
        );
    }
}

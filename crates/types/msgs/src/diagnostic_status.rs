//! Methods for filling a `diagnostic_msgs/msg/DiagnosticStatus`.

use std::fmt::Display;

use crate::diagnostic_msgs::msg::{DiagnosticStatus, KeyValue};

impl DiagnosticStatus {
    /// Sets the level, which is [`DiagnosticStatus::OK`] or another of these constants, and the
    /// message.
    pub fn set_summary(&mut self, level: u8, message: &str) {
        self.level = level;
        message.clone_into(&mut self.message);
    }

    /// Adds another finding. The worse level is kept, and the messages of equal levels are joined.
    pub fn merge_summary(&mut self, level: u8, message: &str) {
        let is_ok = |level: u8| level == Self::OK;
        if is_ok(level) == is_ok(self.level) {
            if !self.message.is_empty() {
                self.message.push_str("; ");
            }
            self.message.push_str(message);
        } else if level > self.level {
            message.clone_into(&mut self.message);
        }
        self.level = self.level.max(level);
    }

    /// Adds a key with its value.
    pub fn add(&mut self, key: &str, value: impl Display) {
        self.values.push(KeyValue { key: key.to_owned(), value: value.to_string() });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worse_of_two_summaries_counts() {
        let merged = |first: (u8, &str), second: (u8, &str)| {
            let mut status = DiagnosticStatus::default();
            status.set_summary(first.0, first.1);
            status.merge_summary(second.0, second.1);
            (status.level, status.message)
        };
        let (ok, warn, error) = (0, 1, 2);
        assert_eq!(merged((ok, "a"), (ok, "b")), (ok, "a; b".to_owned()));
        assert_eq!(merged((ok, "a"), (warn, "b")), (warn, "b".to_owned()));
        assert_eq!(merged((error, "a"), (ok, "b")), (error, "a".to_owned()));
        assert_eq!(merged((error, "a"), (warn, "b")), (error, "a; b".to_owned()));
        assert_eq!(merged((ok, ""), (ok, "b")), (ok, "b".to_owned()));
    }
}

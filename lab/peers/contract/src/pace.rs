//! The pace at which messages are published.

use crate::arguments::Arguments;
use crate::cold::make_cold;
use crate::time::{now_nanos, sleep_until};

/// The time that a talker waits before its first message.
const BEGIN_NANOS: u64 = 10_000_000;
/// The interval at which a talker checks whether it must stop.
const LOOK_NANOS: u64 = 100_000_000;

/// Yields the number of each message of a run when it is due. A late talker publishes immediately,
/// and the pace continues from there: it never catches up in a burst. The iterator ends after the
/// last message, or when the program must stop.
#[derive(Debug)]
pub struct Pace<'a> {
    arguments: &'a Arguments,
    number: u64,
    due: u64,
    period: u64,
    /// The end of `--seconds`, which starts after the warm-up.
    ends: Option<u64>,
    looked: u64,
}

impl Arguments {
    /// The pace at which this run publishes.
    pub fn pace(&self) -> Pace<'_> {
        let period = if self.rate_hz > 0.0 { (1e9 / self.rate_hz) as u64 } else { 0 };
        let now = now_nanos();
        Pace { arguments: self, number: 0, due: now + BEGIN_NANOS, period, ends: None, looked: now }
    }
}

impl Iterator for Pace<'_> {
    type Item = u64;

    #[inline(never)] // scripts/count_message.py leaves this function out
    fn next(&mut self) -> Option<u64> {
        if self.arguments.seconds > 0.0 && self.number == self.arguments.warm_up {
            self.ends = Some(self.due + (self.arguments.seconds * 1e9) as u64);
        }
        let is_over = match self.arguments.messages() {
            Some(messages) => self.number >= messages,
            None => self.ends.is_some_and(|ends| self.due >= ends),
        };
        let now = now_nanos();
        if now - self.looked > LOOK_NANOS || now >= self.arguments.end_nanos {
            self.looked = now;
            if self.arguments.is_stopped() {
                return None;
            }
        }
        if is_over {
            return None;
        }
        if now < self.due {
            sleep_until(self.due);
        } else {
            self.due = now;
        }
        self.due += self.period;
        self.number += 1;
        make_cold();
        Some(self.number - 1)
    }
}

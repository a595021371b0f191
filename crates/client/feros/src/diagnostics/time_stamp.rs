//! A diagnostic task that checks whether the stamps of messages are close to the times at which the
//! messages arrive.

use std::sync::Arc;

use feros_executor::Time;
use feros_msgs::diagnostic_msgs::msg::DiagnosticStatus;
use feros_sync::Mutex;

use crate::clock::Clock;

/// The allowed delays, in seconds, between a stamp and the arrival of its message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeStampBounds {
    /// The smallest delay; a negative delay means a stamp in the future.
    pub min: f64,
    /// The largest delay.
    pub max: f64,
}

impl Default for TimeStampBounds {
    /// Allows stamps from one second in the future to five seconds in the past, as in
    /// `diagnostic_updater`.
    fn default() -> Self {
        Self { min: -1.0, max: 5.0 }
    }
}

/// Compares stamps with a clock, and reports whether the delays are within bounds. Clones share
/// their state.
#[derive(Clone)]
pub struct TimeStampStatus {
    seen: Arc<Mutex<Seen>>,
    clock: Clock,
    bounds: TimeStampBounds,
}

/// A summary of the stamps since the last update.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Seen {
    /// The smallest and the largest delay, in seconds.
    delays: Option<(f64, f64)>,
    has_zero: bool,
}

/// For each kind of fault, the number of updates that found it.
#[derive(Default)]
struct Complaints {
    late: u64,
    early: u64,
    zero: u64,
}

impl TimeStampStatus {
    /// Makes a status that has seen no stamps.
    pub fn new(clock: &Clock, bounds: TimeStampBounds) -> Self {
        Self { seen: Arc::default(), clock: clock.clone(), bounds }
    }

    /// Records the stamp of a message that has arrived now. A zero stamp is reported as an error,
    /// because it means that the stamp was not set.
    pub fn tick(&self, stamp: impl Into<Time>) {
        let (now, stamp) = (self.clock.now(), stamp.into());
        self.seen.lock().take_in(now, stamp);
    }

    /// Makes the task for [`DiagnosticUpdater::add`](super::DiagnosticUpdater::add). Each update
    /// reports on the stamps since the previous update.
    pub fn task(&self) -> impl FnMut(&mut DiagnosticStatus) + Send + use<> {
        let this = self.clone();
        let mut complaints = Complaints::default();
        move |status| {
            let seen = std::mem::take(&mut *this.seen.lock());
            this.bounds.judge(seen, &mut complaints, status);
        }
    }
}

impl Seen {
    fn take_in(&mut self, now: Time, stamp: Time) {
        if stamp == Time::ZERO {
            self.has_zero = true;
            return;
        }
        let delay = now.as_secs_f64() - stamp.as_secs_f64();
        let (least, greatest) = self.delays.unwrap_or((delay, delay));
        self.delays = Some((least.min(delay), greatest.max(delay)));
    }
}

impl TimeStampBounds {
    fn judge(&self, seen: Seen, complaints: &mut Complaints, status: &mut DiagnosticStatus) {
        match seen.delays {
            None => status.set_summary(DiagnosticStatus::WARN, "No data since last update."),
            Some(_) => status.set_summary(DiagnosticStatus::OK, "Timestamps are reasonable."),
        }
        let (least, greatest) = seen.delays.unwrap_or_default();
        if seen.delays.is_some() && least < self.min {
            status.set_summary(DiagnosticStatus::ERROR, "Timestamps too far in future seen.");
            complaints.early += 1;
        }
        if seen.delays.is_some() && greatest > self.max {
            status.set_summary(DiagnosticStatus::ERROR, "Timestamps too far in past seen.");
            complaints.late += 1;
        }
        if seen.has_zero {
            status.set_summary(DiagnosticStatus::ERROR, "Zero timestamp seen.");
            complaints.zero += 1;
        }
        status.add("Earliest timestamp delay:", format!("{least:.6}"));
        status.add("Latest timestamp delay:", format!("{greatest:.6}"));
        status.add("Earliest acceptable timestamp delay:", format!("{:.6}", self.min));
        status.add("Latest acceptable timestamp delay:", format!("{:.6}", self.max));
        status.add("Late diagnostic update count:", complaints.late);
        status.add("Early diagnostic update count:", complaints.early);
        status.add("Zero seen diagnostic update count:", complaints.zero);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: i64) -> Time {
        Time::from_nanos(milliseconds * 1_000_000)
    }

    /// Returns the level and the message of the status after messages with these stamps have all
    /// arrived at 100 s.
    fn judged(stamps: &[i64]) -> (u8, String) {
        let mut seen = Seen::default();
        stamps.iter().for_each(|stamp| seen.take_in(at(100_000), at(*stamp)));
        let mut status = DiagnosticStatus::default();
        TimeStampBounds::default().judge(seen, &mut Complaints::default(), &mut status);
        (status.level, status.message)
    }

    #[test]
    fn stamps_are_judged_in_the_words_of_diagnostic_updater() {
        for (stamps, level, message) in [
            (&[][..], 1, "No data since last update."),
            (&[100_000, 95_001, 100_999], 0, "Timestamps are reasonable."),
            (&[101_001, 100_000], 2, "Timestamps too far in future seen."),
            (&[100_000, 94_999], 2, "Timestamps too far in past seen."),
            (&[101_001, 94_999], 2, "Timestamps too far in past seen."),
            (&[0, 100_000], 2, "Zero timestamp seen."),
            (&[0], 2, "Zero timestamp seen."),
        ] {
            assert_eq!(judged(stamps), (level, message.to_owned()), "{stamps:?}");
        }
        let extremes = [i64::MIN / 1_000_000, i64::MAX / 1_000_000];
        assert_eq!(judged(&extremes).0, DiagnosticStatus::ERROR);
    }

    #[test]
    fn complaints_are_counted_and_seen_stamps_are_forgotten() {
        let clock = Clock::new(crate::clock::ClockType::System);
        let stamps = TimeStampStatus::new(&clock, TimeStampBounds::default());
        let mut task = stamps.task();
        let mut ask = || {
            let mut status = DiagnosticStatus::default();
            task(&mut status);
            let counts: Vec<String> = status.values.into_iter().map(|value| value.value).collect();
            (status.message, counts[4..].join(" "))
        };
        stamps.tick(at(1));
        stamps.tick(clock.now());
        assert_eq!(ask(), ("Timestamps too far in past seen.".to_owned(), "1 0 0".to_owned()));
        assert_eq!(ask(), ("No data since last update.".to_owned(), "1 0 0".to_owned()));
        stamps.tick(Time::ZERO);
        assert_eq!(ask(), ("Zero timestamp seen.".to_owned(), "1 0 1".to_owned()));
    }
}

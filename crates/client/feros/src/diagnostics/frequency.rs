//! A diagnostic task that checks whether events happen as often as they should.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use feros_executor::Time;
use feros_msgs::diagnostic_msgs::msg::DiagnosticStatus;

use crate::clock::Clock;

/// The expected frequency of events.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FrequencyBounds {
    /// The lowest expected frequency, in hertz.
    pub min: f64,
    /// The highest expected frequency, in hertz; infinity means no upper bound.
    pub max: f64,
    /// The tolerance of both bounds, as a fraction: 0.1 means ten percent.
    pub tolerance: f64,
    /// The number of updates over which the frequency is computed.
    pub window: usize,
}

impl FrequencyBounds {
    /// Expects this frequency, with a tolerance of ten percent and a window of five updates.
    pub fn around(hertz: f64) -> Self {
        Self::between(hertz, hertz)
    }

    /// Expects a frequency between `min` and `max`, with a tolerance of ten percent and a window of
    /// five updates.
    pub fn between(min: f64, max: f64) -> Self {
        Self { min, max, tolerance: 0.1, window: 5 }
    }
}

/// Counts events, and reports whether they happen as often as they should. Clones share the count.
#[derive(Clone)]
pub struct FrequencyStatus {
    events: Arc<AtomicU64>,
    clock: Clock,
    bounds: FrequencyBounds,
}

/// The updates over which a frequency is computed. Each entry has the time of an update, and the
/// number of events until then.
struct History {
    updates: VecDeque<(Time, u64)>,
    window: usize,
}

impl FrequencyStatus {
    /// Makes a status that has counted no events.
    pub fn new(clock: &Clock, bounds: FrequencyBounds) -> Self {
        Self { events: Arc::default(), clock: clock.clone(), bounds }
    }

    /// Counts one event.
    pub fn tick(&self) {
        self.events.fetch_add(1, Ordering::Relaxed);
    }

    /// Makes the task for [`DiagnosticUpdater::add`](super::DiagnosticUpdater::add). Its first
    /// window begins now.
    pub fn task(&self) -> impl FnMut(&mut DiagnosticStatus) + Send + use<> {
        let this = self.clone();
        let window = this.bounds.window.max(1);
        let mut history = History { updates: VecDeque::with_capacity(window), window };
        history.push(this.clock.now(), this.events.load(Ordering::Relaxed));
        move |status| {
            let (now, events) = (this.clock.now(), this.events.load(Ordering::Relaxed));
            let (seconds, recent) = history.since_oldest(now, events);
            history.push(now, events);
            this.bounds.judge(recent, events, seconds, status);
        }
    }
}

impl History {
    fn push(&mut self, now: Time, events: u64) {
        if self.updates.len() == self.window {
            self.updates.pop_front();
        }
        self.updates.push_back((now, events));
    }

    /// Returns the time in seconds, and the number of events, since the oldest update.
    fn since_oldest(&self, now: Time, events: u64) -> (f64, u64) {
        let (then, before) = self.updates.front().copied().unwrap_or((now, events));
        (now.saturating_since(then).as_secs_f64(), events.saturating_sub(before))
    }
}

impl FrequencyBounds {
    #[expect(clippy::cast_precision_loss, reason = "a frequency for display")]
    fn judge(&self, recent: u64, events: u64, seconds: f64, status: &mut DiagnosticStatus) {
        let frequency = if seconds > 0.0 { recent as f64 / seconds } else { 0.0 };
        let (least, greatest) =
            (self.min * (1.0 - self.tolerance), self.max * (1.0 + self.tolerance));
        if recent == 0 {
            status.set_summary(DiagnosticStatus::ERROR, "No events recorded.");
        } else if frequency < least {
            status.set_summary(DiagnosticStatus::WARN, "Frequency too low.");
        } else if frequency > greatest {
            status.set_summary(DiagnosticStatus::WARN, "Frequency too high.");
        } else {
            status.set_summary(DiagnosticStatus::OK, "Desired frequency met");
        }
        status.add("Events in window", recent);
        status.add("Events since startup", events);
        status.add("Duration of window (s)", format!("{seconds:.6}"));
        status.add("Actual frequency (Hz)", format!("{frequency:.6}"));
        #[expect(clippy::float_cmp, reason = "both are the user's numbers, unchanged")]
        if self.min == self.max {
            status.add("Target frequency (Hz)", format!("{:.6}", self.min));
        }
        if self.min > 0.0 {
            status.add("Minimum acceptable frequency (Hz)", format!("{least:.6}"));
        }
        if self.max.is_finite() {
            status.add("Maximum acceptable frequency (Hz)", format!("{greatest:.6}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_kept_within_their_tolerance() {
        let judge = |bounds: FrequencyBounds, events, seconds| {
            let mut status = DiagnosticStatus::default();
            bounds.judge(events, events, seconds, &mut status);
            (status.level, status.message)
        };
        let around = FrequencyBounds::around(10.0);
        for (events, level, message) in [
            (0, 2, "No events recorded."),
            (8, 1, "Frequency too low."),
            (9, 0, "Desired frequency met"),
            (11, 0, "Desired frequency met"),
            (12, 1, "Frequency too high."),
        ] {
            assert_eq!(judge(around, events, 1.0), (level, message.to_owned()), "{events}");
        }
        let open = FrequencyBounds::between(0.0, f64::INFINITY);
        assert_eq!(judge(open, 1_000_000, 0.5).0, 0);
        assert_eq!(judge(around, 3, 0.0).1, "Frequency too low.", "no time has passed");
    }

    #[test]
    fn a_frequency_is_counted_over_the_window() {
        let mut history = History { updates: VecDeque::new(), window: 2 };
        let at = |seconds: i64| Time::from_nanos(seconds * 1_000_000_000);
        assert_eq!(history.since_oldest(at(5), 7), (0.0, 0));
        history.push(at(0), 0);
        assert_eq!(history.since_oldest(at(1), 10), (1.0, 10));
        history.push(at(1), 10);
        assert_eq!(history.since_oldest(at(2), 30), (2.0, 30));
        history.push(at(2), 30);
        assert_eq!(history.since_oldest(at(3), 35), (2.0, 25));
    }
}

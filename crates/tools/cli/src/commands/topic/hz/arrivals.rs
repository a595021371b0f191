//! The arrival times of a topic's messages, and the number of lost messages.

use std::time::Duration;

use feros_monitor::Losses;

use super::super::window::Window;
use super::report::Report;

/// The arrivals of messages.
pub(super) struct Arrivals {
    /// The last arrival, since an epoch of the clock.
    last: Option<Duration>,
    intervals: Window,
    /// The number of arrivals since the last report.
    fresh: u64,
    received: u64,
    pub(super) losses: Losses,
    /// The reason why the filter does not fit these messages.
    pub(super) wrong_filter: Option<String>,
}

impl Arrivals {
    pub(super) fn new(window: usize) -> Self {
        Self {
            last: None,
            intervals: Window::new(window),
            fresh: 0,
            received: 0,
            losses: Losses::default(),
            wrong_filter: None,
        }
    }

    /// Counts a message that arrived at a time since an epoch.
    pub(super) fn arrived(&mut self, now: Duration) {
        match self.last.map(|last| now.checked_sub(last)) {
            Some(Some(interval)) => self.intervals.push(interval.as_secs_f64()),
            // The clock was set back, or a simulation starts anew.
            Some(None) => self.intervals.clear(),
            None => {}
        }
        self.last = Some(now);
        self.fresh += 1;
        self.received += 1;
    }

    /// The report, if any message arrived since the last one.
    pub(super) fn report(&mut self) -> Option<Report> {
        if std::mem::take(&mut self.fresh) == 0 {
            return None;
        }
        let intervals = self.intervals.statistics()?;
        Some(Report { intervals, received: self.received, lost: self.losses.count() })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use feros::{Gid, MessageInfo};

    use super::super::report::one_text;
    use super::*;

    fn info(number: u64) -> MessageInfo {
        MessageInfo {
            source_timestamp: None,
            received_timestamp: None,
            publication_sequence_number: Some(number),
            publisher_gid: Gid::default(),
            from_same_session: false,
        }
    }

    #[test]
    fn rate_and_losses_come_from_the_messages_themselves() {
        let mut arrivals = Arrivals::new(100);
        let arrive = |arrivals: &mut Arrivals, millis, number| {
            arrivals.losses.came(&info(number));
            arrivals.arrived(Duration::from_millis(1000 + millis));
        };
        assert!(arrivals.report().is_none());
        for number in 1..=11 {
            arrive(&mut arrivals, number * 100, number);
        }
        let report = arrivals.report().unwrap();
        assert_eq!(
            one_text(&report),
            "average rate: 10.000\n\tmin: 0.100000s max: 0.100000s std dev: 0.000000s window: 10\n"
        );
        assert!(arrivals.report().is_none(), "nothing new");
        arrive(&mut arrivals, 1200, 15);
        let report = arrivals.report().unwrap();
        assert_eq!(report.object("/a")["lost"], 3);
        assert!(one_text(&report).contains("3 of 15"), "{}", one_text(&report));
        // A clock that is set back starts anew.
        arrive(&mut arrivals, 0, 16);
        assert!(arrivals.report().is_none());
    }
}

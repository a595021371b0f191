//! Reasons to doubt the numbers behind a verdict.

use std::collections::BTreeMap;

use crate::record::{Check, Record};
use crate::report::metric::Metric;
use crate::report::quantity::Unit;
use crate::report::questions::{LEAST_OF_RATE, MOST_LOST_PERCENT};

/// The worst of each kind that a system's cells show.
#[derive(Default)]
struct Worst {
    lost_percent: f64,
    /// The reached rate and the wanted rate.
    rate: Option<(f64, f64)>,
    is_without_class: bool,
}

/// The reasons to doubt numbers from these records: messages were lost, fewer were published than
/// wanted, or the machine refused real-time scheduling.
pub(super) fn doubts(check: &Check, records: &[&Record]) -> Vec<String> {
    let metric = Metric::parse(&check.metric);
    let mut systems: BTreeMap<&str, Worst> = BTreeMap::new();
    for record in records {
        let worst = systems.entry(record.word("system").unwrap_or_default()).or_default();
        worst.is_without_class |= record.values.get("realtime") == Some(&0.0);
        if metric.needs_delivery() {
            worst.add_delivery(record);
        }
    }
    systems.iter().flat_map(|(system, worst)| worst.sentences(system)).collect()
}

impl Worst {
    fn add_delivery(&mut self, record: &Record) {
        // Messages that are published without pause may be lost.
        let Some(wanted) = record.number("rate_hz").filter(|rate| *rate > 0.0) else { return };
        let lost = Metric::LostPercent.number(record, None).unwrap_or(0.0);
        self.lost_percent = self.lost_percent.max(lost);
        let reached = record.values.get("publish_rate_hz").copied();
        let slow = reached.filter(|reached| *reached < LEAST_OF_RATE * wanted);
        self.rate = match (self.rate, slow) {
            (Some((known, of)), Some(slow)) if known / of <= slow / wanted => Some((known, of)),
            (_, Some(slow)) => Some((slow, wanted)),
            (known, None) => known,
        };
    }

    fn sentences(&self, system: &str) -> Vec<String> {
        let mut found = Vec::new();
        if self.lost_percent > MOST_LOST_PERCENT {
            let lost = Unit::Percent.show(self.lost_percent);
            found.push(format!("{system} lost up to {lost} of its messages"));
        }
        if let Some((reached, wanted)) = self.rate {
            let [reached, wanted] = [reached, wanted].map(|rate| Unit::Hertz.show(rate));
            found.push(format!("{system} published at {reached} instead of {wanted}"));
        }
        if self.is_without_class {
            found.push(format!("{system} did not get SCHED_FIFO, which was asked for"));
        }
        found
    }
}

//! The limits of this machine. They are systems of the peer `floors`, measured under the same
//! conditions as the other systems: at the same rate, payload and placement, over the same link, in
//! the same repetition. A limit that was measured once, at another rate, would be meaningless,
//! since most of it is the time that a sleeping processor takes to wake up.

use std::collections::{BTreeMap, BTreeSet};

use super::groups::median;
use super::metric::Metric;
use super::sample::Sample;
use crate::record::{CallbackThread, Record};

/// The peer whose systems are limits.
const PEER: &str = "floors";

/// The dimensions that have no effect on a bare hand-over.
const WITHOUT_EFFECT: [&str; 6] = ["system", "qos", "publish", "type", "executor", "environment"];

/// Whether a system is a limit, and so not a competitor.
pub(crate) fn is_floor(system: &str) -> bool {
    system.split(':').next() == Some(PEER)
}

/// Whether a record belongs to a limit.
pub(crate) fn is_of_floor(record: &Record) -> bool {
    record.word("system").is_some_and(is_floor)
}

/// The limits that may be shown with a placement, the nearest first.
pub(crate) fn candidates(
    placement: &str,
    callback: Option<CallbackThread>,
) -> &'static [&'static str] {
    match (placement, callback) {
        ("remote", _) => &["floors:udp"],
        // A system that builds messages in the memory that it sends copies nothing.
        ("local", _) => &["floors:futex", "floors:copy"],
        (_, Some(CallbackThread::PublishingThread)) => &["floors:call"],
        _ => &["floors:thread"],
    }
}

/// The records of limits, by the dimensions that have an effect on them.
#[derive(Debug, Default)]
pub(crate) struct Floors<'a> {
    cells: BTreeMap<String, BTreeMap<&'a str, Vec<&'a Record>>>,
}

impl<'a> Floors<'a> {
    pub(crate) fn of(records: impl Iterator<Item = &'a Record>) -> Self {
        let mut found = Self::default();
        for record in records.filter(|record| is_of_floor(record) && record.is_result()) {
            let Some(system) = record.word("system") else { continue };
            let cell = found.cells.entry(key(record)).or_default();
            cell.entry(system).or_default().push(record);
        }
        found
    }

    /// The samples of a limit in the cell of these samples, if all of them are in the same cell.
    pub(crate) fn beside<'s>(
        &self,
        floor: &str,
        samples: impl Iterator<Item = &'s Sample<'s>>,
    ) -> Vec<Sample<'a>> {
        let keys: BTreeSet<String> = samples.map(|sample| key(sample.record)).collect();
        let mut found = keys.iter().filter_map(|key| self.cells.get(key)?.get(floor));
        let (Some(records), None) = (found.next(), found.next()) else { return Vec::new() };
        records.iter().map(|&record| Sample { record, subscription: None }).collect()
    }

    /// Samples as a multiple of a limit: the ratio is computed within each repetition, and the
    /// median over the repetitions is taken, because a temporary disturbance of the machine affects
    /// all cells of a repetition alike.
    pub(crate) fn ratio(
        &self,
        floor: &str,
        metric: &Metric,
        samples: &[Sample<'_>],
    ) -> Option<f64> {
        let of_one = |sample: &Sample<'_>| {
            let same = self.cells.get(&key(sample.record))?.get(floor)?;
            let same = same.iter().find(|one| one.repetition == sample.record.repetition)?;
            let limit = metric.number(same, None).filter(|nanos| *nanos > 0.0)?;
            Some(metric.number(sample.record, sample.subscription)? / limit)
        };
        median(samples.iter().filter_map(of_one).collect())
    }
}

/// The key of a cell without the dimensions that have no effect on a limit.
fn key(record: &Record) -> String {
    let shown = record.dimensions.iter().filter(|(name, _)| !WITHOUT_EFFECT.contains(&&***name));
    let words: Vec<String> = shown.map(|(name, value)| format!("{name}={value:?}")).collect();
    format!("{}\n{}", record.scenario, words.join("\n"))
}

//! The summary of a trace for people, which shows where the time of each topic's messages goes.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::layers::{Breakdown, Layer};
use crate::merge::Trace;

/// The summary of a trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// The processes that were traced.
    pub processes: Vec<ProcessSummary>,
    /// The times of the messages, for each topic and each transport that the topic's messages took.
    pub topics: Vec<TopicSummary>,
    /// The number of callbacks, by topic, whose publication is unknown.
    pub without_publisher: BTreeMap<String, u64>,
    /// The number of publications, by topic, without a known callback.
    pub without_callback: BTreeMap<String, u64>,
    /// The durations of calls of `publish`, by topic.
    pub publish_calls: BTreeMap<String, Percentiles>,
}

/// A process that was traced.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ProcessSummary {
    /// The process's number.
    pub process: u32,
    /// The name of its executable.
    pub program: String,
    /// The number of events in its file.
    pub events: u64,
    /// The number of events that were overwritten in memory before they were written to the file,
    /// because the ring of a thread was too small.
    pub overwritten: u64,
    /// The number of threads that were not traced because there were too many.
    pub refused_threads: u64,
    /// Whether the process has written all its events.
    pub is_complete: bool,
}

/// The messages of a topic that took one transport.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TopicSummary {
    /// The topic.
    pub topic: String,
    /// `intra_process`, `shared_memory` or `network`.
    pub transport: &'static str,
    /// The times from the call of `publish` to the call of the callback; their count is the number
    /// of deliveries.
    pub end_to_end: Percentiles,
    /// The layers that the messages passed, in the order in which messages pass them.
    pub layers: Vec<LayerSummary>,
}

/// The times of messages in one layer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LayerSummary {
    /// The layer.
    pub name: &'static str,
    /// The layer's share of the total time from publication to callback, in percent.
    pub share_percent: f64,
    /// The times in the layer.
    #[serde(flatten)]
    pub nanos: Percentiles,
}

/// Times in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Percentiles {
    /// The number of times.
    pub count: u64,
    /// The median: half of the times are no longer than this.
    pub median_nanos: u64,
    /// The 99th percentile: 99 % of the times are no longer than this.
    pub p99_nanos: u64,
    /// The longest time.
    pub max_nanos: u64,
}

impl Percentiles {
    /// The percentiles of these times; `None` if there are no times.
    pub fn of(mut nanos: Vec<u64>) -> Option<Self> {
        nanos.sort_unstable();
        let at =
            |percent: usize| nanos.get((nanos.len() * percent).div_ceil(100).max(1) - 1).copied();
        Some(Self {
            count: nanos.len() as u64,
            median_nanos: at(50)?,
            p99_nanos: at(99)?,
            max_nanos: *nanos.last()?,
        })
    }
}

impl Summary {
    /// Summarizes a trace.
    pub fn of(trace: &Trace) -> Self {
        let deliveries = trace.deliveries();
        let mut topics: BTreeMap<_, Vec<Breakdown>> = BTreeMap::new();
        for delivery in &deliveries.whole {
            if let Some(breakdown) = delivery.way.breakdown() {
                topics
                    .entry((delivery.topic.clone(), delivery.transport))
                    .or_default()
                    .push(breakdown);
            }
        }
        let summarize = |((topic, transport), breakdowns): (
            (String, feros_trace::Transport),
            Vec<Breakdown>,
        )| {
            let all = breakdowns.iter().map(Breakdown::end_to_end_nanos).collect();
            let end_to_end = Percentiles::of(all)?;
            Some(TopicSummary {
                topic,
                transport: transport.name(),
                end_to_end,
                layers: layers(&breakdowns),
            })
        };
        let calls = deliveries.publish_calls.into_iter();
        Self {
            processes: processes(trace),
            topics: topics.into_iter().filter_map(summarize).collect(),
            without_publisher: deliveries.without_publisher,
            without_callback: deliveries.without_callback,
            publish_calls: calls
                .filter_map(|(topic, calls)| Some((topic, Percentiles::of(calls)?)))
                .collect(),
        }
    }
}

/// The times of these messages in each layer that they passed.
pub(crate) fn layers(breakdowns: &[Breakdown]) -> Vec<LayerSummary> {
    let whole: u128 = breakdowns.iter().map(|one| u128::from(one.end_to_end_nanos())).sum();
    let layer = |layer: Layer| {
        let times: Vec<u64> = breakdowns.iter().filter_map(|one| one.nanos(layer)).collect();
        let sum: u128 = times.iter().map(|nanos| u128::from(*nanos)).sum();
        let share_percent = if whole == 0 { 0.0 } else { sum as f64 * 100.0 / whole as f64 };
        Some(LayerSummary { name: layer.name(), share_percent, nanos: Percentiles::of(times)? })
    };
    Layer::ALL.into_iter().filter_map(layer).collect()
}

fn processes(trace: &Trace) -> Vec<ProcessSummary> {
    let one = |process: &crate::Process| ProcessSummary {
        process: process.process,
        program: process.program.clone(),
        events: process.threads.iter().map(|thread| thread.events.len() as u64).sum(),
        overwritten: process
            .threads
            .iter()
            .fold(0, |all, thread| all.saturating_add(thread.overwritten)),
        refused_threads: process.refused_threads,
        is_complete: process.is_complete,
    };
    trace.processes.iter().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_known_numbers() {
        let of = |nanos: Vec<u64>| {
            Percentiles::of(nanos)
                .map(|known| (known.count, known.median_nanos, known.p99_nanos, known.max_nanos))
        };
        assert_eq!(of(vec![]), None);
        assert_eq!(of(vec![7]), Some((1, 7, 7, 7)));
        assert_eq!(of((1..=100).rev().collect()), Some((100, 50, 99, 100)));
        assert_eq!(of((1..=1000).collect()), Some((1000, 500, 990, 1000)));
    }
}

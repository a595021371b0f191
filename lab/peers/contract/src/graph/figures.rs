//! The figures of a graph: the key performance indicators of the reference system of Autoware.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The limit on samples of each kind: more than a day at 1 Hz, and ten minutes at 100 Hz.
const MOST_SAMPLES: usize = 100_000;

/// The figures of a graph so far. Clones share the same numbers.
#[derive(Debug, Clone)]
pub struct Figures(Arc<Mutex<Numbers>>);

#[derive(Debug)]
struct Numbers {
    /// The number of the first messages of the chain, and of the first ticks, that do not count.
    warm_up: u64,
    period: Duration,
    ticks_before: u64,
    latencies: Vec<u64>,
    /// The numbers of the first and the last message at the end of the chain.
    ends: Option<(u64, u64)>,
    received: u64,
    missed: u64,
    ticks: Vec<u64>,
}

impl Figures {
    /// No figures yet. `warm_up` messages and ticks do not count; `period` is that of the cyclic
    /// node.
    pub fn new(warm_up: u64, period: Duration) -> Self {
        Self(Arc::new(Mutex::new(Numbers {
            warm_up,
            period,
            ticks_before: 0,
            latencies: Vec::with_capacity(1024),
            ends: None,
            received: 0,
            missed: 0,
            ticks: Vec::with_capacity(1024),
        })))
    }

    fn with<T>(&self, change: impl FnOnce(&mut Numbers) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// A message arrived at the end of the chain.
    pub(super) fn arrived(&self, number: u64, nanos: u64) {
        self.with(|numbers| {
            if number < numbers.warm_up || numbers.latencies.len() >= MOST_SAMPLES {
                return;
            }
            numbers.latencies.push(nanos);
            let (first, last) = numbers.ends.unwrap_or((number, number));
            numbers.ends = Some((first.min(number), last.max(number)));
        });
    }

    /// A message arrived at a transform after others that did not.
    pub(super) fn received(&self, missed: u64) {
        self.with(|numbers| {
            numbers.received += 1;
            numbers.missed = numbers.missed.saturating_add(missed);
        });
    }

    /// The timer of the cyclic node was due.
    pub(super) fn tick(&self, now: u64) {
        self.with(|numbers| {
            numbers.ticks_before += 1;
            if numbers.ticks_before > numbers.warm_up && numbers.ticks.len() < MOST_SAMPLES {
                numbers.ticks.push(now);
            }
        });
    }

    /// The number of messages at the end of the chain that count.
    pub fn messages(&self) -> usize {
        self.with(|numbers| numbers.latencies.len())
    }

    /// The figures by name; those without any sample are left out.
    pub fn values(&self) -> BTreeMap<&'static str, f64> {
        self.with(|numbers| {
            let mut found = BTreeMap::new();
            let names = [
                "hot_path_nanos_mean",
                "hot_path_nanos_median",
                "hot_path_nanos_p99",
                "hot_path_nanos_max",
            ];
            found.extend(statistics(names, numbers.latencies.clone()));
            if let Some((first, last)) = numbers.ends {
                let possible = (last - first).saturating_add(1) as f64;
                let came = numbers.latencies.len() as f64;
                found.insert("hot_path_messages", came);
                found.insert("hot_path_lost_percent", percent(possible - came, possible));
            }
            let possible = (numbers.received as f64) + (numbers.missed as f64);
            if possible > 0.0 {
                found.insert("transforms_lost_percent", percent(numbers.missed as f64, possible));
            }
            let period = u64::try_from(numbers.period.as_nanos()).unwrap_or(u64::MAX);
            let intervals =
                numbers.ticks.windows(2).filter_map(|pair| pair[1].checked_sub(pair[0]));
            let jitter = intervals.map(|interval| interval.abs_diff(period)).collect();
            let names = [
                "planner_jitter_nanos_mean",
                "planner_jitter_nanos_median",
                "planner_jitter_nanos_p99",
                "planner_jitter_nanos_max",
            ];
            found.extend(statistics(names, jitter));
            if let [first, .., last] = numbers.ticks.as_slice() {
                let wanted = period as f64 * (numbers.ticks.len() - 1) as f64;
                let took = last.saturating_sub(*first) as f64;
                found.insert("planner_drift_nanos", (took - wanted).abs());
            }
            found
        })
    }
}

fn percent(part: f64, whole: f64) -> f64 {
    (100.0 * part / whole).clamp(0.0, 100.0)
}

/// The mean, the median, the 99th percentile and the largest of samples; nothing without samples.
fn statistics(names: [&'static str; 4], mut samples: Vec<u64>) -> Vec<(&'static str, f64)> {
    samples.sort_unstable();
    let at = |percent: usize| samples.get(samples.len().saturating_sub(1) * percent / 100);
    let sum: f64 = samples.iter().map(|nanos| *nanos as f64).sum();
    let mean = (!samples.is_empty()).then(|| sum / samples.len() as f64);
    let others = [50, 99, 100].map(|percent| at(percent).map(|nanos| *nanos as f64));
    let all = [mean, others[0], others[1], others[2]];
    names.into_iter().zip(all).filter_map(|(name, value)| Some((name, value?))).collect()
}

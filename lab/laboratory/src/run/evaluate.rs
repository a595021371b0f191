//! Evaluates the output of a cell's programs into its record.

use std::collections::{BTreeMap, BTreeSet};

use super::layers::{join_points, layers};
use super::program::Program;
use super::said::{Collected, Receipt, SubscriptionEnd};
use crate::plan::Cell;
use crate::record::{Distribution, Layer, Received};
use crate::scenario::LinkConditions;

/// A larger value is not a latency: either a clock jumped, or the stamp is not from this run.
const LONGEST_LATENCY_NANOS: i64 = 3_600_000_000_000;

/// The limit on the length of a timeline, in seconds.
const LONGEST_TIMELINE: usize = 3600;

/// The part of a record that comes from the programs' output.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Evaluation {
    pub(super) sent: u64,
    pub(super) subscriptions: Vec<Received>,
    pub(super) publish_call: Option<Distribution>,
    pub(super) layers: Vec<Layer>,
    pub(super) values: BTreeMap<String, f64>,
    pub(super) timeline: Vec<(u64, u64)>,
    /// Sentences to show to the person who waits for the result.
    pub(super) notes: Vec<String>,
}

/// Evaluates the output of the programs, and consumes their lines with samples.
pub(super) fn evaluate(cell: &Cell, programs: &mut [Program]) -> Evaluation {
    let mut collected = Collected::default();
    for program in programs {
        collected.not_understood += program.not_understood;
        // A relay is only an intermediate stop: the messages that it received have not yet arrived.
        if program.name.starts_with("relay") {
            continue;
        }
        for line in std::mem::take(&mut program.bulk) {
            collected.line(program.first_subscription, &line);
        }
        if let Some(end) = &program.end {
            collected.end(&program.name, program.first_subscription, end);
        }
    }
    let (values, notes) =
        (std::mem::take(&mut collected.values), std::mem::take(&mut collected.notes));
    let mut evaluation =
        if cell.has_messages() { collected.messages(cell) } else { collected.quiet() };
    evaluation.values.extend(values);
    evaluation.notes = notes;
    evaluation
}

impl Collected {
    /// The evaluation of a cell without messages.
    fn quiet(self) -> Evaluation {
        let mut evaluation = Evaluation::default();
        put(&mut evaluation.values, "not_understood_lines", self.not_understood);
        evaluation
    }

    fn messages(mut self, cell: &Cell) -> Evaluation {
        let warm_up = cell.procedure.warm_up;
        let total = match &self.publisher_end {
            Some(end) => end.sent,
            // The talker ended before it wrote its last line, so only the messages until its last
            // output are known.
            None => {
                self.published.iter().map(|publication| publication.number + 1).max().unwrap_or(0)
            }
        };
        let mut evaluation =
            Evaluation { sent: total.saturating_sub(warm_up), ..Evaluation::default() };
        put(&mut evaluation.values, "not_understood_lines", self.not_understood);
        let sent_at: BTreeMap<u64, u64> = self
            .published
            .iter()
            .filter_map(|publication| Some((publication.number, publication.at_nanos?)))
            .collect();
        let count = if cell.has_one_subscription() { 1 } else { cell.subscriptions };
        let (mut initial_lost, mut impossible, mut duplicates, mut reordered) = (0, 0, 0, 0);
        for subscription in 0..count {
            let receipts = self.receipts.remove(&subscription).unwrap_or_default();
            let (received, oddities) = match self.ends.get(&subscription) {
                Some(end) if !cell.procedure.samples => {
                    (counted(end, total, warm_up), Oddities::default())
                }
                _ => sampled(cell, &receipts, &sent_at, total),
            };
            initial_lost += oddities.initial_lost;
            impossible += oddities.impossible;
            duplicates += oddities.duplicates;
            reordered += oddities.reordered;
            evaluation.subscriptions.push(received);
            self.receipts.insert(subscription, receipts);
        }
        let values = &mut evaluation.values;
        put(values, "duplicates", duplicates);
        put(values, "reordered", reordered);
        put(values, "samples_before_sent", impossible);
        if cell.procedure.samples && warm_up > 0 {
            values.insert("sent_initial".into(), (total.min(warm_up) * u64::from(count)) as f64);
            values.insert("lost_initial".into(), initial_lost as f64);
        }
        let expected = evaluation.sent * u64::from(count);
        compare_subscriptions(&evaluation.subscriptions, expected, values);
        self.rates(cell, values);
        if let [only] = evaluation.subscriptions.as_slice()
            && let Some(percent) = self.of_possible(
                &cell.link,
                Wanted { size_bytes: cell.size_bytes, rate_hz: cell.rate_hz, warm_up },
                (evaluation.sent, only.received),
            )
        {
            values.insert("delivered_of_possible_percent".into(), percent);
        }
        let calls: Vec<u64> = self
            .published
            .iter()
            .filter(|publication| publication.number >= warm_up)
            .filter_map(|publication| publication.call_nanos)
            .collect();
        evaluation.publish_call = Distribution::of(&calls, cell.procedure.seed);
        evaluation.timeline = self.timeline(warm_up);
        evaluation.layers = layers(join_points(&self.points, warm_up), cell.procedure.seed);
        evaluation
    }

    /// Adds the rates at which messages were published and received.
    fn rates(&self, cell: &Cell, values: &mut BTreeMap<String, f64>) {
        let published = self
            .published
            .iter()
            .filter(|publication| publication.number >= cell.procedure.warm_up);
        let mut times: Vec<u64> =
            published.filter_map(|publication| publication.at_nanos).collect();
        times.sort_unstable();
        if let (Some(first), Some(last)) = (times.first(), times.last())
            && last > first
        {
            values.insert(
                "publish_rate_hz".into(),
                (times.len() - 1) as f64 * 1e9 / (last - first) as f64,
            );
        } else if let Some(end) =
            self.publisher_end.as_ref().filter(|end| end.last_nanos > end.first_nanos)
        {
            let nanos = (end.last_nanos - end.first_nanos) as f64;
            values
                .insert("publish_rate_hz".into(), end.sent.saturating_sub(1) as f64 * 1e9 / nanos);
        }
        let last_sent = self.publisher_end.as_ref().map_or(0, |end| end.last_nanos);
        let flows: Vec<(f64, f64)> =
            self.ends.values().filter_map(|end| end.flow(last_sent)).collect();
        if !flows.is_empty() {
            let mean =
                |of: fn(&(f64, f64)) -> f64| flows.iter().map(of).sum::<f64>() / flows.len() as f64;
            values.insert("receive_rate_hz".into(), mean(|flow| flow.0));
            values.insert("goodput_bytes_per_second".into(), mean(|flow| flow.1));
        }
    }

    /// The percentage of the possible messages that arrived. The possible messages are all messages
    /// that were wanted or, if fewer, the number of messages that the link can carry in the time; a
    /// "keep last" history rightly drops the rest. A publisher that is held back below its rate
    /// sends fewer messages than were wanted.
    fn of_possible(
        &self,
        link: &LinkConditions,
        wanted: Wanted,
        (sent, received): (u64, u64),
    ) -> Option<f64> {
        let bytes_per_second = link.rate_mbit? * 1e6 / 8.0 * (1.0 - link.loss_percent / 100.0);
        let counts = |number: u64| number >= wanted.warm_up;
        let published = self.published.iter().filter(|publication| counts(publication.number));
        let published = published.filter_map(|publication| publication.at_nanos);
        let receipts = self.receipts.values().flatten().filter(|receipt| counts(receipt.number));
        let received_at = receipts.filter_map(|receipt| receipt.at_nanos);
        let first = published.clone().min()?;
        let last_published = published.max()?;
        let last = received_at.chain([last_published]).max()?;
        let seconds = |until: u64| until.saturating_sub(first) as f64 / 1e9;
        let size = wanted.size_bytes as f64;
        let carried = bytes_per_second * seconds(last);
        let messages = (wanted.rate_hz * seconds(last_published)).round() + 1.0;
        // A message that is on its way when the last message is published is carried too, so at
        // least one message is possible.
        let possible = (messages.max(sent as f64) * size).min(carried.max(size));
        (possible > 0.0).then(|| (100.0 * received as f64 * size / possible).min(100.0))
    }

    /// The messages in each second since the first message.
    fn timeline(&self, warm_up: u64) -> Vec<(u64, u64)> {
        let published: Vec<u64> = self
            .published
            .iter()
            .filter(|publication| publication.number >= warm_up)
            .filter_map(|publication| publication.at_nanos)
            .collect();
        let receipts = self.receipts.values().flatten().filter(|receipt| receipt.number >= warm_up);
        let received: Vec<u64> = receipts.filter_map(|receipt| receipt.at_nanos).collect();
        let Some(first) = published.iter().chain(&received).min().copied() else {
            return Vec::new();
        };
        let second = |at: u64| usize::try_from((at - first) / 1_000_000_000).unwrap_or(usize::MAX);
        let mut timeline: Vec<(u64, u64)> = Vec::new();
        let mut add = |at: u64, add: fn(&mut (u64, u64))| {
            let second = second(at);
            if second < LONGEST_TIMELINE {
                if timeline.len() <= second {
                    timeline.resize(second + 1, (0, 0));
                }
                add(&mut timeline[second]);
            }
        };
        for at in published {
            add(at, |counts| counts.0 += 1);
        }
        for at in received {
            add(at, |counts| counts.1 += 1);
        }
        timeline
    }
}

/// The messages that a cell wants to publish.
#[derive(Clone, Copy)]
struct Wanted {
    size_bytes: u64,
    /// 0 means without pause.
    rate_hz: f64,
    warm_up: u64,
}

impl SubscriptionEnd {
    /// Messages and bytes per second, from the first message to the last, or to the last
    /// publication: a subscription that stops receiving does not keep the rate that it had.
    fn flow(&self, last_sent_nanos: u64) -> Option<(f64, f64)> {
        let last_nanos = self.last_nanos.max(last_sent_nanos);
        let nanos = last_nanos.checked_sub(self.first_nanos).filter(|nanos| *nanos > 0)? as f64;
        if self.received < 2 {
            return None;
        }
        let after_first = (self.received - 1) as f64;
        let bytes = self.bytes as f64 * after_first / self.received as f64;
        Some((after_first * 1e9 / nanos, bytes * 1e9 / nanos))
    }
}

/// The irregularities of samples.
#[derive(Default)]
struct Oddities {
    initial_lost: u64,
    impossible: u64,
    duplicates: u64,
    reordered: u64,
}

/// Evaluates a subscription whose messages are all known.
fn sampled(
    cell: &Cell,
    receipts: &[Receipt],
    sent_at: &BTreeMap<u64, u64>,
    total: u64,
) -> (Received, Oddities) {
    let mut seen = BTreeSet::new();
    let mut oddities = Oddities::default();
    let mut latencies = Vec::with_capacity(receipts.len());
    let (mut late, mut received, mut latest) = (0, 0, 0);
    let deadline_nanos =
        i64::try_from(cell.qos.deadline_ms.saturating_mul(1_000_000)).unwrap_or(i64::MAX);
    for receipt in receipts {
        if !seen.insert(receipt.number) {
            oddities.duplicates += 1;
            continue;
        }
        if receipt.number < cell.procedure.warm_up {
            continue;
        }
        received += 1;
        oddities.reordered += u64::from(receipt.number < latest);
        latest = latest.max(receipt.number);
        let before_sent = match (receipt.at_nanos, sent_at.get(&receipt.number)) {
            (Some(at), Some(sent)) => at < *sent,
            _ => false,
        };
        if before_sent || !(0..=LONGEST_LATENCY_NANOS).contains(&receipt.nanos) {
            oddities.impossible += 1;
            continue;
        }
        late += u64::from(deadline_nanos > 0 && receipt.nanos > deadline_nanos);
        latencies.push(receipt.nanos.unsigned_abs());
    }
    let initial = seen.iter().filter(|number| **number < cell.procedure.warm_up).count() as u64;
    oddities.initial_lost = total.min(cell.procedure.warm_up).saturating_sub(initial);
    let sent = total.saturating_sub(cell.procedure.warm_up);
    let latency = Distribution::of(&latencies, cell.procedure.seed);
    (Received { received, lost: sent.saturating_sub(received), late, latency }, oddities)
}

/// Evaluates a subscription of which only counts are known; all losses are assumed to happen after
/// the warm-up.
fn counted(end: &SubscriptionEnd, total: u64, warm_up: u64) -> Received {
    let lost = total.saturating_sub(end.received);
    let sent = total.saturating_sub(warm_up);
    Received { received: sent.saturating_sub(lost), lost, late: 0, latency: None }
}

/// Adds the percentages of lost and late messages, and the ratio of the largest to the smallest
/// median latency. `expected` is the number of messages that should have been received.
fn compare_subscriptions(
    subscriptions: &[Received],
    expected: u64,
    values: &mut BTreeMap<String, f64>,
) {
    if expected > 0 {
        let lost: u64 = subscriptions.iter().map(|received| received.lost).sum();
        let late: u64 = subscriptions.iter().map(|received| received.late).sum();
        values.insert("lost_percent".into(), 100.0 * lost as f64 / expected as f64);
        values.insert("late_percent".into(), 100.0 * late as f64 / expected as f64);
    }
    let medians: Vec<f64> = subscriptions
        .iter()
        .filter_map(|received| received.latency.as_ref())
        .map(|latency| latency.p50)
        .collect();
    let smallest = medians.iter().copied().fold(f64::INFINITY, f64::min);
    if medians.len() > 1 && smallest > 0.0 {
        values.insert("fairness".into(), medians.iter().copied().fold(0.0, f64::max) / smallest);
    }
}

fn put(values: &mut BTreeMap<String, f64>, name: &str, value: u64) {
    if value > 0 {
        values.insert(name.to_owned(), value as f64);
    }
}

impl Cell {
    fn has_one_subscription(&self) -> bool {
        self.workload == crate::scenario::Workload::Chain
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;
    use crate::run::said::Publication;

    #[test]
    fn messages_beyond_a_full_links_rate_are_not_expected() {
        // One message of 1 MB per second for ten seconds, on a link of 4 Mbit/s that loses a fifth
        // of the packets: 4 MB of 11 MB arrive.
        let published = (0..=10u64).map(|number| Publication {
            number,
            call_nanos: None,
            at_nanos: Some(number * 1_000_000_000),
        });
        let collected = Collected { published: published.collect(), ..Collected::default() };
        let link = LinkConditions {
            rate_mbit: Some(4.0),
            loss_percent: 20.0,
            ..LinkConditions::default()
        };
        let wanted = Wanted { size_bytes: 1_000_000, rate_hz: 1.0, warm_up: 0 };
        let percent =
            |link: &LinkConditions, received| collected.of_possible(link, wanted, (11, received));
        assert!((percent(&link, 3).unwrap() - 75.0).abs() < 1e-9);
        assert!((percent(&link, 4).unwrap() - 100.0).abs() < 1e-9);
        assert!(percent(&link, 5).unwrap() <= 100.0);
        // A link that can carry everything: missing messages were lost.
        let link = LinkConditions { rate_mbit: Some(1000.0), ..link };
        assert!((percent(&link, 10).unwrap() - 1000.0 / 11.0).abs() < 1e-9);
        assert_eq!(percent(&LinkConditions::default(), 10), None);
        // The link could carry 10 messages a second, but the publisher was held back to one.
        let fast = Wanted { rate_hz: 10.0, ..wanted };
        let held_back = LinkConditions { rate_mbit: Some(80.0), ..LinkConditions::default() };
        let percent = collected.of_possible(&held_back, fast, (11, 11)).unwrap();
        assert!((percent - 11.0).abs() < 1e-9, "{percent}");
    }

    #[test]
    fn a_subscription_that_stops_receiving_loses_its_rate() {
        let second = 1_000_000_000;
        let end = SubscriptionEnd {
            received: 11,
            bytes: 1100,
            first_nanos: second,
            last_nanos: 2 * second,
        };
        assert_eq!(end.flow(0), Some((10.0, 1000.0)));
        assert_eq!(end.flow(11 * second), Some((1.0, 100.0)));
    }
}

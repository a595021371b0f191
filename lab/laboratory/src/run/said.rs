//! The output of a cell's programs, sorted by kind.

use std::collections::BTreeMap;

use feros_trace_analysis::PointSeries;

use crate::contract::{End, Line};

/// The roles (see `peers/README.md`) whose programs lead a cell with messages: when such a program
/// has ended, the laboratory waits for the settle time, and then stops the other programs.
pub(super) const LEADERS: [&str; 5] = ["talker", "pair", "chain", "client", "calls"];

/// The collected output, by kind.
#[derive(Default)]
pub(super) struct Collected {
    pub(super) published: Vec<Publication>,
    pub(super) receipts: BTreeMap<u32, Vec<Receipt>>,
    pub(super) points: Vec<PointSeries>,
    pub(super) publisher_end: Option<End>,
    pub(super) ends: BTreeMap<u32, SubscriptionEnd>,
    pub(super) values: BTreeMap<String, f64>,
    pub(super) notes: Vec<String>,
    pub(super) not_understood: u64,
}

#[derive(Clone, Copy)]
pub(super) struct Publication {
    pub(super) number: u64,
    pub(super) call_nanos: Option<u64>,
    pub(super) at_nanos: Option<u64>,
}

#[derive(Clone, Copy)]
pub(super) struct Receipt {
    pub(super) number: u64,
    pub(super) nanos: i64,
    pub(super) at_nanos: Option<u64>,
}

#[derive(Clone, Copy)]
pub(super) struct SubscriptionEnd {
    pub(super) received: u64,
    pub(super) bytes: u64,
    pub(super) first_nanos: u64,
    pub(super) last_nanos: u64,
}

impl Collected {
    /// Adds a line with samples, published messages, trace points, values or a note. Any other line
    /// counts as not understood.
    pub(super) fn line(&mut self, first_subscription: u32, line: &str) {
        match serde_json::from_str(line) {
            Ok(Line::Samples(samples)) => {
                let receipts =
                    self.receipts.entry(samples.subscription.max(first_subscription)).or_default();
                receipts.extend(samples.numbers.iter().zip(&samples.nanos).enumerate().map(
                    |(index, (number, nanos))| Receipt {
                        number: *number,
                        nanos: *nanos,
                        at_nanos: samples.at_nanos.get(index).copied(),
                    },
                ));
            }
            Ok(Line::Published(published)) => {
                self.published.extend(published.numbers.iter().enumerate().map(
                    |(index, number)| Publication {
                        number: *number,
                        call_nanos: published.call_nanos.get(index).copied(),
                        at_nanos: published.at_nanos.get(index).copied(),
                    },
                ));
            }
            Ok(Line::Points(points)) => self.points.push(points),
            Ok(Line::Values(values)) => {
                for (name, value) in values {
                    *self.values.entry(name).or_insert(0.0) += value;
                }
            }
            Ok(Line::Note { text }) => self.notes.push(text),
            Ok(_) | Err(_) => self.not_understood += 1,
        }
    }

    /// Adds the last line of a program.
    pub(super) fn end(&mut self, name: &str, first_subscription: u32, end: &End) {
        if LEADERS.contains(&name) {
            self.publisher_end = Some(end.clone());
        }
        for (index, received) in (first_subscription..).zip(&end.received) {
            let bytes = end.bytes.get((index - first_subscription) as usize).copied().unwrap_or(0);
            let own = SubscriptionEnd {
                received: *received,
                bytes,
                first_nanos: end.first_nanos,
                last_nanos: end.last_nanos,
            };
            if name != "talker" {
                self.ends.insert(index, own);
            }
        }
    }
}

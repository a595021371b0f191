//! The metrics that a figure can show of a record, by name.
//!
//! `latency` and `publish_call` are medians, or with an ending: `_mean`, `_min`, `_p5`, `_p95`,
//! `_p99`, `_max`. The others are `received`, `sent`, `received_percent`, `lost_percent`,
//! `late_percent`, `fairness` (the largest of the subscriptions' medians divided by the smallest);
//! any of the record's values by its name (`goodput_bytes_per_second`); `time:LAYER+LAYER` for the
//! time in some layers, and `share:LAYER+LAYER` for its share in the time of all layers; and
//! `ROLE.NAME` for the sum of a value over the processes with that role (`talker.cpu_percent`).

use super::quantity::{LARGEST, Unit, words};
use crate::record::{Distribution, Layer, Received, Record};

/// A metric that a record may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Metric {
    Latency(Statistic),
    PublishCall(Statistic),
    Received,
    Sent,
    ReceivedPercent,
    LostPercent,
    LatePercent,
    Fairness,
    /// The time that these layers take together.
    LayerTime(Vec<String>),
    /// The share of that time in the time of all layers.
    LayerShare(Vec<String>),
    Value(String),
    OfRole {
        role: String,
        name: String,
    },
}

/// A statistic of a distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Statistic {
    Median,
    Mean,
    Min,
    P5,
    P95,
    P99,
    Max,
}

/// Whether small or large numbers are better; for some metrics, such as the number of messages
/// sent, neither is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Better {
    Lower,
    Higher,
    Neither,
}

impl Statistic {
    const ENDINGS: [(&'static str, Self); 7] = [
        ("_median", Self::Median),
        ("_mean", Self::Mean),
        ("_min", Self::Min),
        ("_p5", Self::P5),
        ("_p95", Self::P95),
        ("_p99", Self::P99),
        ("_max", Self::Max),
    ];

    pub(crate) fn of(self, distribution: &Distribution) -> f64 {
        match self {
            Self::Median => distribution.p50,
            Self::Mean => distribution.mean,
            Self::Min => distribution.min,
            Self::P5 => distribution.p5,
            Self::P95 => distribution.p95,
            Self::P99 => distribution.p99,
            Self::Max => distribution.max,
        }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::Mean => "mean",
            Self::Min => "smallest",
            Self::P5 => "5th percentile of",
            Self::P95 => "95th percentile of",
            Self::P99 => "99th percentile of",
            Self::Max => "largest",
        }
    }
}

impl Metric {
    pub(crate) fn parse(name: &str) -> Self {
        let layers = |names: &str| names.split('+').map(str::to_owned).collect();
        match name.split_once(':') {
            Some(("time", names)) => return Self::LayerTime(layers(names)),
            Some(("share", names)) => return Self::LayerShare(layers(names)),
            _ => {}
        }
        let (base, statistic) = Statistic::ENDINGS
            .into_iter()
            .find_map(|(ending, statistic)| name.strip_suffix(ending).map(|base| (base, statistic)))
            .unwrap_or((name, Statistic::Median));
        match (base, name) {
            ("latency" | "latency_nanos", _) => Self::Latency(statistic),
            ("publish_call" | "publish_call_nanos", _) => Self::PublishCall(statistic),
            (_, "received") => Self::Received,
            (_, "sent") => Self::Sent,
            (_, "received_percent" | "delivered_percent") => Self::ReceivedPercent,
            (_, "lost_percent") => Self::LostPercent,
            (_, "late_percent") => Self::LatePercent,
            (_, "fairness") => Self::Fairness,
            _ => match name.split_once('.') {
                Some((role, name)) => Self::OfRole { role: role.to_owned(), name: name.to_owned() },
                None => Self::Value(name.to_owned()),
            },
        }
    }

    pub(crate) fn unit(&self) -> Unit {
        match self {
            Self::Latency(_) | Self::PublishCall(_) | Self::LayerTime(_) => Unit::Nanos,
            Self::Received | Self::Sent => Unit::Count,
            Self::ReceivedPercent | Self::LostPercent | Self::LatePercent | Self::LayerShare(_) => {
                Unit::Percent
            }
            Self::Fairness => Unit::Ratio,
            Self::Value(name) | Self::OfRole { name, .. } => Unit::of_name(name),
        }
    }

    /// The title for the axis.
    pub(crate) fn title(&self) -> String {
        match self {
            Self::Latency(statistic) => format!("{} latency", statistic.word()),
            Self::PublishCall(statistic) => {
                format!("{} duration of the publish call", statistic.word())
            }
            Self::Received => "messages received".to_owned(),
            Self::Sent => "messages sent".to_owned(),
            Self::ReceivedPercent => "messages received".to_owned(),
            Self::LostPercent => "messages lost".to_owned(),
            Self::LatePercent => "messages late".to_owned(),
            Self::Fairness => "spread of the subscriptions (slowest / fastest)".to_owned(),
            Self::LayerTime(layers) => format!("time of {}", layers.join(" and ")),
            Self::LayerShare(layers) => format!("share of {}", layers.join(" and ")),
            Self::Value(name) => value_title(name),
            Self::OfRole { role, name } => format!("{} of the {role}", value_title(name)),
        }
    }

    pub(crate) fn better(&self) -> Better {
        match self {
            Self::Received | Self::ReceivedPercent => Better::Higher,
            Self::Sent | Self::LayerShare(_) => Better::Neither,
            Self::Value(name)
                if ["goodput", "publish_rate", "receive_rate", "delivered"]
                    .iter()
                    .any(|good| name.starts_with(good)) =>
            {
                Better::Higher
            }
            Self::Value(name) | Self::OfRole { name, .. } => match name.as_str() {
                name if name.contains("initial") && name.contains("sent") => Better::Neither,
                _ => Better::Lower,
            },
            _ => Better::Lower,
        }
    }

    /// Whether the metric is about the delivery of messages; if not, it means little for a system
    /// that loses messages.
    pub(crate) fn is_of_delivery(&self) -> bool {
        match self {
            Self::Received
            | Self::Sent
            | Self::ReceivedPercent
            | Self::LostPercent
            | Self::LatePercent => true,
            Self::Value(name) => ["delivered", "publish_rate", "lost", "late", "sent", "received"]
                .iter()
                .any(|word| name.starts_with(word)),
            _ => false,
        }
    }

    /// Whether the metric means something else if messages are lost or not published.
    pub(crate) fn needs_delivery(&self) -> bool {
        match self {
            Self::Latency(_) | Self::PublishCall(_) | Self::Fairness => true,
            Self::LayerTime(_) | Self::LayerShare(_) => true,
            Self::Value(name) | Self::OfRole { name, .. } => {
                name.starts_with("cpu_percent") || name.starts_with("wire_")
            }
            _ => false,
        }
    }

    /// Whether the metric compares numbers with each other already.
    pub(crate) fn is_ratio(&self) -> bool {
        self.unit() == Unit::Ratio
            || matches!(self, Self::Value(name) if name.starts_with("delivered"))
    }

    /// Whether floors of this machine limit the metric.
    pub(crate) fn has_floor(&self) -> bool {
        matches!(self, Self::Latency(_))
    }

    /// The distribution behind the number, if the number has a distribution: for one subscription
    /// (counted from 0), or for all subscriptions together.
    pub(crate) fn distribution(
        &self,
        record: &Record,
        subscription: Option<usize>,
    ) -> Option<Distribution> {
        match self {
            Self::Latency(_) => Distribution::merged(
                subscriptions(record, subscription)
                    .iter()
                    .filter_map(|received| received.latency.as_ref()),
            ),
            Self::PublishCall(_) => record.publish_call.clone().filter(|calls| calls.count > 0),
            _ => None,
        }
    }

    /// The number; `None` if the record does not have it.
    pub(crate) fn number(&self, record: &Record, subscription: Option<usize>) -> Option<f64> {
        let mine = subscriptions(record, subscription);
        let total =
            |of: fn(&Received) -> u64| mine.iter().map(|received| of(received) as f64).sum::<f64>();
        let share = |of: fn(&Received) -> u64| {
            let wanted = record.sent as f64 * mine.len() as f64;
            (wanted > 0.0).then(|| (100.0 * total(of) / wanted).min(100.0))
        };
        let number = match self {
            Self::Latency(statistic) | Self::PublishCall(statistic) => {
                Some(statistic.of(&self.distribution(record, subscription)?))
            }
            Self::Received => (!mine.is_empty()).then(|| total(|received| received.received)),
            Self::Sent => Some(record.sent as f64),
            Self::ReceivedPercent => share(|received| received.received),
            Self::LostPercent => share(|received| received.lost),
            Self::LatePercent => share(|received| received.late),
            Self::Fairness => fairness(record),
            Self::LayerTime(layers) => layer_time(record, layers),
            Self::LayerShare(layers) => {
                let all: Vec<String> = record.layers.iter().map(|one| one.name.clone()).collect();
                let all = layer_time(record, &all).filter(|all| *all > 0.0);
                all.and_then(|all| Some(100.0 * layer_time(record, layers)? / all))
            }
            Self::Value(name) => record.values.get(name).copied(),
            Self::OfRole { role, name } => of_role(record, role, name),
        };
        number.filter(|number| number.abs() <= LARGEST)
    }
}

fn subscriptions(record: &Record, one: Option<usize>) -> &[Received] {
    match one {
        None => &record.subscriptions,
        Some(index) => record.subscriptions.get(index..=index).unwrap_or(&[]),
    }
}

fn fairness(record: &Record) -> Option<f64> {
    let medians: Vec<f64> = record
        .subscriptions
        .iter()
        .filter_map(|received| received.latency.as_ref())
        .map(|latency| latency.p50)
        .collect();
    let (least, most) =
        (medians.iter().copied().reduce(f64::min)?, medians.iter().copied().reduce(f64::max)?);
    (medians.len() > 1 && medians.len() == record.subscriptions.len() && least > 0.0)
        .then(|| most / least)
}

/// The sum of the medians of some layers; `None` if the record has none of them.
fn layer_time(record: &Record, names: &[String]) -> Option<f64> {
    let is_counted = |layer: &&Layer| names.contains(&layer.name);
    let counted: Vec<&Layer> = record.layers.iter().filter(is_counted).collect();
    (!counted.is_empty()).then(|| counted.iter().map(|layer| layer.nanos.p50.max(0.0)).sum())
}

fn of_role(record: &Record, role: &str, name: &str) -> Option<f64> {
    let numbers: Vec<f64> = record
        .processes
        .iter()
        .filter(|process| process.role.split(' ').next() == Some(role))
        .filter_map(|process| process.values.get(name).copied())
        .collect();
    (!numbers.is_empty()).then(|| numbers.iter().sum())
}

fn value_title(name: &str) -> String {
    match name {
        "cpu_percent" => "processor time".to_owned(),
        "pss_bytes" => "memory (PSS)".to_owned(),
        "code_bytes" => "mapped code".to_owned(),
        "wire_bytes_per_message" => "bytes on the wire per message".to_owned(),
        "threads" => "number of threads".to_owned(),
        "settled_seconds" => "time until every match is there".to_owned(),
        "settled_seconds_median" => {
            "time until half of the processes have their matches".to_owned()
        }
        "settling_packets" => "packets on loopback until every match is there".to_owned(),
        "settling_traffic_bytes" => "bytes on loopback until every match is there".to_owned(),
        "settling_cpu_seconds" => "processor time until every match is there".to_owned(),
        "settling_wire_packets" => "packets on the link until every match is there".to_owned(),
        "settling_wire_bytes" => "bytes on the link until every match is there".to_owned(),
        "rest_packets_per_second" => "packets on loopback at rest".to_owned(),
        "member_pss_bytes" => "memory (PSS) of one process".to_owned(),
        "member_descriptors" => "descriptors of one process".to_owned(),
        "newcomer_seconds" => "time to the first message of a newcomer".to_owned(),
        "end_seconds" => "time from SIGINT until all have ended".to_owned(),
        "delivered_of_possible_percent" => "delivered, of what the link could carry".to_owned(),
        "publish_rate_hz" => "effective publish rate".to_owned(),
        other => words(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_have_a_time_and_a_share() {
        let layer = |name: &str, nanos: u64| Layer {
            name: name.to_owned(),
            nanos: Distribution::of(&[nanos], 1).expect("a sample"),
        };
        let record = Record {
            layers: vec![layer("client", 10), layer("engine write", 30), layer("wire", 60)],
            ..Record::default()
        };
        let of = |name: &str| Metric::parse(name).number(&record, None);
        assert_eq!(of("time:engine write+wire"), Some(90.0));
        assert_eq!(of("share:engine write+wire"), Some(90.0));
        assert_eq!(of("share:client"), Some(10.0));
        assert_eq!(of("share:absent"), None);
        assert_eq!(Metric::parse("share:client").number(&Record::default(), None), None);
        assert_eq!(Metric::parse("time:wire").unit(), Unit::Nanos);
    }
}

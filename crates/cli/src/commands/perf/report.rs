//! The result of measurements: a table for people, one JSON object a size for programs.

use std::io::Write;

use comfy_table::{CellAlignment, Table, presets};
use serde_json::{Value, json};

use super::Kind;
use super::options::{Limit, Options};
use super::protocol::{Published, Received};
use super::usage::Usage;
use crate::error::CliError;

/// What both ends saw at one size.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measurement {
    pub(super) size_bytes: usize,
    pub(super) published: Published,
    pub(super) received: Received,
}

impl Measurement {
    /// Measured messages that were sent and did not arrive, for whatever reason.
    fn lost(&self) -> u64 {
        self.published.sent.saturating_sub(self.received.received)
    }

    /// Messages a second from the first that arrived to the last.
    fn messages_per_second(&self) -> f64 {
        let intervals = self.received.received.saturating_sub(1) as f64;
        if self.received.seconds > 0.0 { intervals / self.received.seconds } else { 0.0 }
    }

    fn payload_bytes_per_second(&self) -> f64 {
        self.messages_per_second() * self.size_bytes as f64
    }

    fn to_json(&self, kind: Kind, options: &Options) -> Value {
        let Self { published, received, .. } = self;
        let latency = &received.latency;
        let mut object = json!({
            "transport": received.by_transport.name(),
            "transport_reason": published.transport_reason,
            "received_by_transport": received.by_transport,
            "size_bytes": self.size_bytes,
            "rate_hz": options.rate_hz(kind),
            "sent": published.sent,
            "received": received.received,
            "lost": self.lost(),
            "p50_us": latency.p50_us,
            "p90_us": latency.p90_us,
            "p99_us": latency.p99_us,
            "max_us": latency.max_us,
            "mean_us": latency.mean_us,
            "min_us": latency.min_us,
            "publish_call_p50_us": published.publish_call.p50_us,
            "duplicates": received.duplicates,
            "reordered": received.reordered,
            "dropped_by_publisher": published.dropped,
            "processes": options.processes(),
            "publisher": published.usage,
            "subscription": received.usage,
        });
        if kind == Kind::Throughput {
            object["messages_per_second"] = json!(self.messages_per_second().round());
            object["payload_bytes_per_second"] = json!(self.payload_bytes_per_second().round());
        }
        object
    }
}

/// Prints one object on one line.
pub(super) fn print_json(
    kind: Kind,
    options: &Options,
    measurement: &Measurement,
) -> Result<(), CliError> {
    let mut output = std::io::stdout().lock();
    Ok(writeln!(output, "{}", measurement.to_json(kind, options))?)
}

/// Prints what was measured, and a line per size.
pub(super) fn print_table(
    kind: Kind,
    options: &Options,
    measurements: &[Measurement],
) -> Result<(), CliError> {
    let mut output = std::io::stdout().lock();
    writeln!(output, "{}", headline(kind, options, measurements))?;
    writeln!(output, "{}", table(kind, measurements))?;
    if options.processes() == 1 {
        writeln!(
            output,
            "Publisher and subscription are one process: each column says the same of it."
        )?;
    }
    let dropped: u64 = measurements.iter().map(|measurement| measurement.published.dropped).sum();
    if dropped > 0 {
        writeln!(
            output,
            "{dropped} of the lost messages were dropped by the publisher, whose queue was full."
        )?;
    }
    let lost: u64 = measurements.iter().map(Measurement::lost).sum();
    if lost > dropped && kind == Kind::Throughput {
        writeln!(
            output,
            "Messages are lost when they come faster than they are taken: `--history keep_all` has the publisher wait."
        )?;
    }
    Ok(())
}

fn headline(kind: Kind, options: &Options, measurements: &[Measurement]) -> String {
    let what = match kind {
        Kind::Latency => "Latency one way, from the call that publishes to the callback",
        Kind::Throughput => "Throughput",
    };
    let rate = match (options.rate_hz(kind), kind) {
        (0.0, Kind::Latency) => "each message sent when the one before was answered".to_owned(),
        (0.0, Kind::Throughput) => "as fast as they can be published".to_owned(),
        (rate, _) => format!("{rate} messages a second"),
    };
    let limit = match options.limit(kind) {
        Limit::Count(count) => format!("{count} messages"),
        Limit::Time(duration) => format!("{} s", duration.as_secs()),
    };
    let processes = if options.processes() == 1 { "one process" } else { "two processes" };
    let mut paths: Vec<&str> =
        measurements.iter().map(|measurement| measurement.received.by_transport.name()).collect();
    paths.dedup();
    let reason = measurements
        .first()
        .and_then(|measurement| measurement.published.transport_reason.as_deref());
    let reason = reason.map_or(String::new(), |reason| format!(" ({reason})"));
    format!(
        "{what}: path {}{reason}, {}, {processes}, {limit}, {rate}",
        paths.join(" and "),
        options.qos_in_words()
    )
}

fn table(kind: Kind, measurements: &[Measurement]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    let mut header = vec!["size"];
    match kind {
        Kind::Latency => header.extend(["median", "90 %", "99 %", "longest", "publish call"]),
        Kind::Throughput => header.extend(["messages/s", "payload", "median", "99 %"]),
    }
    header.extend(["sent", "lost", "CPU pub", "CPU sub", "threads", "memory pub", "memory sub"]);
    let columns = header.len();
    table.set_header(header);
    for measurement in measurements {
        let Measurement { published, received, .. } = measurement;
        let latency = &received.latency;
        let mut row = vec![size_in_words(measurement.size_bytes)];
        match kind {
            Kind::Latency => row.extend(
                [
                    latency.p50_us,
                    latency.p90_us,
                    latency.p99_us,
                    latency.max_us,
                    published.publish_call.p50_us,
                ]
                .map(micros_in_words),
            ),
            Kind::Throughput => row.extend([
                format!("{:.0}", measurement.messages_per_second()),
                format!("{:.1} MB/s", measurement.payload_bytes_per_second() / 1e6),
                micros_in_words(latency.p50_us),
                micros_in_words(latency.p99_us),
            ]),
        }
        let (publisher, subscription) = (&published.usage, &received.usage);
        row.extend([
            published.sent.to_string(),
            measurement.lost().to_string(),
            format!("{:.1} %", publisher.cpu_percent),
            format!("{:.1} %", subscription.cpu_percent),
            format!("{} + {}", publisher.threads, subscription.threads),
            memory_in_words(publisher),
            memory_in_words(subscription),
        ]);
        table.add_row(row);
    }
    for column in 0..columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

fn memory_in_words(usage: &Usage) -> String {
    usage.pss_bytes.map_or("-".to_owned(), |bytes| format!("{:.1} MB", bytes as f64 / 1e6))
}

pub(super) fn micros_in_words(micros: f64) -> String {
    match micros {
        micros if micros >= 100_000.0 => format!("{:.0} ms", micros / 1000.0),
        micros if micros >= 10_000.0 => format!("{:.1} ms", micros / 1000.0),
        micros => format!("{micros:.1} us"),
    }
}

/// A number of bytes as the options take it.
pub(super) fn size_in_words(bytes: usize) -> String {
    match bytes {
        bytes if bytes >= 1 << 20 && bytes % (1 << 20) == 0 => format!("{} MB", bytes >> 20),
        bytes if bytes >= 1 << 10 && bytes % (1 << 10) == 0 => format!("{} KB", bytes >> 10),
        bytes => format!("{bytes} B"),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use clap::Parser;

    use super::super::protocol::ByTransport;
    use super::super::statistics::Summary;
    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    fn measurement() -> Measurement {
        let usage = Usage { cpu_percent: 12.5, threads: 9, pss_bytes: Some(4_000_000) };
        let latency = Summary {
            min_us: 1.0,
            mean_us: 2.5,
            p50_us: 2.0,
            p90_us: 3.0,
            p99_us: 4.0,
            max_us: 20_000.0,
        };
        Measurement {
            size_bytes: 4096,
            published: Published {
                sent: 100,
                dropped: 1,
                transport_reason: Some("it rains".into()),
                publish_call: Summary::default(),
                usage,
            },
            received: Received {
                received: 97,
                duplicates: 2,
                reordered: 1,
                by_transport: ByTransport { network: 107, ..ByTransport::default() },
                seconds: 0.5,
                latency,
                usage,
            },
        }
    }

    #[test]
    fn json_has_what_was_promised() {
        let options = Line::parse_from(["x"]).options;
        let object = measurement().to_json(Kind::Latency, &options);
        let numbers =
            ["size_bytes", "rate_hz", "sent", "lost", "p50_us", "p90_us", "p99_us", "max_us"];
        assert_eq!(
            numbers.map(|key| object[key].as_f64().unwrap()),
            [4096.0, 100.0, 100.0, 3.0, 2.0, 3.0, 4.0, 20_000.0]
        );
        assert_eq!(
            (&object["transport"], &object["transport_reason"]),
            (&json!("network"), &json!("it rains"))
        );
        assert_eq!(
            object["received_by_transport"],
            json!({"intra_process": 0, "shared_memory": 0, "network": 107})
        );
        let headline = headline(Kind::Latency, &options, &[measurement()]);
        assert!(headline.contains("path network (it rains), reliable"), "{headline}");
        assert_eq!(object["publisher"]["threads"], 9);
        assert_eq!(object["subscription"]["pss_bytes"], 4_000_000);
        assert!(object.get("messages_per_second").is_none());
    }

    #[test]
    fn throughput_is_counted_between_arrivals() {
        let options = Line::parse_from(["x", "--rate-hz", "5"]).options;
        let object = measurement().to_json(Kind::Throughput, &options);
        assert_eq!(object["messages_per_second"], 192.0);
        assert_eq!(object["payload_bytes_per_second"], 192.0 * 4096.0);
        assert_eq!(object["rate_hz"], 5.0);
    }

    #[test]
    fn more_arrivals_than_sent_are_no_negative_loss() {
        let mut measurement = measurement();
        measurement.received.received = 101;
        assert_eq!(measurement.lost(), 0);
    }

    #[test]
    fn numbers_with_units() {
        assert_eq!(
            [256, 1000, 4096, 65536, 1 << 20].map(size_in_words),
            ["256 B", "1000 B", "4 KB", "64 KB", "1 MB"]
        );
        assert_eq!(
            [97.26, 9999.0, 12_345.0, 250_000.0].map(micros_in_words),
            ["97.3 us", "9999.0 us", "12.3 ms", "250 ms"]
        );
    }

    #[test]
    fn table_has_a_row_per_size() {
        let text = table(Kind::Latency, &[measurement(), measurement()]).to_string();
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(rows.len(), 3, "{text}");
        assert!(
            rows[1].contains("4 KB") && rows[1].contains("20.0 ms") && rows[1].contains("9 + 9"),
            "{text}"
        );
    }
}

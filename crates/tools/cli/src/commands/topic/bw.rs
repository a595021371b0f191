//! `feros topic bw`: measures how many bytes arrive, without decoding messages.

use std::sync::Arc;
use std::time::Instant;

use serde_json::json;

use super::watch;
use super::window::{Statistics, Window};
use feros_monitor::watching_qos;
use feros_sync::Mutex;

use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::output;
use crate::qos_args::QosArgs;
use crate::value_parsers::parse_count;

/// Print the bandwidth of a topic, each second until Ctrl-C
#[derive(clap::Args)]
#[command(after_help = "Example:\n  feros topic bw /camera/image")]
pub(crate) struct Args {
    /// Name of the topic
    topic: String,
    /// Number of messages to average over
    #[arg(short, long, value_name = "N", default_value_t = 100, value_parser = parse_count)]
    window: usize,
    /// Print a JSON object each second
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
    #[command(flatten)]
    qos: QosArgs,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let connection = Connection::open()?;
    let topic = connection.topic_name(&args.topic)?;
    let identity = watch::find_type(&connection, &args.discovery, &topic, None)?;
    let started = Instant::now();
    let traffic = Arc::new(Mutex::new(Traffic::new(args.window)));
    let node = &connection.node;
    let _subscription =
        node.create_generic_subscription(&topic, &identity, args.qos.over(watching_qos()), {
            let traffic = traffic.clone();
            move |message, _| traffic.lock().arrived(started.elapsed().as_secs_f64(), message.len())
        })?;
    if !args.json {
        output::print(&format!("Subscribed to [{topic}]\n"))?;
    }
    let json = args.json;
    watch::report_each_second(node, move || {
        let report = traffic.lock().report(started.elapsed().as_secs_f64());
        match report {
            Some(report) if json => output::print_json(&report.object()),
            Some(report) => output::print(&report.text()),
            None => Ok(()),
        }
    })
}

/// The arrival times and sizes of messages; times in seconds.
struct Traffic {
    times: Window,
    sizes: Window,
}

struct Report {
    bytes_per_second: f64,
    sizes: Statistics,
}

impl Traffic {
    fn new(window: usize) -> Self {
        Self { times: Window::new(window), sizes: Window::new(window) }
    }

    fn arrived(&mut self, now: f64, size_bytes: usize) {
        self.times.push(now);
        #[allow(clippy::cast_precision_loss)] // far below 2^52
        self.sizes.push(size_bytes as f64);
    }

    fn report(&self, now: f64) -> Option<Report> {
        let sizes = self.sizes.statistics().filter(|sizes| sizes.count >= 2)?;
        let duration = now - self.times.oldest()?;
        #[allow(clippy::cast_precision_loss)] // far below 2^52
        let total = sizes.mean * sizes.count as f64;
        (duration > 0.0).then(|| Report { bytes_per_second: total / duration, sizes })
    }
}

impl Report {
    fn object(&self) -> serde_json::Value {
        let Statistics { mean, min, max, count, .. } = self.sizes;
        json!({
            "bytes_per_second": self.bytes_per_second, "messages": count, "mean_size_bytes": mean,
            "min_size_bytes": min, "max_size_bytes": max,
        })
    }

    /// The text of `ros2 topic bw`: all numbers have the unit of the bandwidth.
    fn text(&self) -> String {
        let show = |bytes: f64| match self.bytes_per_second {
            ..1e3 => format!("{bytes:.0} B"),
            1e3..1e6 => format!("{:.2} KB", bytes / 1e3),
            _ => format!("{:.2} MB", bytes / 1e6),
        };
        let Statistics { mean, min, max, count, .. } = self.sizes;
        format!(
            "{}/s from {count} messages\n\tMessage size mean: {} min: {} max: {}\n",
            show(self.bytes_per_second),
            show(mean),
            show(min),
            show(max)
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn bandwidth_of_the_window() {
        let mut traffic = Traffic::new(10);
        traffic.arrived(0.0, 100);
        assert!(traffic.report(1.0).is_none(), "one message is not a rate");
        for step in 1..20 {
            traffic.arrived(f64::from(step), if step % 2 == 0 { 1000 } else { 3000 });
        }
        let report = traffic.report(20.0).unwrap();
        assert_eq!(
            report.text(),
            "2.00 KB/s from 10 messages\n\tMessage size mean: 2.00 KB min: 1.00 KB max: 3.00 KB\n"
        );
        assert_eq!(report.object()["messages"], 10);
    }
}

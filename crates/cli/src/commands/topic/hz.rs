//! `feros topic hz`: how often messages arrive, without looking into them.
//!
//! The engine's time of arrival counts, not the moment at which this program gets to look; and what
//! was lost on the way is told from the publishers' own numbers, so that a high rate or a large
//! image is not taken for a slow publisher.

use std::collections::HashMap;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::SystemTime;

use feros::{Gid, MessageInfo};
use serde_json::json;

use super::watch::{self, watching_qos};
use super::window::{Statistics, Window};
use feros_sync::Mutex;

use crate::connection::{Connection, DiscoveryArgs};
use crate::error::CliError;
use crate::output;
use crate::qos_args::QosArgs;
use crate::value_parsers::parse_count;

/// Publishers whose numbers are followed at most.
const MAX_PUBLISHERS: usize = 1024;

/// Print how often messages arrive on a topic, each second until Ctrl-C
#[derive(clap::Args)]
#[command(
    after_help = "The subscription is best effort and costs publishers no acknowledgements. What it does not receive \
                        is counted as lost.\n\nExamples:\n  feros topic hz /scan\n  feros topic hz /imu -w 1000 --json"
)]
pub(crate) struct Args {
    /// Name of the topic
    topic: String,
    /// Number of intervals that are averaged
    #[arg(short, long, value_name = "N", default_value_t = 10_000, value_parser = parse_count)]
    window: usize,
    /// Accepted for command lines written for `ros2`: wall time is always used
    #[arg(long, hide = true)]
    wall_time: bool,
    /// Print a JSON object each second; times in seconds
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    discovery: DiscoveryArgs,
    #[command(flatten)]
    qos: QosArgs,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let connection = Connection::open()?;
    let topic = connection.topic_name(&args.topic)?;
    let identity = watch::find_type(&connection, &args.discovery, &topic, None)?;
    let arrivals = Arc::new(Mutex::new(Arrivals::new(args.window)));
    let node = &connection.node;
    let options =
        feros::SubscriptionOptions::from(args.qos.over(watching_qos())).log_lost_messages(false);
    let _subscription = node.create_generic_subscription(&topic, &identity, options, {
        let arrivals = arrivals.clone();
        move |_, info| arrivals.lock().arrived(&info)
    })?;
    let json = args.json;
    watch::report_each_second(node, move || {
        let report = arrivals.lock().report();
        match report {
            Some(report) if json => output::print_json(&report.object()),
            Some(report) => output::print(&report.text()),
            None if json => Ok(()),
            None => output::print("no new messages\n"),
        }
    })
}

/// When messages arrived.
struct Arrivals {
    last: Option<SystemTime>,
    intervals: Window,
    /// Arrived since the last report.
    fresh: u64,
    received: u64,
    lost: u64,
    /// The last number of each publisher.
    numbers: HashMap<Gid, u64>,
}

impl Arrivals {
    fn new(window: usize) -> Self {
        Self {
            last: None,
            intervals: Window::new(window),
            fresh: 0,
            received: 0,
            lost: 0,
            numbers: HashMap::new(),
        }
    }

    fn arrived(&mut self, info: &MessageInfo) {
        let now = info.received_timestamp.unwrap_or_else(SystemTime::now);
        match self.last.map(|last| now.duration_since(last)) {
            Some(Ok(interval)) => self.intervals.push(interval.as_secs_f64()),
            // The system's clock was set back.
            Some(Err(_)) => self.intervals.clear(),
            None => {}
        }
        self.last = Some(now);
        self.fresh += 1;
        self.received += 1;
        self.count_lost(info);
    }

    fn count_lost(&mut self, info: &MessageInfo) {
        let Some(number) = info.publication_sequence_number else { return };
        if self.numbers.len() >= MAX_PUBLISHERS && !self.numbers.contains_key(&info.publisher_gid) {
            self.numbers.clear();
        }
        if let Some(last) = self.numbers.insert(info.publisher_gid, number) {
            let between = number.saturating_sub(last).saturating_sub(1);
            self.lost = self.lost.saturating_add(between);
        }
    }

    /// What to tell, if anything arrived since the last time.
    fn report(&mut self) -> Option<Report> {
        if std::mem::take(&mut self.fresh) == 0 {
            return None;
        }
        let intervals = self.intervals.statistics()?;
        Some(Report { intervals, received: self.received, lost: self.lost })
    }
}

struct Report {
    intervals: Statistics,
    received: u64,
    lost: u64,
}

impl Report {
    fn rate(&self) -> f64 {
        if self.intervals.mean > 0.0 { 1.0 / self.intervals.mean } else { 0.0 }
    }

    fn object(&self) -> serde_json::Value {
        let Statistics { min, max, std_dev, count, .. } = self.intervals;
        json!({
            "rate_hz": self.rate(), "min_s": min, "max_s": max, "std_dev_s": std_dev, "window": count,
            "received": self.received, "lost": self.lost,
        })
    }

    fn text(&self) -> String {
        let Statistics { min, max, std_dev, count, .. } = self.intervals;
        let lost = match self.lost {
            0 => String::new(),
            lost => format!(
                "\tlost on the way to here: {lost} of {}\n",
                self.received.saturating_add(lost)
            ),
        };
        format!(
            "average rate: {:.3}\n\tmin: {min:.6}s max: {max:.6}s std dev: {std_dev:.6}s window: {count}\n{lost}",
            self.rate()
        )
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::time::Duration;

    use super::*;

    fn info(millis: u64, number: u64) -> MessageInfo {
        MessageInfo {
            source_timestamp: None,
            received_timestamp: Some(SystemTime::UNIX_EPOCH + Duration::from_millis(1000 + millis)),
            publication_sequence_number: Some(number),
            publisher_gid: Gid::default(),
            from_same_session: false,
        }
    }

    #[test]
    fn rate_and_losses_come_from_the_messages_themselves() {
        let mut arrivals = Arrivals::new(100);
        assert!(arrivals.report().is_none());
        for number in 1..=11 {
            arrivals.arrived(&info(number * 100, number));
        }
        let report = arrivals.report().unwrap();
        assert_eq!(
            report.text(),
            "average rate: 10.000\n\tmin: 0.100000s max: 0.100000s std dev: 0.000000s window: 10\n"
        );
        assert!(arrivals.report().is_none(), "nothing new");
        arrivals.arrived(&info(1200, 15));
        let report = arrivals.report().unwrap();
        assert_eq!(report.object()["lost"], 3);
        assert!(report.text().contains("3 of 15"), "{}", report.text());
        // A clock that is set back begins anew.
        arrivals.arrived(&info(0, 16));
        assert!(arrivals.report().is_none());
    }
}

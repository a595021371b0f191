//! `feros perf cpu`: processor time and latency of placements (one publisher, one subscription,
//! each payload) and of containers (one publisher of 500 KB, subscriptions that compute), at 50 Hz.

mod container;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};
use comfy_table::{CellAlignment, Table, presets};
use indicatif::ProgressBar;
use serde_json::{Value, json};

use super::coordinator::measure;
use super::options::{Options as MessageOptions, parse_size};
use super::report::{Measurement, micros_in_words, size_in_words};
use super::{Args as PerfArgs, Command as PerfCommand, Kind};
use crate::error::CliError;
use container::{Container, Report};

/// The payload of the containers' publisher.
const CONTAINER_BYTES: usize = 500_000;

/// What the verb takes.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Options {
    /// What is measured
    #[arg(long, value_enum, value_delimiter = ',', num_args = 1.., default_value = "placements,containers")]
    grid: Vec<Grid>,

    /// Payload in bytes, or as 64K or 1M (1024 based), for the placements
    #[arg(long, alias = "size-bytes", value_name = "BYTES", value_delimiter = ',', num_args = 1.., default_value = "1K,100K,1000K,5000K", value_parser = parse_size)]
    size: Vec<usize>,

    /// Where publisher and subscription are
    #[arg(long, value_enum, value_delimiter = ',', num_args = 1.., default_value = "network,host,composed-network,composed")]
    placement: Vec<Placement>,

    /// What runs the subscriptions that compute
    #[arg(long, value_enum, value_delimiter = ',', num_args = 1.., default_value = "single,isolated,multi")]
    container: Vec<Container>,

    /// Numbers of subscriptions that compute
    #[arg(long, value_delimiter = ',', num_args = 1.., default_value = "1,2,5,10", value_parser = clap::value_parser!(u16).range(1..=100))]
    subscriptions: Vec<u16>,

    /// Messages a second
    #[arg(long, value_name = "HZ", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rate_hz: u32,

    /// Messages of each row that are measured
    #[arg(long, default_value_t = 150, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    count: u64,

    /// Print one JSON object a row instead of tables
    #[arg(long)]
    json: bool,

    /// This process has publisher and subscriptions; set by the process that looks at it.
    #[arg(long, hide = true)]
    contained: bool,
}

/// A table of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Grid {
    /// One publisher, one subscription, by payload
    Placements,
    /// Subscriptions that compute 500 us each, by their number
    Containers,
}

/// Where publisher and subscription are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Placement {
    /// A process each, over the engine
    Network,
    /// A process each, over shared memory
    Host,
    /// One process, over the engine
    ComposedNetwork,
    /// One process, over the intra-process transport
    Composed,
}

impl Placement {
    fn word(self) -> &'static str {
        match self {
            Self::Network => "processes, network transport",
            Self::Host => "processes, shared-memory transport",
            Self::ComposedNetwork => "composed, network transport",
            Self::Composed => "composed, intra-process transport",
        }
    }

    /// Its word on the command line.
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    fn options(self) -> [&'static str; 4] {
        match self {
            Self::Network => ["--transport", "network", "--processes", "2"],
            Self::Host => ["--transport", "shared_memory", "--processes", "2"],
            Self::ComposedNetwork => ["--transport", "network", "--processes", "1"],
            Self::Composed => ["--transport", "intra_process", "--processes", "1"],
        }
    }
}

pub(super) fn run(options: &Options) -> Result<ExitCode, CliError> {
    if options.contained {
        return container::run(options);
    }
    for grid in &options.grid {
        match grid {
            Grid::Placements => placements(options)?,
            Grid::Containers => containers(options)?,
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// A command line of `feros perf`.
#[derive(Parser)]
struct Line {
    #[command(flatten)]
    args: PerfArgs,
}

/// What `feros perf latency` takes, for one cell.
fn of_latency(
    options: &Options,
    placement: Placement,
    size_bytes: usize,
) -> Result<MessageOptions, CliError> {
    let numbers = [size_bytes as u64, u64::from(options.rate_hz), options.count]
        .map(|number| number.to_string());
    let mut line = vec!["perf", "latency", "--size-bytes", &numbers[0]];
    line.extend(["--rate-hz", &numbers[1], "--count", &numbers[2]]);
    line.extend(placement.options());
    match Line::try_parse_from(line).map_err(CliError::failed)?.args.command {
        PerfCommand::Latency(options) => Ok(options),
        _ => Err(CliError::failed("these are not the options of `feros perf latency`")),
    }
}

fn placements(options: &Options) -> Result<(), CliError> {
    let mut rows = Vec::new();
    for &placement in &options.placement {
        for &size_bytes in &options.size {
            let cell = of_latency(options, placement, size_bytes)?;
            let found =
                measure(Kind::Latency, &cell, size_bytes, rows.len(), &ProgressBar::hidden())?;
            let cpu_percent = found.published.usage.cpu_percent
                + if cell.processes() == 2 { found.received.usage.cpu_percent } else { 0.0 };
            if options.json {
                print_json(&placement_json(options, placement, &found, cpu_percent))?;
            }
            rows.push((placement, size_bytes, found, cpu_percent));
        }
    }
    if options.json {
        return Ok(());
    }
    let mut table = table(["placement", "size", "CPU of all", "median", "99 %", "lost"]);
    for (placement, size_bytes, found, cpu_percent) in rows {
        let latency = &found.received.latency;
        table.add_row([
            placement.word().to_owned(),
            size_in_words(size_bytes),
            format!("{cpu_percent:.2} %"),
            micros_in_words(latency.p50_us),
            micros_in_words(latency.p99_us),
            found.published.sent.saturating_sub(found.received.received).to_string(),
        ]);
    }
    print_table(&format!("One publisher and one subscription at {} Hz", options.rate_hz), table)
}

fn placement_json(
    options: &Options,
    placement: Placement,
    found: &Measurement,
    cpu_percent: f64,
) -> Value {
    let latency = &found.received.latency;
    json!({
        "grid": "placements",
        "placement": placement.name(),
        "transport": found.received.by_transport.name(),
        "size_bytes": found.size_bytes,
        "rate_hz": options.rate_hz,
        "cpu_percent": (cpu_percent * 100.0).round() / 100.0,
        "p50_us": latency.p50_us,
        "p99_us": latency.p99_us,
        "sent": found.published.sent,
        "lost": found.published.sent.saturating_sub(found.received.received),
    })
}

fn containers(options: &Options) -> Result<(), CliError> {
    let mut rows = Vec::new();
    for &container in &options.container {
        for &subscriptions in &options.subscriptions {
            let report = container::measure(options, container, subscriptions)?;
            if options.json {
                print_json(&report.to_json(options, container, subscriptions))?;
            }
            rows.push((container, subscriptions, report));
        }
    }
    if options.json {
        return Ok(());
    }
    let mut table = table([
        "container",
        "subscriptions",
        "CPU",
        "median",
        "99 %",
        "slowest median",
        "threads",
        "lost",
    ]);
    for (container, subscriptions, report) in rows {
        let Report { cpu_percent, latency, slowest_p50_us, threads, .. } = report;
        table.add_row([
            container.word().to_owned(),
            subscriptions.to_string(),
            format!("{cpu_percent:.2} %"),
            micros_in_words(latency.p50_us),
            micros_in_words(latency.p99_us),
            micros_in_words(slowest_p50_us),
            threads.to_string(),
            report.lost(options, subscriptions).to_string(),
        ]);
    }
    let title = format!(
        "One publisher of {} at {} Hz and subscriptions that compute for {} us each, in one process",
        size_in_words(CONTAINER_BYTES),
        options.rate_hz,
        container::WORK_NANOS / 1000
    );
    print_table(&title, table)
}

fn table<const N: usize>(header: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(header);
    table
}

fn print_table(title: &str, mut table: Table) -> Result<(), CliError> {
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    Ok(writeln!(std::io::stdout().lock(), "{title}\n{table}")?)
}

fn print_json(object: &Value) -> Result<(), CliError> {
    Ok(writeln!(std::io::stdout().lock(), "{object}")?)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_placement_is_a_measurement_of_latency() {
        let line =
            Line::try_parse_from(["perf", "cpu", "--rate-hz", "25", "--count", "7"]).unwrap();
        let PerfCommand::Cpu(options) = line.args.command else { panic!("not cpu") };
        for (placement, processes) in options.placement.iter().zip([2, 2, 1, 1]) {
            let cell = of_latency(&options, *placement, 4096).unwrap();
            assert_eq!((cell.processes(), &cell.size_bytes[..]), (processes, &[4096][..]));
            assert_eq!(
                (cell.rate_hz(Kind::Latency), cell.limit(Kind::Latency)),
                (25.0, super::super::options::Limit::Count(7))
            );
        }
    }
}

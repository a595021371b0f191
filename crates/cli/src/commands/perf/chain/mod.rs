//! `feros perf chain`: how long a message takes through a chain of nodes (sensor, relays,
//! actuator), and whether that grows with the number of nodes alone.

mod fit;
mod link;

use std::io::Write;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use comfy_table::{CellAlignment, Table, presets};
use feros::TransportSet;
use serde_json::json;

use super::family::{Family, Happening};
use super::options::parse_size;
use super::protocol::Order;
use super::report::{micros_in_words, size_in_words};
use crate::error::CliError;
use fit::Line;
use link::Report;

/// More processes than this cannot be participants of one domain on one host.
const MOST_PROCESSES: u16 = 100;

/// How long all nodes of a chain may take to meet.
const MEET_LIMIT: Duration = Duration::from_secs(120);

/// On top of the time that sending takes: a chain that is then not done hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// What the verb takes.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Options {
    /// Numbers of nodes in the chain, the first and the last among them; each is a row
    #[arg(long, value_delimiter = ',', num_args = 1.., default_value = "3,8,13,18,23", value_parser = clap::value_parser!(u16).range(2..=1000))]
    nodes: Vec<u16>,

    /// Payload in bytes, or as 64K or 1M (1024 based)
    #[arg(long, alias = "size-bytes", value_name = "BYTES", value_delimiter = ',', num_args = 1.., default_value = "100,500K", value_parser = parse_size)]
    size: Vec<usize>,

    /// Where the nodes are
    #[arg(long, value_enum, value_delimiter = ',', num_args = 1.., default_value = "processes,composed,intra")]
    placement: Vec<Placement>,

    /// Messages a second
    #[arg(long, value_name = "HZ", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    rate_hz: u32,

    /// Messages that are measured
    #[arg(long, default_value_t = 40, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    count: u64,

    /// Messages that are sent before and not measured
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(0..=1_000_000))]
    warmup: u64,

    /// Print one JSON object a row, and one for each line through rows, instead of a table
    #[arg(long)]
    json: bool,

    /// This process has the nodes from this one on; set by the process that coordinates them.
    #[arg(long, hide = true)]
    first: Option<u16>,

    /// And so many of them.
    #[arg(long, hide = true, default_value_t = 1)]
    members: u16,

    /// The beginning of the names of the topics.
    #[arg(long, hide = true, default_value = "feros_perf")]
    topic: String,
}

/// Where the nodes of a chain are, each with an executor and a thread of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Placement {
    /// A process each, over the shortest transport: shared memory
    Processes,
    /// A process each, over the engine
    ProcessesNetwork,
    /// All in one process, over the engine
    Composed,
    /// All in one process, over the intra-process transport
    Intra,
}

impl Placement {
    fn word(self) -> &'static str {
        match self {
            Self::Processes => "processes",
            Self::ProcessesNetwork => "processes-network",
            Self::Composed => "composed",
            Self::Intra => "intra",
        }
    }

    fn is_one_process(self) -> bool {
        matches!(self, Self::Composed | Self::Intra)
    }

    fn transports(self) -> TransportSet {
        match self {
            Self::Processes => TransportSet::ALL,
            Self::ProcessesNetwork | Self::Composed => feros::Transport::Network.into(),
            Self::Intra => feros::Transport::IntraProcess.into(),
        }
    }
}

struct Row {
    placement: Placement,
    size_bytes: usize,
    nodes: u16,
    report: Report,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, CliError> {
    if let Some(first) = options.first {
        return link::run(options, first);
    }
    let (one_process, most) =
        (Placement::is_one_process, options.nodes.iter().max().copied().unwrap_or(0));
    if most > MOST_PROCESSES && !options.placement.iter().copied().all(one_process) {
        return Err(CliError::usage(format!(
            "a chain of {most} processes is not possible, one domain has room for {MOST_PROCESSES} on a host: use --placement \
             composed,intra"
        )));
    }
    let mut rows = Vec::new();
    for &placement in &options.placement {
        for &size_bytes in &options.size {
            for &nodes in &options.nodes {
                let report = measure(options, placement, size_bytes, nodes, rows.len())?;
                let row = Row { placement, size_bytes, nodes, report };
                if options.json {
                    writeln!(std::io::stdout().lock(), "{}", row.to_json(options.count))?;
                }
                rows.push(row);
            }
        }
    }
    print(options, &rows)?;
    if rows.iter().any(|row| row.report.received == 0) {
        return Err(CliError::failed(
            "of a chain no message arrived; `feros doctor` says what may stand in the way",
        ));
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(
    options: &Options,
    placement: Placement,
    size_bytes: usize,
    nodes: u16,
    number: usize,
) -> Result<Report, CliError> {
    let program = std::env::current_exe()
        .map_err(|error| CliError::failed(format!("this program cannot find itself: {error}")))?;
    let topic = format!("/feros_perf/chain_{}_{number}", std::process::id());
    let mut family = Family::new()?;
    let mut start = |first: u16, members: u16| {
        let mut line = vec!["perf".to_owned(), "chain".to_owned()];
        let mut add = |name: &str, value: String| line.extend([name.to_owned(), value]);
        add("--nodes", nodes.to_string());
        add("--size", size_bytes.to_string());
        add("--placement", placement.word().to_owned());
        add("--rate-hz", options.rate_hz.to_string());
        add("--count", options.count.to_string());
        add("--warmup", options.warmup.to_string());
        add("--first", first.to_string());
        add("--members", members.to_string());
        add("--topic", topic.clone());
        family.start(&format!("node {first}"), Command::new(&program).args(line))
    };
    let members = match placement.is_one_process() {
        true => vec![start(0, nodes)?],
        false => (0..nodes).map(|first| start(first, 1)).collect::<Result<Vec<_>, _>>()?,
    };
    let (first, last) = (members[0], members[members.len() - 1]);
    let deadline = Instant::now() + MEET_LIMIT;
    for _ in &members {
        next_line(&family, deadline, "its nodes met")?;
    }
    family.tell(first, &Order::Go);
    let sending =
        Duration::from_secs((options.count + options.warmup) / u64::from(options.rate_hz));
    next_line(&family, Instant::now() + sending * 3 + PATIENCE, "all was sent")?;
    family.tell(last, &Order::Finish(options.count));
    let line = next_line(&family, Instant::now() + PATIENCE, "the last node reported")?;
    family.end_all();
    serde_json::from_str(&line)
        .map_err(|error| CliError::failed(format!("the last node said {line:?}: {error}")))
}

fn next_line(family: &Family, deadline: Instant, what: &str) -> Result<String, CliError> {
    match family.next(deadline) {
        Happening::Line(_, line) => Ok(line),
        Happening::Ended(member) => Err(CliError::failed(format!(
            "{} of the chain ended before {what}; what it said stands above",
            family.name(member)
        ))),
        Happening::Interrupted => Err(CliError::Interrupted),
        Happening::Timeout => {
            Err(CliError::failed(format!("the chain hangs: it took too long until {what}")))
        }
    }
}

impl Row {
    fn to_json(&self, sent: u64) -> serde_json::Value {
        let latency = &self.report.latency;
        json!({
            "placement": self.placement.word(),
            "size_bytes": self.size_bytes,
            "nodes": self.nodes,
            "transport": self.report.transport,
            "sent": sent,
            "lost": sent.saturating_sub(self.report.received),
            "p50_us": latency.p50_us,
            "p99_us": latency.p99_us,
            "min_us": latency.min_us,
            "max_us": latency.max_us,
            "p50_us_per_hop": (latency.p50_us * 1000.0 / f64::from(self.nodes - 1)).round() / 1000.0,
        })
    }
}

/// The rows of one placement and size, and the line through their medians, where there are enough
/// of them.
fn lines(rows: &[Row]) -> Vec<(&Row, Line)> {
    let same = |a: &Row, b: &Row| (a.placement, a.size_bytes) == (b.placement, b.size_bytes);
    let fitted = rows.chunk_by(same).filter_map(|rows| {
        let points: Vec<_> =
            rows.iter().map(|row| (f64::from(row.nodes - 1), row.report.latency.p50_us)).collect();
        Some((&rows[0], Line::through(&points)?))
    });
    fitted.collect()
}

fn print(options: &Options, rows: &[Row]) -> Result<(), CliError> {
    let mut output = std::io::stdout().lock();
    if options.json {
        for (row, line) in lines(rows) {
            let object = json!({
                "placement": row.placement.word(),
                "size_bytes": row.size_bytes,
                "line": {
                    "us_per_hop": line.slope,
                    "us_at_none": line.intercept,
                    "r_squared": line.r_squared,
                    "worst_deviation_percent": line.worst_deviation_percent,
                },
            });
            writeln!(output, "{object}")?;
        }
        return Ok(());
    }
    writeln!(
        output,
        "Latency through a chain, from the call that publishes to the last callback: {} messages at {} Hz, an executor and a \
         thread for each node",
        options.count, options.rate_hz
    )?;
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header([
        "placement",
        "transport",
        "size",
        "nodes",
        "median",
        "a hop",
        "99 %",
        "lost",
    ]);
    for row in rows {
        let Report { received, transport, latency } = &row.report;
        table.add_row([
            row.placement.word().to_owned(),
            transport.clone(),
            size_in_words(row.size_bytes),
            row.nodes.to_string(),
            micros_in_words(latency.p50_us),
            micros_in_words(latency.p50_us / f64::from(row.nodes - 1)),
            micros_in_words(latency.p99_us),
            options.count.saturating_sub(*received).to_string(),
        ]);
    }
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    writeln!(output, "{table}")?;
    for (row, line) in lines(rows) {
        writeln!(
            output,
            "{}, {}: {:.1} us a hop, R2 {:.4}, the farthest median is {:.0} % from the line",
            row.placement.word(),
            size_in_words(row.size_bytes),
            line.slope,
            line.r_squared,
            line.worst_deviation_percent
        )?;
    }
    Ok(())
}

//! `feros perf memory`: what nodes cost in memory and threads, each in a process of its own or all
//! in one, beside stock ROS 2.
//!
//! Memory is the proportional set size: what processes share is divided by their number. The
//! processes are looked at from outside, all of them while all of them live, when their memory has
//! come to rest.

use std::io::Write;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use comfy_table::{CellAlignment, Table, presets};
use feros::{Context, Executor};
use serde_json::{Value, json};

use super::family::{Family, Happening, Member};
use super::image::Image;
use super::peer::{self, Peer};
use super::protocol::{Event, listen};
use super::usage::{Process, shared_memory_bytes};
use crate::error::CliError;

/// The program of the reference.
const STOCK: &str = include_str!("../../../../bench/peers/rcl_nodes.c");

/// How long all processes of a row may take to start.
const START_LIMIT: Duration = Duration::from_secs(120);

/// How often their memory is looked at until it rests.
const INTERVAL: Duration = Duration::from_millis(500);

/// It rests when so many looks in a row differ by less than a thousandth.
const LOOKS_AT_REST: u32 = 3;

/// Memory that does not rest by then is taken as it is.
const REST_LIMIT: Duration = Duration::from_secs(20);

/// What the verb takes.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Options {
    /// Numbers of nodes; each is a row
    #[arg(long, value_delimiter = ',', num_args = 1.., default_value = "1,2,5,10,20", value_parser = clap::value_parser!(u16).range(1..=500))]
    nodes: Vec<u16>,

    /// A process for each node, or all nodes in one process
    #[arg(long, value_enum, value_delimiter = ',', num_args = 1.., default_value = "processes,composed")]
    placement: Vec<Placement>,

    /// Measure Feros alone, even where stock ROS 2 is installed
    #[arg(long)]
    without_ros2: bool,

    /// Print one JSON object a row instead of a table
    #[arg(long)]
    json: bool,

    /// This process makes so many nodes; set by the process that looks at it.
    #[arg(long, hide = true)]
    members: Option<u16>,

    /// The number of the first of them.
    #[arg(long, hide = true, default_value_t = 0)]
    first: u16,
}

/// Where nodes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Placement {
    Processes,
    Composed,
}

impl Placement {
    fn word(self) -> &'static str {
        match self {
            Self::Processes => "processes",
            Self::Composed => "composed",
        }
    }

    /// How many nodes each process has, for so many nodes.
    fn split(self, nodes: u16) -> Vec<u16> {
        match self {
            Self::Processes => vec![1; usize::from(nodes)],
            Self::Composed => vec![nodes],
        }
    }
}

/// What all processes of a row cost together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cost {
    pss_bytes: u64,
    threads: usize,
    /// Pages of shared memory that exist, whether mapped (then they are in the PSS too) or not.
    shared_memory_bytes: u64,
}

struct Row {
    nodes: u16,
    placement: Placement,
    feros: Cost,
    stock: Option<Cost>,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, CliError> {
    if let Some(members) = options.members {
        return be_nodes(members, options.first);
    }
    let image = Image::new()?;
    let stock =
        if options.without_ros2 { None } else { peer::or_note(Peer::build("rcl_nodes", STOCK)) };
    let mut rows = Vec::new();
    for &placement in &options.placement {
        for &nodes in &options.nodes {
            let feros = measure(nodes, placement, |members, first| {
                let mut command = image.command();
                command.args(["perf", "memory", "--members", &members.to_string()]);
                command.args(["--first", &first.to_string()]);
                command
            })?;
            let measure_stock = |stock: &Peer| {
                measure(nodes, placement, |members, first| {
                    let mut command = stock.command();
                    command.args([members.to_string(), first.to_string()]);
                    command
                })
            };
            let row = Row {
                nodes,
                placement,
                feros,
                stock: stock.as_ref().map(measure_stock).transpose()?,
            };
            if options.json {
                writeln!(std::io::stdout().lock(), "{}", row.to_json())?;
            }
            rows.push(row);
        }
    }
    if !options.json {
        print(&rows)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Nodes as a user makes them, on one executor.
fn be_nodes(count: u16, first: u16) -> Result<ExitCode, CliError> {
    let (context, _) = Context::from_args(std::iter::empty())?;
    let executor = Executor::new();
    let mut nodes = Vec::new();
    for number in first..first.saturating_add(count) {
        let node = context.create_node(&format!("feros_perf_node_{number}"))?;
        executor.add_node(&node)?;
        nodes.push(node);
    }
    listen(&context, drop)?;
    Event::Ready.tell()?;
    executor.spin()?;
    Ok(ExitCode::SUCCESS)
}

/// Starts the processes of a row and looks at them; `command` makes the call for a number of nodes
/// and the first's number.
fn measure(
    nodes: u16,
    placement: Placement,
    command: impl Fn(u16, u16) -> std::process::Command,
) -> Result<Cost, CliError> {
    let mut family = Family::new()?;
    let (mut members, mut first) = (Vec::new(), 0);
    for count in placement.split(nodes) {
        members.push(family.start("nodes", &mut command(count, first))?);
        first += count;
    }
    let deadline = Instant::now() + START_LIMIT;
    let mut waiting = members.clone();
    while !waiting.is_empty() {
        match family.next(deadline) {
            Happening::Line(member, _) => waiting.retain(|other| *other != member),
            Happening::Interrupted => return Err(CliError::Interrupted),
            _ => {
                return Err(CliError::failed(
                    "the nodes did not start; what they said stands above",
                ));
            }
        }
    }
    let cost = at_rest(&family, &members)?;
    family.end_all();
    Ok(cost)
}

fn at_rest(family: &Family, members: &[Member]) -> Result<Cost, CliError> {
    let deadline = Instant::now() + REST_LIMIT;
    let (mut last, mut looks) = (Cost::default(), 0);
    loop {
        match family.next(Instant::now() + INTERVAL) {
            Happening::Timeout => {}
            Happening::Interrupted => return Err(CliError::Interrupted),
            _ => {
                return Err(CliError::failed(
                    "the nodes ended by themselves; what they said stands above",
                ));
            }
        }
        let cost = look_at(family, members)?;
        looks = if cost.pss_bytes.abs_diff(last.pss_bytes) <= last.pss_bytes / 1000 {
            looks + 1
        } else {
            0
        };
        last = cost;
        if looks == LOOKS_AT_REST || Instant::now() >= deadline {
            return Ok(cost);
        }
    }
}

fn look_at(family: &Family, members: &[Member]) -> Result<Cost, CliError> {
    let processes: Vec<_> =
        members.iter().map(|member| Process::of(family.process_id(*member))).collect();
    let unknown =
        || CliError::failed("this system does not tell the proportional set size of a process");
    let mut cost = Cost { shared_memory_bytes: shared_memory_bytes(&processes), ..Cost::default() };
    for process in &processes {
        cost.pss_bytes += process.pss_bytes().ok_or_else(unknown)?;
        cost.threads += process.threads().len();
    }
    Ok(cost)
}

impl Row {
    fn to_json(&self) -> Value {
        let Self { nodes, placement, feros, stock } = self;
        json!({
            "nodes": nodes,
            "placement": placement.word(),
            "pss_bytes": feros.pss_bytes,
            "threads": feros.threads,
            "shared_memory_bytes": feros.shared_memory_bytes,
            "rcl": stock.map(|stock| json!({
                "pss_bytes": stock.pss_bytes,
                "threads": stock.threads,
                "shared_memory_bytes": stock.shared_memory_bytes,
            })),
            "pss_to_rcl": stock.map(|stock| ratio(feros.pss_bytes, stock.pss_bytes)),
        })
    }
}

/// With three digits behind the point.
fn ratio(part: u64, of: u64) -> f64 {
    (part as f64 * 1000.0 / of.max(1) as f64).round() / 1000.0
}

fn print(rows: &[Row]) -> Result<(), CliError> {
    let mut output = std::io::stdout().lock();
    writeln!(
        output,
        "Memory (PSS) and threads of nodes at rest, with /rosout, /parameter_events and the services of parameters; shared \
         memory: pages that exist, of which the mapped are in the PSS"
    )?;
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    let mut header =
        vec!["placement", "nodes", "memory", "a node more", "threads", "shared memory"];
    if rows.iter().any(|row| row.stock.is_some()) {
        header.extend(["rcl memory", "rcl threads", "Feros / rcl"]);
    }
    let columns = header.len();
    table.set_header(header);
    let megabytes = |bytes: u64| format!("{:.2} MB", bytes as f64 / 1e6);
    for (number, row) in rows.iter().enumerate() {
        let before = number.checked_sub(1).map(|before| &rows[before]);
        let before =
            before.filter(|before| before.placement == row.placement && before.nodes < row.nodes);
        let more = before.map(|before| {
            let bytes = row.feros.pss_bytes as f64 - before.feros.pss_bytes as f64;
            format!("{:.0} KB", bytes / f64::from(row.nodes - before.nodes) / 1e3)
        });
        let mut cells = vec![
            row.placement.word().to_owned(),
            row.nodes.to_string(),
            megabytes(row.feros.pss_bytes),
            more.unwrap_or_default(),
            row.feros.threads.to_string(),
            megabytes(row.feros.shared_memory_bytes),
        ];
        if let Some(stock) = row.stock {
            cells.extend([megabytes(stock.pss_bytes), stock.threads.to_string()]);
            cells.push(format!("{:.2}", ratio(row.feros.pss_bytes, stock.pss_bytes)));
        }
        table.add_row(cells);
    }
    for column in 1..columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    Ok(writeln!(output, "{table}")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_divided_among_processes() {
        assert_eq!(Placement::Processes.split(3), [1, 1, 1]);
        assert_eq!(Placement::Composed.split(3), [3]);
    }

    #[test]
    fn a_row_has_the_reference_beside_it_or_says_that_there_is_none() {
        let feros = Cost { pss_bytes: 1000, threads: 7, shared_memory_bytes: 4096 };
        let row = Row { nodes: 2, placement: Placement::Composed, feros, stock: None };
        let alone = row.to_json();
        assert!(alone["rcl"].is_null() && alone["pss_to_rcl"].is_null(), "{alone}");
        assert_eq!(
            (alone["nodes"].as_u64(), alone["placement"].as_str()),
            (Some(2), Some("composed"))
        );
        let stock = Some(Cost { pss_bytes: 3000, threads: 16, shared_memory_bytes: 0 });
        let beside = Row { stock, ..row }.to_json();
        assert_eq!((&beside["pss_to_rcl"], &beside["rcl"]["threads"]), (&json!(0.333), &json!(16)));
    }
}

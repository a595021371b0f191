//! `feros perf executor`: events per second of one core with empty callbacks, among idle entities,
//! beside the wait set of stock ROS 2. All numbers of idle entities take turns, so that whatever
//! else the host does hits all alike.

use std::io::Write;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use comfy_table::{CellAlignment, Table, presets};
use feros_executor::{Entity, Executor, Progress, Ringer, SpinError};
use serde_json::json;

use super::peer::{self, Peer};
use crate::error::CliError;

/// The program of the reference.
const STOCK: &str = include_str!("../../../../bench/peers/rcl_wait_set.c");

/// Events of one turn.
const EVENTS: u64 = 100_000;

/// How long the reference has for one turn.
const STOCK_SECONDS: &str = "0.2";

/// What the verb takes.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Options {
    /// Numbers of entities that are never ready; each is a row
    #[arg(long, value_delimiter = ',', num_args = 1.., default_value = "1,10,100,1000", value_parser = clap::value_parser!(u16).range(0..=4000))]
    idle: Vec<u16>,

    /// Turns of each row; the median counts
    #[arg(long, default_value_t = 9, value_parser = clap::value_parser!(u8).range(1..=99))]
    rounds: u8,

    /// Measure Feros alone, even where stock ROS 2 is installed
    #[arg(long)]
    without_ros2: bool,

    /// Print one JSON object a row instead of a table
    #[arg(long)]
    json: bool,
}

struct Row {
    idle: u16,
    events_per_second: f64,
    stock: Option<f64>,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, CliError> {
    let stock =
        if options.without_ros2 { None } else { peer::or_note(Peer::build("rcl_wait_set", STOCK)) };
    let mut rates = vec![(Vec::new(), Vec::new()); options.idle.len()];
    for _ in 0..options.rounds {
        // What ran before, another program perhaps, has left its things in the caches: the first
        // turn of each round is for them.
        let take = |idle: u16| events_take(idle, EVENTS).map_err(CliError::failed);
        take(0)?;
        for (&idle, (feros, _)) in options.idle.iter().zip(&mut rates) {
            feros.push(EVENTS as f64 / take(idle)?.as_secs_f64());
        }
        for (&idle, (_, of_stock)) in options.idle.iter().zip(&mut rates) {
            if let Some(stock) = &stock {
                of_stock.push(stock_rate(stock, idle)?);
            }
        }
    }
    let row = |(&idle, (feros, of_stock)): (&u16, &mut (Vec<f64>, Vec<f64>))| Row {
        idle,
        events_per_second: median(feros).unwrap_or_default(),
        stock: median(of_stock),
    };
    let rows: Vec<Row> = options.idle.iter().zip(&mut rates).map(row).collect();
    if !options.json {
        print(&rows)?;
        return Ok(ExitCode::SUCCESS);
    }
    let mut output = std::io::stdout().lock();
    for Row { idle, events_per_second, stock } in rows {
        let object = json!({
            "idle": idle,
            "events_per_second": events_per_second.round(),
            "rcl_events_per_second": stock.map(f64::round),
        });
        writeln!(output, "{object}")?;
    }
    Ok(ExitCode::SUCCESS)
}

/// How long `events` take when each is a ring and an empty callback, among `idle` entities that are
/// never ready.
fn events_take(idle: u16, events: u64) -> Result<Duration, SpinError> {
    let executor = Executor::new();
    let add = |entity| {
        if let Ok(handle) = executor.add(entity) {
            handle.keep();
        }
    };
    let left = Arc::new(AtomicU64::new(events));
    let ringers = [Ringer::new(), Ringer::new()];
    // One before and one after the idle ones, ringing each other.
    let rung = |own: &Ringer, other: &Ringer| {
        let (left, other, stopper) = (Arc::clone(&left), other.clone(), executor.stopper());
        Entity::new(own, move || {
            if left.load(Ordering::Relaxed) > 1 {
                left.fetch_sub(1, Ordering::Relaxed);
                other.ring();
            } else {
                stopper.stop();
            }
            Progress::Done
        })
    };
    add(rung(&ringers[0], &ringers[1]));
    (0..idle).for_each(|_| add(Entity::new(&Ringer::new(), || Progress::Done)));
    add(rung(&ringers[1], &ringers[0]));
    let start = Instant::now();
    ringers[0].ring();
    executor.spin()?;
    Ok(start.elapsed())
}

fn stock_rate(stock: &Peer, idle: u16) -> Result<f64, CliError> {
    let output = stock.command().args([&idle.to_string(), STOCK_SECONDS]).output()?;
    if !output.status.success() {
        let reason = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        return Err(CliError::failed(format!("the program of stock ROS 2 failed: {reason}")));
    }
    let line = String::from_utf8_lossy(&output.stdout);
    let value: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
    let rate = value["events_per_second"].as_f64();
    rate.ok_or_else(|| CliError::failed(format!("the program of stock ROS 2 said {line:?}")))
}

fn median(rates: &mut [f64]) -> Option<f64> {
    rates.sort_unstable_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied()
}

/// How far the rates are from each other, in percent of the highest.
fn spread_percent(rows: &[Row]) -> f64 {
    let rates = || rows.iter().map(|row| row.events_per_second);
    let (least, most) = (rates().fold(f64::INFINITY, f64::min), rates().fold(0.0, f64::max));
    if most > 0.0 { (most - least) * 100.0 / most } else { 0.0 }
}

fn print(rows: &[Row]) -> Result<(), CliError> {
    let mut output = std::io::stdout().lock();
    writeln!(
        output,
        "Events per second of one core, each a ring and an empty callback, among idle entities"
    )?;
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    let with_stock = rows.iter().any(|row| row.stock.is_some());
    let mut header = vec!["idle", "events/s", "an event"];
    if with_stock {
        header.extend(["rcl events/s", "an event", "Feros / rcl"]);
    }
    let columns = header.len();
    table.set_header(header);
    let nanos = |rate: f64| format!("{:.0} ns", 1e9 / rate.max(1e-3));
    for Row { idle, events_per_second, stock } in rows {
        let mut cells =
            vec![idle.to_string(), format!("{events_per_second:.0}"), nanos(*events_per_second)];
        if let Some(stock) = stock {
            cells.extend([
                format!("{stock:.0}"),
                nanos(*stock),
                format!("{:.1}", events_per_second / stock),
            ]);
        }
        table.add_row(cells);
    }
    for column in 0..columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    writeln!(output, "{table}")?;
    Ok(writeln!(output, "The slowest row is {:.1} % below the fastest.", spread_percent(rows))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many as were asked for are executed, whatever is idle beside: a lost one would hang.
    #[test]
    fn events_can_be_measured() {
        for idle in [0, 100] {
            assert!(events_take(idle, 1_000).unwrap_or_default() > Duration::ZERO);
        }
    }

    #[test]
    fn the_middle_turn_counts() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut []), None);
    }

    #[test]
    fn spread_is_between_the_extremes() {
        let row = |events_per_second| Row { idle: 0, events_per_second, stock: None };
        assert!((spread_percent(&[row(90.0), row(100.0), row(95.0)]) - 10.0).abs() < 1e-9);
        assert!(spread_percent(&[]).abs() < 1e-9);
    }
}

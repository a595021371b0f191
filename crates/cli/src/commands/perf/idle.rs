//! `feros perf idle`: what a node costs that does nothing. It is looked at from outside, which
//! costs it nothing.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::{Command, ExitCode};
use std::time::{Duration, Instant};

use comfy_table::{CellAlignment, Table, presets};
use feros::{Context, Executor};
use serde_json::json;

use super::family::{Family, Happening};
use super::protocol::{Event, listen};
use super::usage::{Activity, Process, percent};
use crate::error::CliError;

/// How long the process of the node may take to start.
const START_LIMIT: Duration = Duration::from_secs(60);

/// What the verb takes.
#[derive(clap::Args, Clone, Debug)]
pub(super) struct Options {
    /// How long the node is looked at
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,

    /// How long it may come to rest before: what it says when it appears is not idleness
    #[arg(long, value_name = "SECONDS", default_value_t = 3, value_parser = clap::value_parser!(u64).range(0..=3600))]
    settle: u64,

    /// Print one JSON object instead of a table
    #[arg(long)]
    json: bool,

    /// This is the process of the node; set by the process that looks at it.
    #[arg(long, hide = true)]
    node: bool,
}

/// A node at rest.
#[derive(Debug, Clone, PartialEq)]
struct Idleness {
    seconds: f64,
    pss_bytes: Option<u64>,
    /// What each thread did meanwhile, by id.
    threads: BTreeMap<u32, Activity>,
}

pub(super) fn run(options: &Options) -> Result<ExitCode, CliError> {
    if options.node {
        return idle();
    }
    let idleness = watch(options)?;
    if options.json {
        writeln!(std::io::stdout().lock(), "{}", idleness.to_json())?;
    } else {
        idleness.print()?;
    }
    Ok(ExitCode::SUCCESS)
}

/// The node: as a user makes it, on an executor.
fn idle() -> Result<ExitCode, CliError> {
    let (context, _) = Context::from_args(std::iter::empty())?;
    let node = context.create_node("feros_perf_idle")?;
    listen(&context, drop)?;
    let executor = Executor::new();
    executor.add_node(&node)?;
    Event::Ready.tell()?;
    executor.spin()?;
    Ok(ExitCode::SUCCESS)
}

fn watch(options: &Options) -> Result<Idleness, CliError> {
    let program = std::env::current_exe()
        .map_err(|error| CliError::failed(format!("this program cannot find itself: {error}")))?;
    let mut family = Family::new()?;
    let child = family.start("node", Command::new(program).args(["perf", "idle", "--node"]))?;
    match family.next(Instant::now() + START_LIMIT) {
        Happening::Line(..) => {}
        Happening::Interrupted => return Err(CliError::Interrupted),
        _ => return Err(CliError::failed("the node did not start; what it said stands above")),
    }
    rest(&family, Duration::from_secs(options.settle))?;
    let process = Process::of(family.process_id(child));
    let (before, began) = (process.threads(), Instant::now());
    rest(&family, Duration::from_secs(options.seconds))?;
    let (after, seconds) = (process.threads(), began.elapsed().as_secs_f64());
    Ok(Idleness { seconds, pss_bytes: process.pss_bytes(), threads: since(&before, after) })
}

fn rest(family: &Family, duration: Duration) -> Result<(), CliError> {
    match family.next(Instant::now() + duration) {
        Happening::Timeout => Ok(()),
        Happening::Interrupted => Err(CliError::Interrupted),
        _ => Err(CliError::failed("the node ended by itself; what it said stands above")),
    }
}

/// What threads did between two looks; one that is new did all of it meanwhile.
fn since(
    before: &BTreeMap<u32, Activity>,
    mut after: BTreeMap<u32, Activity>,
) -> BTreeMap<u32, Activity> {
    for (id, thread) in &mut after {
        if let Some(before) = before.get(id) {
            thread.voluntary = thread.voluntary.saturating_sub(before.voluntary);
            thread.involuntary = thread.involuntary.saturating_sub(before.involuntary);
            thread.cpu_nanos = thread.cpu_nanos.saturating_sub(before.cpu_nanos);
        }
    }
    after
}

impl Idleness {
    fn per_second(&self, count: u64) -> f64 {
        (count as f64 * 100.0 / self.seconds).round() / 100.0
    }

    fn cpu_percent(&self) -> f64 {
        let nanos = self.threads.values().map(|thread| thread.cpu_nanos).sum();
        percent(nanos, (self.seconds * 1e9) as u64)
    }

    fn wakeups(&self) -> u64 {
        self.threads.values().map(|thread| thread.voluntary).sum()
    }

    fn to_json(&self) -> serde_json::Value {
        let threads: Vec<_> = self
            .threads
            .values()
            .map(|thread| {
                json!({
                    "name": thread.name,
                    "voluntary_switches": thread.voluntary,
                    "involuntary_switches": thread.involuntary,
                    "cpu_us": thread.cpu_nanos / 1000,
                })
            })
            .collect();
        json!({
            "seconds": (self.seconds * 1000.0).round() / 1000.0,
            "threads": self.threads.len(),
            "pss_bytes": self.pss_bytes,
            "cpu_percent": self.cpu_percent(),
            "wakeups_per_second": self.per_second(self.wakeups()),
            "by_thread": threads,
        })
    }

    fn print(&self) -> Result<(), CliError> {
        let mut output = std::io::stdout().lock();
        let memory = self.pss_bytes.map_or("unknown memory".to_owned(), |bytes| {
            format!("{:.1} MB of memory", bytes as f64 / 1e6)
        });
        writeln!(
            output,
            "An idle node, looked at for {:.0} s: {} threads, {memory}, {:.2} % of a processor, {} wake-ups a second",
            self.seconds,
            self.threads.len(),
            self.cpu_percent(),
            self.per_second(self.wakeups()),
        )?;
        let mut table = Table::new();
        table.load_preset(presets::NOTHING);
        table.set_header(["thread", "wake-ups", "a second", "interruptions", "CPU time"]);
        for thread in self.threads.values() {
            table.add_row([
                thread.name.clone(),
                thread.voluntary.to_string(),
                format!("{:.2}", self.per_second(thread.voluntary)),
                thread.involuntary.to_string(),
                format!("{} us", thread.cpu_nanos / 1000),
            ]);
        }
        for column in table.column_iter_mut().skip(1) {
            column.set_cell_alignment(CellAlignment::Right);
        }
        Ok(writeln!(output, "{table}")?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(name: &str, voluntary: u64, cpu_nanos: u64) -> Activity {
        Activity { name: name.into(), voluntary, involuntary: 1, cpu_nanos }
    }

    #[test]
    fn only_what_happened_meanwhile_counts() {
        let before =
            BTreeMap::from([(1, thread("main", 100, 5_000_000)), (2, thread("gone", 7, 0))]);
        let after =
            BTreeMap::from([(1, thread("main", 103, 6_000_000)), (3, thread("new", 4, 1_000_000))]);
        let idleness = Idleness { seconds: 2.0, pss_bytes: None, threads: since(&before, after) };
        assert_eq!(idleness.wakeups(), 7);
        let json = idleness.to_json();
        assert_eq!(
            (json["wakeups_per_second"].as_f64(), json["cpu_percent"].as_f64()),
            (Some(3.5), Some(0.1))
        );
        assert_eq!(json["by_thread"][0]["voluntary_switches"], 3);
        assert_eq!(json["by_thread"][1]["name"], "new");
        assert_eq!((json["threads"].as_u64(), json["pss_bytes"].is_null()), (Some(2), true));
    }
}

//! `feros lab latency` and similar commands, which measure a scenario of the repository and print a
//! table.

use std::path::PathBuf;

use feros_lab::machine::Machine;
use feros_lab::plan::Plan;
use feros_lab::report::{Results, Summary, summaries};
use feros_lab::scenario::ScenarioFile;

use super::goals;
use super::places::Places;
use super::report::warn;
use super::runner::Execution;
use crate::error::CliError;
use crate::output;

/// The settings that differ from the scenario's.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Settings that differ from the scenario's, in its words: sizes=256,64K,1M count=500
    /// systems=feros:network,rcl placements=intra qos=best_effort (lab/scenarios/README.md)
    #[arg(value_name = "KEY=VALUE")]
    settings: Vec<String>,
    #[command(flatten)]
    places: Places,
    /// Keep the results in this folder, as `feros lab run` does
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object per row instead of a table
    #[arg(long)]
    json: bool,
}

/// Measures the scenarios with these names.
pub(crate) fn run(names: &[&str], args: &Args) -> Result<(), CliError> {
    let peers = args.places.peers()?;
    let known = |name: &str| peers.system(name).map(|_| ());
    let mut scenarios = Vec::new();
    for name in names {
        let path = args.places.scenarios.join(format!("{name}.toml"));
        let file = ScenarioFile::read(&path).map_err(CliError::failed)?;
        let scenario = file.resolve(None, &args.settings, &known).map_err(CliError::usage)?;
        scenarios.extend(scenario);
    }
    let machine = Machine::explore();
    let plan = Plan::new(names[0], scenarios, &peers, &machine);
    if let Some(reason) = plan.nothing_possible() {
        return Err(CliError::usage(reason));
    }
    let scratch = tempfile::tempdir()?;
    let out = args.out.clone().unwrap_or_else(|| scratch.path().join("run"));
    let run = Execution {
        plan: &plan,
        peers: &peers,
        machine: &machine,
        out: &out,
        command: format!("feros lab {} {}", names[0], args.settings.join(" ")),
    };
    run.execute()?;
    let results = Results::read(&out).map_err(CliError::failed)?;
    warn(&results.notices);
    let mut failed = 0;
    for summary in summaries(&results) {
        print(&summary, args.json)?;
        failed += summary.failed;
    }
    if !args.json {
        goals::print(&results)?;
    }
    if failed > 0 { Err(CliError::Ended(1)) } else { Ok(()) }
}

fn print(summary: &Summary, json: bool) -> Result<(), CliError> {
    if json {
        for object in &summary.objects {
            output::print(&format!("{object}\n"))?;
        }
        return Ok(());
    }
    output::print_lines([&summary.title])?;
    let heading: Vec<&str> = summary.heading.iter().map(String::as_str).collect();
    output::print_table(&heading, summary.rows.clone())?;
    output::print_lines(&summary.remarks)
}

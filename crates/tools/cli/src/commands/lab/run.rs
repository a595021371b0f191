//! `feros lab run`: measures a grid or a scenario, and continues an interrupted run.

use std::path::{Path, PathBuf};

use feros_lab::machine::Machine;
use feros_lab::record::Run;

use super::plan::count;
use super::runner::Execution;
use super::target::Target;
use crate::error::CliError;
use crate::output;

/// The limit on the bytes of `run.json`.
const MOST_BYTES: u64 = 64 << 20;

/// The target to measure, and the folder for results.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    target: Target,
    /// The folder of results; an unfinished run in it is continued [default: feros-lab-GRID]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<(), CliError> {
    let peers = args.target.places.peers()?;
    let machine = Machine::explore();
    let plan = args.target.plan(&peers, &machine)?;
    let out = args.out.clone().unwrap_or_else(|| unfinished(&args.target.folder_name()));
    let run = Execution {
        plan: &plan,
        peers: &peers,
        machine: &machine,
        out: &out,
        command: args.target.command(),
    };
    let summary = run.execute()?;
    output::print(&format!(
        "{} in {}: {} measured now, {} failed, {} not possible here\n",
        count(summary.cells),
        out.display(),
        summary.complete,
        summary.failed,
        summary.skipped
    ))?;
    if summary.unexpected_transport > 0 {
        let text =
            "took another transport than the one under test, and are left out of the statistics";
        output::print(&format!("{} of them {text}\n", count(summary.unexpected_transport)))?;
    }
    output::print(&format!("to see the results: feros lab report {}\n", out.display()))
}

/// The first folder of this name that does not hold a finished run.
fn unfinished(name: &str) -> PathBuf {
    let is_finished = |folder: &Path| {
        let text = feros_files::read_to_string(&folder.join("run.json"), MOST_BYTES);
        let run = serde_json::from_str::<Run>(&text.unwrap_or_default());
        run.is_ok_and(|run| run.ended_unix_seconds.is_some())
    };
    let folders = (1..).map(|number: u32| match number {
        1 => PathBuf::from(name),
        _ => PathBuf::from(format!("{name}-{number}")),
    });
    folders.into_iter().find(|folder| !is_finished(folder)).unwrap_or_else(|| name.into())
}

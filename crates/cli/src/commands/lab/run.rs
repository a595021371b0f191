//! `feros lab run`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use feros_lab::machine::Machine;
use feros_lab::peer_builder::{PeerBuildError, PeerBuilder};
use feros_lab::record::{Record, Run, Status};
use feros_lab::run::{Observer, Options, RunError};
use indicatif::{ProgressBar, ProgressStyle};

use super::plan::{count, duration};
use super::target::Target;
use crate::error::CliError;
use crate::{notices, output};

/// What is measured, and where results go.
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    target: Target,
    /// The folder of results; an unfinished run in it is continued [default: feros-lab-GRID]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, CliError> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted))?;
    }
    let peers = args.target.places.peers()?;
    let machine = Machine::explore();
    let plan = args.target.plan(&peers, &machine)?;
    let out = args.out.clone().unwrap_or_else(|| unfinished(&args.target.folder_name()));
    let options = Options {
        out: &out,
        command: args.target.command(),
        machine: &machine,
        peers: &peers,
        interrupted: &interrupted,
    };
    let mut bar = Bar::new();
    let result = feros_lab::run::run(&plan, &options, &mut PeerBuilder::new(), &mut bar);
    bar.bar.finish_and_clear();
    let summary = match result {
        Ok(summary) => summary,
        Err(
            error @ (RunError::Interrupted { .. }
            | RunError::PeerBuilder(PeerBuildError::Interrupted(_))),
        ) => {
            notices::note(error);
            return Err(CliError::Interrupted);
        }
        Err(error) => return Err(CliError::failed(error)),
    };
    output::print(&format!(
        "{} in {}: {} measured now, {} failed, {} cannot be done here\n",
        count(summary.cells),
        out.display(),
        summary.complete,
        summary.failed,
        summary.skipped
    ))?;
    output::print(&format!("see them: feros lab report {}\n", out.display()))?;
    Ok(ExitCode::SUCCESS)
}

/// The first folder of this name that does not hold a finished run.
fn unfinished(name: &str) -> PathBuf {
    let is_finished = |folder: &Path| {
        let text = std::fs::read_to_string(folder.join("run.json")).unwrap_or_default();
        serde_json::from_str::<Run>(&text).is_ok_and(|run| run.ended_unix_seconds.is_some())
    };
    let folders = (1..).map(|number: u32| match number {
        1 => PathBuf::from(name),
        _ => PathBuf::from(format!("{name}-{number}")),
    });
    folders.into_iter().find(|folder| !is_finished(folder)).unwrap_or_else(|| name.into())
}

/// How far it is, on a terminal; on a pipe a line a cell.
struct Bar {
    bar: ProgressBar,
}

impl Bar {
    fn new() -> Self {
        let bar = ProgressBar::new(0);
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len}  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        Self { bar }
    }
}

impl Observer for Bar {
    fn note(&mut self, text: &str) {
        self.bar.suspend(|| notices::note(text));
    }

    fn begins(&mut self, done: usize, of: usize, label: &str, remaining: Duration) {
        self.bar.set_length(of as u64);
        self.bar.set_position(done as u64);
        self.bar.set_message(format!("{} left  {label}", duration(remaining)));
        if self.bar.is_hidden() {
            notices::note(format!("{}/{of} {label}, {} left", done + 1, duration(remaining)));
        }
    }

    fn ended(&mut self, record: &Record) {
        if let Status::Failed(reason) | Status::Hung(reason) = &record.status {
            let system = record.dimensions.get("system");
            let system = match system {
                Some(feros_lab::record::Value::Text(name)) => name.as_str(),
                _ => "",
            };
            self.note(&format!("{} {system}: {reason}", record.scenario));
        }
    }
}

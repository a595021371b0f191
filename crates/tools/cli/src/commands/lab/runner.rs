//! Runs a plan of the laboratory, and shows its progress.

use std::path::Path;
use std::time::Duration;

use feros_lab::machine::Machine;
use feros_lab::peer::Peers;
use feros_lab::peer_builder::{PeerBuildError, PeerBuilder};
use feros_lab::plan::Plan;
use feros_lab::record::{Record, Status};
use feros_lab::run::{Observer, Options, RunError, Summary};
use indicatif::{ProgressBar, ProgressStyle};

use super::plan::duration;
use crate::error::CliError;
use crate::{ending, notices};

/// A plan to run.
pub(super) struct Execution<'a> {
    pub(super) plan: &'a Plan,
    pub(super) peers: &'a Peers,
    pub(super) machine: &'a Machine,
    /// The folder of results.
    pub(super) out: &'a Path,
    /// The command that repeats the plan.
    pub(super) command: String,
}

impl Execution<'_> {
    /// Runs the plan; SIGINT, SIGTERM and SIGHUP end it.
    pub(super) fn execute(self) -> Result<Summary, CliError> {
        let (interrupted, _listening) = ending::flag(|| {});
        let options = Options {
            out: self.out,
            command: self.command,
            machine: self.machine,
            peers: self.peers,
            interrupted: &interrupted,
        };
        let mut bar = Bar::new();
        let result = feros_lab::run::run(self.plan, &options, &mut PeerBuilder::new(), &mut bar);
        bar.bar.finish_and_clear();
        result.map_err(|error| match error {
            RunError::Interrupted { .. } => {
                notices::note(error);
                CliError::Interrupted
            }
            RunError::PeerBuild(error) => not_built(error),
            error => CliError::failed(error),
        })
    }
}

/// Converts the error of a build that did not finish.
pub(super) fn not_built(error: PeerBuildError) -> CliError {
    match error {
        PeerBuildError::Interrupted(_) => {
            notices::note(error);
            CliError::Interrupted
        }
        error => CliError::failed(error),
    }
}

/// Shows the progress: as a bar on a terminal, as one line per cell on a pipe.
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

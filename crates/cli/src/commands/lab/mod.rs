//! `feros lab`: experiments on Feros and on its peers, side by side.

mod compare;
mod list;
mod places;
mod plan;
mod report;
mod run;
mod target;

use std::process::ExitCode;

use crate::error::CliError;

#[derive(clap::Subcommand)]
pub(crate) enum Command {
    /// What there is: scenarios, grids, systems and whether they are installed
    List(list::Args),
    /// What a grid or a scenario file would do here: cells, how long it takes, what is missing
    Plan(plan::Args),
    /// Measure a grid or a scenario file; given again, an interrupted run continues
    Run(run::Args),
    /// Show a run as a page that a browser opens, and a summary in Markdown
    Report(report::Args),
    /// Two runs side by side: what became better or worse, and where nobody can tell
    Compare(compare::Args),
}

pub(crate) fn run(command: Command) -> Result<ExitCode, CliError> {
    match command {
        Command::List(args) => list::run(&args),
        Command::Plan(args) => plan::run(&args),
        Command::Run(args) => run::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Compare(args) => compare::run(&args),
    }
}
